package results

import (
	"fmt"
	"io"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// LogWriter writes an HdrHistogram interval log, version 1.3, as HistogramLogWriter.java defines it and every port
// reads it: one line an interval and tag. Tags are <label>|<metric>. Values are microseconds; the column of the
// interval's maximum is in milliseconds, as the format has it (its usual ratio of 1,000,000 is for nanoseconds).
// Values beyond a histogram's range are not in the log.
//
// The writer of hdrhistogram-go is not used: its ratio cannot be set from outside, and its check lets a tag end with
// a comma.
type LogWriter struct{ w io.Writer }

// NewLogWriter writes the head. Times of intervals are offsets from start; the zero time stands for virtual time and
// writes 0.
func NewLogWriter(w io.Writer, start time.Time) (*LogWriter, error) {
	var epoch float64
	if start.IsZero() {
		start = time.Unix(0, 0)
	} else {
		epoch = float64(start.UnixMilli()) / 1000
	}
	_, err := fmt.Fprintf(w, "#[Histogram log format version 1.3]\n"+
		"#[StartTime: %.3f (seconds since epoch), %s]\n"+
		"#[BaseTime: %.3f (seconds since epoch)]\n"+
		"#[Values are microseconds, Interval_Max is milliseconds]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		epoch, start.UTC().Format(time.RFC3339), epoch)
	return &LogWriter{w: w}, err
}

// Interval writes one line: the histogram of what happened from start on, for length. A tag with a comma, a space or
// a line break would split the line and is refused, as are times the format has no sign for. The histogram may be
// reset or reused afterwards.
func (l *LogWriter) Interval(tag string, start, length time.Duration, h *Histogram) error {
	if tag == "" || strings.ContainsAny(tag, ", \r\n\t") {
		return fmt.Errorf("histogram log: tag %q: it must not be empty or contain comma, space or line break", tag)
	}
	if start < 0 || length < 0 {
		return fmt.Errorf("histogram log: tag %q: interval of %v at %v is before the start", tag, length, start)
	}
	payload, err := h.h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return fmt.Errorf("histogram log: tag %q: %w", tag, err)
	}
	_, err = fmt.Fprintf(l.w, "Tag=%s,%.3f,%.3f,%.3f,%s\n",
		tag, start.Seconds(), length.Seconds(), float64(h.MaxValue())/1000, payload)
	return err
}

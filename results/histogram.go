package results

import (
	"encoding/json"
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram is an HDR histogram with 3 significant digits. Durations are kept in microseconds, counts as they are.
// Histograms of one range merge exactly. A value beyond the range is counted in Overflow and invalidates this figure
// only. It is not safe for concurrent use.
type Histogram struct {
	h        *hdr.Histogram
	overflow int64
}

// DefaultRange is the least upper end of a histogram of durations.
const DefaultRange = 10 * time.Minute

// Range is the upper end of a trial's histograms: max(2 x acquire timeout, 2 x TTL, 10 min), so that nothing a
// session can do falls outside and all histograms of a run merge.
func Range(acquireTimeout, ttl time.Duration) time.Duration {
	return max(2*acquireTimeout, 2*ttl, DefaultRange)
}

// digits that a histogram tells apart, and leastReach of its range: what the library needs at least.
const (
	digits     = 3
	leastReach = 1000
)

// NewHistogram covers 1 us to upTo.
func NewHistogram(upTo time.Duration) *Histogram {
	return &Histogram{h: hdr.New(1, max(upTo, leastReach*time.Microsecond).Microseconds(), digits)}
}

// NewCounts covers plain numbers up to 10 million.
func NewCounts() *Histogram { return &Histogram{h: hdr.New(1, 10_000_000, digits)} }

// Record adds a duration; negative ones count as 0.
func (h *Histogram) Record(d time.Duration) { h.RecordN(max(d, 0).Microseconds(), 1) }

// RecordN adds a plain value n times.
func (h *Histogram) RecordN(v, n int64) {
	if h.h.RecordValues(v, n) != nil {
		h.overflow += n
	}
}

// Count of recorded values, overflow not included.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return h.h.TotalCount()
}

// Overflow is the number of values beyond the range.
func (h *Histogram) Overflow() int64 {
	if h == nil {
		return 0
	}
	return h.overflow
}

// Merge adds the counts of o, which may be nil. Where o reaches further, h does afterwards.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil {
		return
	}
	if reach := o.h.HighestTrackableValue(); reach > h.h.HighestTrackableValue() {
		h.h = reaching(reach, h.h)
	}
	h.overflow += o.overflow + h.h.Merge(o.h)
}

// reaching is a copy of d with another range. All histograms of the format have the same buckets as far as they reach.
func reaching(to int64, d *hdr.Histogram) *hdr.Histogram {
	wide := hdr.New(1, to, digits)
	wide.Merge(d)
	return wide
}

// Clone is a copy that shares nothing.
func (h *Histogram) Clone() *Histogram {
	if h == nil {
		return nil
	}
	return &Histogram{h: h.h.Clone(), overflow: h.overflow}
}

// Reset forgets everything.
func (h *Histogram) Reset() { h.h.Reset(); h.overflow = 0 }

// MinBeyond is the number of samples that must lie beyond a percentile for it to be shown.
const MinBeyond = 10

// Value is the quantile q (0 to 1) in the recorded unit; false where fewer than MinBeyond samples lie beyond it, or
// where values overflowed.
func (h *Histogram) Value(q float64) (int64, bool) {
	if h == nil || h.overflow > 0 || float64(h.h.TotalCount())*(1-q) < MinBeyond-1e-9 {
		return 0, false
	}
	return h.h.ValueAtQuantile(q * 100), true
}

// Quantile is Value of a histogram of durations, in milliseconds; nil where it must not be shown.
func (h *Histogram) Quantile(q float64) *float64 {
	v, ok := h.Value(q)
	if !ok {
		return nil
	}
	return Ptr(float64(v) / 1000)
}

// Mean in milliseconds; nil where nothing was recorded or values overflowed.
func (h *Histogram) Mean() *float64 {
	if h == nil || h.h.TotalCount() == 0 || h.overflow > 0 {
		return nil
	}
	return Ptr(h.h.Mean() / 1000)
}

// MeanValue is the mean in the recorded unit, 0 where nothing was recorded.
func (h *Histogram) MeanValue() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.h.Mean()
}

// Max in milliseconds; nil as Mean.
func (h *Histogram) Max() *float64 {
	if h == nil || h.h.TotalCount() == 0 || h.overflow > 0 {
		return nil
	}
	return Ptr(float64(h.h.Max()) / 1000)
}

// MaxValue is the largest value in the recorded unit.
func (h *Histogram) MaxValue() int64 {
	if h.Count() == 0 {
		return 0
	}
	return h.h.Max()
}

// Latency is the histogram as a row of a table.
func (h *Histogram) Latency() *Latency {
	if h.Count() == 0 && h.Overflow() == 0 {
		return nil
	}
	return &Latency{
		Count: h.Count(), Mean: h.Mean(), P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99),
		P999: h.Quantile(0.999), Max: h.Max(),
	}
}

// Bar is one filled bucket: values in (From, To], in the recorded unit.
type Bar struct{ From, To, Count int64 }

// Bars lists the filled buckets in ascending order.
func (h *Histogram) Bars() []Bar {
	if h == nil {
		return nil
	}
	var bars []Bar
	for _, b := range h.h.Distribution() {
		if b.Count > 0 {
			bars = append(bars, Bar{From: b.From, To: b.To, Count: b.Count})
		}
	}
	return bars
}

type histogramJSON struct {
	Count    int64  `json:"count"`
	Overflow int64  `json:"overflow"`
	HDR      string `json:"hdr_v2_compressed_base64"`
}

// MarshalJSON writes the standard compressed V2 encoding in base64, as every HdrHistogram port reads.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	b, err := h.h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode histogram: %w", err)
	}
	return json.Marshal(histogramJSON{Count: h.Count(), Overflow: h.overflow, HDR: string(b)})
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses other precision and a count that does not agree with the
// buckets. The range is cut to what is filled: a run has thousands of histograms, most of which end far below it.
func (h *Histogram) UnmarshalJSON(b []byte) (err error) {
	var j histogramJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	defer func() { // the decoder of the library indexes what it was given
		if r := recover(); r != nil {
			err = fmt.Errorf("decode histogram: %v", r)
		}
	}()
	d, err := hdr.Decode([]byte(j.HDR))
	if err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	if d.LowestTrackableValue() != 1 || d.SignificantFigures() != digits {
		return fmt.Errorf("decode histogram: %d digits from %d, want %d from 1", d.SignificantFigures(), d.LowestTrackableValue(), digits)
	}
	if d.TotalCount() != j.Count || j.Overflow < 0 {
		return fmt.Errorf("decode histogram: count %d, but %d in its buckets", j.Count, d.TotalCount())
	}
	h.h, h.overflow = reaching(max(d.Max(), leastReach), d), j.Overflow
	return nil
}

// Ptr makes an optional value.
func Ptr[T any](v T) *T { return &v }

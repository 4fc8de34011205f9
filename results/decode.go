package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

func decodeRun(b []byte) (Run, error) {
	r, err := strictly[Run](b, RunSchema)
	if err == nil && !slices.Contains([]Status{Complete, Interrupted, RunFailed}, r.Status) {
		err = fmt.Errorf("status %q is not known", r.Status)
	}
	return r, err
}

func decodeSummary(b []byte) (Summary, error) {
	s, err := strictly[Summary](b, SummarySchema)
	for i := 0; err == nil && i < len(s.Points); i++ {
		err = in(fmt.Sprintf("point %d", i+1), s.Points[i].check())
	}
	return s, err
}

func decodeTrial(b []byte) (Trial, error) {
	t, err := strictly[Trial](b, TrialSchema)
	if err == nil {
		err = t.check()
	}
	return t, err
}

// strictly reads one JSON value of the given schema and nothing beside it. The schema is looked at first: a file of
// a later version must be called that, not be blamed for its first unknown field.
func strictly[T any](b []byte, schema string) (T, error) {
	var v T
	var head struct{ Schema string }
	if err := json.Unmarshal(b, &head); err != nil {
		return v, err
	}
	if head.Schema != schema {
		return v, fmt.Errorf("schema %q is not known: this version reads %q", head.Schema, schema)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, err
	}
	if _, err := d.Token(); err != io.EOF {
		return v, errors.New("there is more after the JSON value")
	}
	return v, nil
}

// check finds values that no writer of this schema produces and that tables and charts rely on.
func (t Trial) check() error {
	switch {
	case t.Trial < 1 || t.Order < 1:
		return fmt.Errorf("trial %d, order %d: both count from 1", t.Trial, t.Order)
	case t.Point == "":
		return errors.New("point has no name")
	case !known(t.State):
		return fmt.Errorf("state %q is not known", t.State)
	case t.Verdict != nil && !slices.Contains(Verdicts, *t.Verdict):
		return fmt.Errorf("verdict %q is not known", *t.Verdict)
	case t.Attempts.All < 0:
		return errors.New("attempts are negative")
	case t.MeasureS < 0 || t.Throughput < 0 || t.Redis.WindowSeconds < 0:
		return errors.New("a length or rate is negative")
	}
	for n, sessions := range t.Attempts.Histogram {
		if n < 1 || sessions < 0 {
			return fmt.Errorf("attempts.histogram: %d sessions with %d attempts", sessions, n)
		}
	}
	return errors.Join(cmp.Or(t.Counts.check(), t.Counts.checkSums()), t.checkHistograms())
}

func (t Trial) checkHistograms() error {
	for name := range t.Histograms {
		if !slices.Contains(Metrics, name) {
			return fmt.Errorf("histogram %q is not known", name)
		}
	}
	return nil
}

func (p Point) check() error {
	switch {
	case p.Name == "":
		return errors.New("it has no name")
	case !known(p.State):
		return fmt.Errorf("state %q is not known", p.State)
	case p.Verdict != nil && !slices.Contains(Verdicts, *p.Verdict):
		return fmt.Errorf("verdict %q is not known", *p.Verdict)
	case p.Expected != nil && !slices.Contains(Verdicts, *p.Expected):
		return fmt.Errorf("verdict %q is not known", *p.Expected)
	}
	return p.Counts.check()
}

func (c Counts) check() error {
	for _, n := range c.Named() {
		if n.Value < 0 {
			return fmt.Errorf("count %s is %d", n.Name, n.Value)
		}
	}
	return nil
}

// checkSums: each session of a trial ends in one outcome, and only who acquired releases.
func (c Counts) checkSums() error {
	if ended := c.Acquired + c.Rejected + c.GaveUp + c.Timeout + c.Error + c.Dropped; ended != c.Scheduled {
		return fmt.Errorf("counts: the outcomes add up to %d sessions, and %d were scheduled", ended, c.Scheduled)
	}
	if released := c.Released + c.Expired + c.Stolen + c.ReleaseUnknown; released > c.Acquired {
		return fmt.Errorf("counts: %d releases of %d acquired sessions", released, c.Acquired)
	}
	return nil
}

func known(s State) bool { return slices.Contains([]State{Steady, Saturated, Unsteady}, s) }

package results

import (
	"encoding/json"
	"testing"
	"time"
)

func TestHistogramSurvivesJSON(t *testing.T) {
	h := NewHistogram(DefaultRange)
	for i := range 1000 {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	h.Record(20 * time.Minute)
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Histogram
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back.Count() != 1000 || back.Overflow() != 1 {
		t.Fatalf("count %d, overflow %d; want 1000 and 1", back.Count(), back.Overflow())
	}
	if back.Quantile(0.5) != nil {
		t.Fatal("a histogram that overflowed must not show a percentile")
	}
}

func TestPercentileNeedsTenSamplesBeyond(t *testing.T) {
	h := NewHistogram(DefaultRange)
	for range 999 {
		h.Record(5 * time.Millisecond)
	}
	if h.Quantile(0.99) != nil {
		t.Fatal("p99 of 999 samples is shown")
	}
	h.Record(5 * time.Millisecond)
	if q := h.Quantile(0.99); q == nil || *q < 4.99 || *q > 5.01 {
		t.Fatalf("p99 of 1000 samples = %v, want 5 ms", q)
	}
}

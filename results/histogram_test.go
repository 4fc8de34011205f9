package results

import (
	"encoding/json"
	"slices"
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

func TestHistogramsOfAnyRangeMergeExactly(t *testing.T) {
	narrow, wide := NewHistogram(time.Millisecond), NewHistogram(DefaultRange)
	for i := range 500 {
		narrow.Record(time.Duration(i) * time.Microsecond)
		wide.Record(time.Duration(i) * time.Second)
	}
	a, b := narrow.Clone(), wide.Clone()
	a.Merge(wide)
	b.Merge(narrow)
	if a.Count() != 1000 || a.Overflow() != 0 || !slices.Equal(a.Bars(), b.Bars()) {
		t.Fatalf("%d values and %d lost in one order, %d and %d in the other", a.Count(), a.Overflow(), b.Count(), b.Overflow())
	}
}

func TestAHistogramThatWasReadHasItsBuckets(t *testing.T) {
	for name, h := range map[string]*Histogram{"empty": NewHistogram(DefaultRange), "counts": NewCounts(), "to the end": NewHistogram(DefaultRange)} {
		if name != "empty" {
			h.RecordN(0, 3)
			h.RecordN(9_999_000, 2)
		}
		if name == "to the end" {
			h.Record(DefaultRange)
		}
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(h.Bars(), back.Bars()) || back.MaxValue() != h.MaxValue() || back.Count() != h.Count() {
			t.Errorf("%s: %v came back as %v", name, h.Bars(), back.Bars())
		}
	}
}

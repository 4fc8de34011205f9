package main

import (
	"math"
	"testing"
)

func TestACgroupQuotaIsReadAsCores(t *testing.T) {
	for _, c := range []struct {
		quota, period string
		want          float64
	}{
		{"150000", "100000", 1.5}, {"max", "100000", math.Inf(1)}, {"-1", "100000", math.Inf(1)}, {"", "", math.Inf(1)}, {"5000", "0", math.Inf(1)},
	} {
		if got := cores(c.quota, c.period); got != c.want {
			t.Errorf("quota %q, period %q: %v cores, want %v", c.quota, c.period, got, c.want)
		}
	}
}

func TestDiskSpaceIsThatOfTheNearestFolderThatExists(t *testing.T) {
	if free, known := freeDisk(t.TempDir() + "/not/yet/made"); !known || free == 0 {
		t.Errorf("%d bytes, known %v", free, known)
	}
}

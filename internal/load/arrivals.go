package load

import (
	"fmt"
	"iter"
	"math"
	"time"
)

// Open is an offered load: arrivals that do not wait for earlier sessions. Its schedule covers warm-up and
// measurement; rates are per second.
type Open struct {
	Rate    float64 // where there are no Stages
	Stages  []Stage // one after another from the end of the warm-up; the last rate stays until the end of Measure
	Poisson bool    // independent arrivals; else they are evenly spaced
	Bursts  Bursts  // on top
	Warmup  time.Duration
	Measure time.Duration
	Seed    uint64
}

// Stage changes the rate linearly from one value to another.
type Stage struct {
	From, To float64
	For      time.Duration
}

// Bursts are Size more arrivals at 0, Every, 2 Every and so on from the start of the schedule, so that a warm-up that
// lasts sees one too. Those of one burst are spread evenly over Within, the first at its beginning. The zero value
// is none.
type Bursts struct {
	Every  time.Duration
	Size   int
	Within time.Duration // at most Every
}

// Check says what of o makes no sense. Arrivals expects a load that passes.
func (o Open) Check() error {
	for _, s := range o.profile() {
		if !(s.from >= 0 && s.to >= 0) || math.IsInf(s.from+s.to, 0) || s.length < 0 {
			return fmt.Errorf("open load: rates and durations must be zero or more, got %v/s to %v/s for %v", s.from, s.to, s.length)
		}
	}
	b := o.Bursts
	if b.Size < 0 || b.Size > 0 && (b.Every <= 0 || b.Within < 0 || b.Within > b.Every) {
		return fmt.Errorf("bursts: need every > 0 and 0 <= within <= every, got %d every %v within %v", b.Size, b.Every, b.Within)
	}
	return nil
}

// Arrivals is the schedule: offsets from its start, in order, all in [0, Warmup + Measure). The warm-up runs at the
// rate at which the first stage starts. Evenly spaced arrivals start with one at 0. The sequence can be ranged over
// any number of times and is the same each time.
func Arrivals(o Open) iter.Seq[time.Duration] {
	if o.Bursts.Size > 0 {
		return Merge(o.steady(), o.bursts())
	}
	return o.steady()
}

// steady inverts the cumulative rate: an arrival is due whenever the area under the rate has grown by one more gap.
// Gaps of 1 make evenly spaced arrivals, exponential ones of mean 1 make a Poisson process of that rate. Source:
// E. Çinlar, "Introduction to Stochastic Processes", 1975, section 4.7.
func (o Open) steady() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		gap, end := o.gaps(), o.end()
		area := gap() // from the start of the segment to the next arrival
		for _, s := range o.profile() {
			all := s.area()
			for ; area < all; area += gap() {
				if at := s.start + s.reaches(area); at >= end || !yield(at) {
					return
				}
			}
			area -= all
		}
	}
}

// gaps opens a new sequence of areas between arrivals.
func (o Open) gaps() func() float64 {
	if o.Poisson {
		return Stream(o.Seed, "arrivals", 0).ExpFloat64
	}
	next := 0.0
	return func() float64 {
		gap := next
		next = 1
		return gap
	}
}

func (o Open) end() time.Duration { return o.Warmup + o.Measure }

// segment is a stretch of the schedule in which the rate changes linearly.
type segment struct {
	from, to      float64
	start, length time.Duration
}

// profile is the rate over the whole schedule, and perhaps beyond its end.
func (o Open) profile() []segment {
	stages := o.Stages
	if len(stages) == 0 {
		stages = []Stage{{o.Rate, o.Rate, o.Measure}}
	}
	first, last := stages[0].From, stages[len(stages)-1].To
	all := []segment{{first, first, 0, o.Warmup}}
	at := o.Warmup
	for _, s := range stages {
		all = append(all, segment{s.From, s.To, at, s.For})
		at += s.For
	}
	if rest := o.end() - at; rest > 0 {
		all = append(all, segment{last, last, at, rest})
	}
	return all
}

// area under the rate, which is the expected number of arrivals.
func (s segment) area() float64 { return (s.from + s.to) / 2 * s.length.Seconds() }

// reaches is how long after its start the area under the rate is x, for x below area. With a and b the rates and L
// the length, x = a t + (b-a) t^2 / 2L; of the two ways to write the root this one does not cancel.
func (s segment) reaches(x float64) time.Duration {
	if x == 0 {
		return 0 // where the rate begins at 0 as well, the root would be 0/0
	}
	slope := (s.to - s.from) / s.length.Seconds()
	root := math.Sqrt(max(0, s.from*s.from+2*slope*x))
	return min(s.length, nearest(2*x/(s.from+root)*float64(time.Second)))
}

// bursts is the schedule of the bursts alone.
func (o Open) bursts() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		stride := float64(o.Bursts.Within) / float64(o.Bursts.Size)
		for begin := time.Duration(0); begin < o.end(); begin += o.Bursts.Every {
			for i := range o.Bursts.Size {
				if at := begin + time.Duration(float64(i)*stride); at >= o.end() || !yield(at) {
					return
				}
			}
		}
	}
}

// Merge is the ordered union of two ordered sequences. It costs about as much as a if b is the sparser one.
func Merge(a, b iter.Seq[time.Duration]) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		next, stop := iter.Pull(b)
		defer stop()
		other, more := next()
		for t := range a {
			for ; more && other < t; other, more = next() {
				if !yield(other) {
					return
				}
			}
			if !yield(t) {
				return
			}
		}
		for ; more; other, more = next() {
			if !yield(other) {
				return
			}
		}
	}
}

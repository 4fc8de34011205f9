package load

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Entry is one kind of distribution: what a scenario may name, and how it is built.
type Entry struct {
	Name, Doc string
	Bare      string // the option that a bare value sets, as in `exponential: 5ms`
	Options   []Option
	New       func(args map[string]time.Duration, parts []Part) (Dist, error)
}

// Option describes one parameter of a distribution.
type Option struct {
	Name, Doc string
	Kind      string // duration, mixture (a list of shares and distributions)
	Required  bool
	Min, Max  float64 // nanoseconds, inclusive; both 0: the constructor's own bounds
}

// longest bounds what a scenario may ask for: a day is longer than any run.
var longest = float64(24 * time.Hour)

// Distributions lists all kinds, in the order in which they are explained. A bare duration, as `hold: 5ms`, is a
// constant.
func Distributions() []Entry {
	return []Entry{
		{
			Name: "constant", Bare: "value",
			Doc:     "always the same",
			Options: []Option{{Name: "value", Doc: "the duration", Kind: "duration", Required: true, Max: longest}},
			New:     func(a map[string]time.Duration, _ []Part) (Dist, error) { return Constant(a["value"]) },
		},
		{
			Name: "uniform",
			Doc:  "spread evenly between min and max",
			Options: []Option{
				{Name: "min", Doc: "the shortest", Kind: "duration", Required: true, Max: longest},
				{Name: "max", Doc: "the longest", Kind: "duration", Required: true, Max: longest},
			},
			New: func(a map[string]time.Duration, _ []Part) (Dist, error) { return Uniform(a["min"], a["max"]) },
		},
		{
			Name: "exponential", Bare: "mean",
			Doc:     "many short, few long, without memory",
			Options: []Option{{Name: "mean", Doc: "the mean", Kind: "duration", Required: true, Min: 1, Max: longest}},
			New:     func(a map[string]time.Duration, _ []Part) (Dist, error) { return Exponential(a["mean"]) },
		},
		{
			Name: "lognormal",
			Doc:  "the usual shape of service times: a bulk and a long tail; by p50 and p99, or by mean and p99",
			Options: []Option{
				{Name: "p50", Doc: "the median", Kind: "duration", Min: 1, Max: longest},
				{Name: "mean", Doc: "the mean, instead of p50; p99 is then at most 14.97 times the mean", Kind: "duration", Min: 1, Max: longest},
				{Name: "p99", Doc: "the 99th percentile", Kind: "duration", Required: true, Min: 1, Max: longest},
			},
			New: func(a map[string]time.Duration, _ []Part) (Dist, error) { return lognormalOf(a) },
		},
		{
			Name: "pareto",
			Doc:  "a tail so long that a single value can outweigh thousands; p99 must be below 100 x min",
			Options: []Option{
				{Name: "min", Doc: "the shortest", Kind: "duration", Required: true, Min: 1, Max: longest},
				{Name: "p99", Doc: "the 99th percentile", Kind: "duration", Required: true, Min: 1, Max: longest},
			},
			New: func(a map[string]time.Duration, _ []Part) (Dist, error) { return Pareto(a["min"], a["p99"]) },
		},
		{
			Name: "mixture", Bare: "parts",
			Doc:     "a share of the values from each of several distributions",
			Options: []Option{{Name: "parts", Doc: "shares, adding up to 100 %, and their distributions", Kind: "mixture", Required: true}},
			New:     func(_ map[string]time.Duration, parts []Part) (Dist, error) { return Mixture(parts...) },
		},
	}
}

func lognormalOf(args map[string]time.Duration) (Dist, error) {
	p50, byMedian := args["p50"]
	mean, byMean := args["mean"]
	if byMedian == byMean {
		return nil, errors.New("lognormal: need p99 and either p50 or mean")
	}
	if byMedian {
		return LognormalP50(p50, args["p99"])
	}
	return LognormalMean(mean, args["p99"])
}

// NewDist builds a distribution by the name of its kind. Only a mixture has parts.
func NewDist(kind string, args map[string]time.Duration, parts []Part) (Dist, error) {
	all := Distributions()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == kind })
	if i < 0 {
		return nil, fmt.Errorf("there is no distribution %q", kind)
	}
	if err := all[i].check(args, parts); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return all[i].New(args, parts)
}

// check refuses arguments that are missing or that the kind does not have.
func (e Entry) check(args map[string]time.Duration, parts []Part) error {
	if e.Bare != "parts" && len(parts) > 0 {
		return errors.New("only a mixture has parts")
	}
	for name := range args {
		if !slices.ContainsFunc(e.Options, func(o Option) bool { return o.Name == name && o.Kind == "duration" }) {
			return fmt.Errorf("there is no parameter %q", name)
		}
	}
	for _, o := range e.Options {
		if _, given := args[o.Name]; o.Required && o.Kind == "duration" && !given {
			return fmt.Errorf("parameter %q is missing", o.Name)
		}
	}
	return nil
}

package retry

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Entry is one policy of the catalogue: what a scenario may name, and how it is built.
type Entry struct {
	Name, Doc   string
	Mode        Mode
	Bare        string // the option that a bare value sets, as in `fixed: 10ms`; "" where there is none
	Options     []Option
	MaxAttempts int // the limit that belongs to a preset; 0: none
	// New builds the policy, without limits, from arguments that are time.Duration, int or []Stage.
	New func(args map[string]any) (Policy, error)
}

// Option describes one argument of a policy.
type Option struct {
	Name, Doc string
	Kind      string // duration (time.Duration), int (int), stages ([]Stage)
	Required  bool
	Default   string  // as written in a scenario
	Min, Max  float64 // inclusive bounds: nanoseconds for durations, plain otherwise; both 0: unbounded
}

// An hour is longer than any wait for a lock makes sense; a back-off that starts below a microsecond would keep the
// server as busy as no wait at all for its first attempts.
var (
	shortest = float64(time.Microsecond)
	longest  = float64(time.Hour)
)

// Catalogue lists all policies, in the order in which they are explained.
func Catalogue() []Entry {
	return []Entry{
		{
			Name: "fail-fast", Mode: Poll,
			Doc: "one attempt; a held lock is a rejection",
			New: func(map[string]any) (Policy, error) { return FailFast(), nil },
		},
		{
			Name: "fixed", Mode: Poll, Bare: "wait",
			Doc:     "the same wait before every attempt; waiters stay in step",
			Options: []Option{{Name: "wait", Doc: "wait between attempts", Kind: "duration", Required: true, Min: shortest, Max: longest}},
			New:     func(a map[string]any) (Policy, error) { return Fixed(duration(a, "wait")) },
		},
		{
			Name: "uniform", Mode: Poll,
			Doc: "a wait drawn evenly between min and max",
			Options: []Option{
				{Name: "min", Doc: "shortest wait", Kind: "duration", Required: true, Max: longest},
				{Name: "max", Doc: "longest wait", Kind: "duration", Required: true, Min: shortest, Max: longest},
			},
			New: func(a map[string]any) (Policy, error) { return Uniform(duration(a, "min"), duration(a, "max")) },
		},
		{
			Name: "linear", Mode: Poll,
			Doc: "waits that change by equal strides from `from` to `to`, then stay",
			Options: []Option{
				{Name: "from", Doc: "first wait", Kind: "duration", Required: true, Max: longest},
				{Name: "to", Doc: "wait number `steps` and all later ones", Kind: "duration", Required: true, Min: shortest, Max: longest},
				{Name: "steps", Doc: "number of different waits", Kind: "int", Required: true, Min: 2, Max: maxSteps},
			},
			New: func(a map[string]any) (Policy, error) {
				return Linear(duration(a, "from"), duration(a, "to"), number(a, "steps"))
			},
		},
		{
			Name: "stages", Mode: Poll, Bare: "stages",
			Doc:     "a number of equal waits, then a number of others; the last stage repeats",
			Options: []Option{{Name: "stages", Doc: "list of `wait xtimes`, as 50ms x3", Kind: "stages", Required: true, Min: shortest, Max: longest}},
			New:     func(a map[string]any) (Policy, error) { return Stages(stages(a, "stages")...) },
		},
		backoff("exponential", "waits that double from base up to cap, without jitter", Exponential),
		backoff("full-jitter", "a wait drawn evenly between 0 and the exponential back-off", FullJitter),
		backoff("equal-jitter", "a wait drawn evenly between half and all of the exponential back-off", EqualJitter),
		backoff("decorrelated", "a wait drawn evenly between base and three times the previous wait, up to cap", Decorrelated),
		{
			Name: "native", Mode: Block,
			Doc: "the lock waits by its own means; only where the strategy can",
			// Whoever blocked and came back without the lock has waited as long as the strategy would.
			New: func(map[string]any) (Policy, error) { return FailFast(), nil },
		},
		{
			Name: "linear-50-500", Mode: Poll, MaxAttempts: 10,
			Doc: "preset: 10 tries; 50 ms after the first, 50 ms more after each",
			New: func(map[string]any) (Policy, error) {
				return Linear(50*time.Millisecond, 500*time.Millisecond, 10)
			},
		},
		{
			Name: "staged-50-100", Mode: Poll, MaxAttempts: 10,
			Doc: "preset: 10 tries; 50 ms three times, then 100 ms",
			New: func(map[string]any) (Policy, error) {
				return Stages(Stage{Wait: 50 * time.Millisecond, Times: 3}, Stage{Wait: 100 * time.Millisecond, Times: 3})
			},
		},
		{
			Name: "uniform-50-200", Mode: Poll, MaxAttempts: 5,
			Doc: "preset: 5 tries; drawn evenly between 50 and 200 ms",
			New: func(map[string]any) (Policy, error) { return Uniform(50*time.Millisecond, 200*time.Millisecond) },
		},
	}
}

// backoff is an entry of the family that takes base and cap.
func backoff(name, doc string, build func(base, most time.Duration) (Policy, error)) Entry {
	return Entry{
		Name: name, Doc: doc, Mode: Poll,
		Options: []Option{
			{Name: "base", Doc: "back-off after the first attempt", Kind: "duration", Required: true, Min: shortest, Max: longest},
			{Name: "cap", Doc: "longest back-off", Kind: "duration", Required: true, Min: shortest, Max: longest},
		},
		New: func(a map[string]any) (Policy, error) { return build(duration(a, "base"), duration(a, "cap")) },
	}
}

// Find returns the entry of that name.
func Find(name string) (Entry, bool) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}

// New builds a policy by name. maxAttempts replaces the limit of a preset; 0 keeps it, or means none. A within of 0
// means none. `native` takes neither: only the lock knows its attempts, and the acquire timeout ends its wait.
func New(name string, args map[string]any, maxAttempts int, within time.Duration) (Policy, Mode, error) {
	e, ok := Find(name)
	if !ok {
		return nil, "", fmt.Errorf("retry %q: there is no policy of that name", name)
	}
	if maxAttempts < 0 || within < 0 {
		return nil, "", fmt.Errorf("retry %s: max_attempts %d and within %v must not be negative", name, maxAttempts, within)
	}
	if e.Mode == Block && (maxAttempts > 0 || within > 0) {
		return nil, "", fmt.Errorf("retry %s: the lock waits by its own means, max_attempts and within do not apply", name)
	}
	if err := e.check(args); err != nil {
		return nil, "", fmt.Errorf("retry %s: %w", name, err)
	}
	p, err := e.New(args)
	if err != nil {
		return nil, "", fmt.Errorf("retry %w", err)
	}
	if maxAttempts == 0 {
		maxAttempts = e.MaxAttempts
	}
	return limited(p, maxAttempts, within), e.Mode, nil
}

func limited(p Policy, maxAttempts int, within time.Duration) Policy {
	if within > 0 {
		p = Within(within, p)
	}
	if maxAttempts > 0 {
		p = Limit(maxAttempts, p)
	}
	return p
}

// check compares args with the entry's options: all that are required, none that is unknown, each of its type and
// in its bounds.
func (e Entry) check(args map[string]any) error {
	for name := range args {
		if !slices.ContainsFunc(e.Options, func(o Option) bool { return o.Name == name }) {
			return fmt.Errorf("there is no option %q%s", name, e.known())
		}
	}
	for _, o := range e.Options {
		v, given := args[o.Name]
		if !given && o.Required {
			return fmt.Errorf("option %q is missing", o.Name)
		}
		if given {
			if err := o.check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// known lists the options for a message.
func (e Entry) known() string {
	if len(e.Options) == 0 {
		return "; it takes none"
	}
	names := make([]string, len(e.Options))
	for i, o := range e.Options {
		names[i] = o.Name
	}
	return "; there are " + strings.Join(names, ", ")
}

func (o Option) check(v any) error {
	switch v := v.(type) {
	case time.Duration:
		return o.inBounds("duration", float64(v), v)
	case int:
		return o.inBounds("int", float64(v), v)
	case []Stage:
		for _, s := range v {
			if err := o.inBounds("stages", float64(s.Wait), s.Wait); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("option %q is a %s, not a %T", o.Name, o.Kind, v)
}

func (o Option) inBounds(kind string, x float64, v any) error {
	if kind != o.Kind {
		return fmt.Errorf("option %q is a %s, not a %s", o.Name, o.Kind, kind)
	}
	bounded := o.Min != 0 || o.Max != 0
	if bounded && (x < o.Min || x > o.Max) {
		return fmt.Errorf("option %q: %v is not between %s and %s", o.Name, v, o.bound(o.Min), o.bound(o.Max))
	}
	return nil
}

// bound prints a limit in the option's own unit.
func (o Option) bound(x float64) string {
	if o.Kind == "int" {
		return fmt.Sprint(int(x))
	}
	return time.Duration(x).String()
}

// An argument that is absent or of another type reads as zero; the constructors refuse what zero cannot mean.

func duration(args map[string]any, name string) time.Duration {
	d, _ := args[name].(time.Duration)
	return d
}

func number(args map[string]any, name string) int {
	n, _ := args[name].(int)
	return n
}

func stages(args map[string]any, name string) []Stage {
	s, _ := args[name].([]Stage)
	return s
}

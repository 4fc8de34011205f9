package topologies

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Auto lets Choose decide.
const Auto = "auto"

// Reasoner is implemented by a Provider that can say in a few words what it would use, as "redis-server 7.0.15 on
// PATH".
type Reasoner interface {
	Reason(ctx context.Context, s Spec) string
}

// UnfitError: no provider can serve here. The command turns it into the status of a machine that is not fit.
type UnfitError struct {
	Want   string
	Passed []PassedOver
}

// PassedOver is a provider that cannot serve, and why.
type PassedOver struct {
	Provider string
	Why      error
}

func (p PassedOver) String() string { return p.Provider + ": " + p.Why.Error() }

func (e *UnfitError) Error() string {
	if e.Want == Auto {
		return "no provider can serve here: " + listed(e.Passed)
	}
	return fmt.Sprintf("provider %s cannot serve here: %s", e.Want, listed(e.Passed))
}

func listed(passed []PassedOver) string {
	words := make([]string, len(passed))
	for i, p := range passed {
		words[i] = p.String()
	}
	return strings.Join(words, "; ")
}

// Choose takes the first candidate of the wanted name that can serve s; for "auto" the first of all. Candidates stand
// in the order of preference: external, container with its image present, process, container by pulling, embedded. An
// address that was given is never passed over: measuring something else in silence would be worse than an error. why
// tells what was chosen and what was passed over; the errors of Can say what to install. If none can, err is an
// *UnfitError; an address that cannot be used, or its TLS files, is a mistake of the request instead.
func Choose(ctx context.Context, s Spec, want string, candidates []Provider) (chosen Provider, why string, err error) {
	if len(s.Addresses) > 0 {
		if want != Auto && want != External {
			return nil, "", fmt.Errorf("an address was given, but provider %s starts its own servers: use provider external", want)
		}
		want = External
	}
	named := slices.DeleteFunc(slices.Clone(candidates), func(p Provider) bool { return want != Auto && p.Name() != want })
	if len(named) == 0 {
		return nil, "", fmt.Errorf("there is no provider %q", want)
	}
	var passed []PassedOver
	for _, p := range named {
		err := p.Can(ctx, s)
		if err == nil {
			return p, reason(ctx, p, s, passed), nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if want == External { // it looks at what it was given, not at the machine
			return nil, "", fmt.Errorf("provider %s: %w", want, err)
		}
		passed = append(passed, PassedOver{p.Name(), err})
	}
	return nil, "", &UnfitError{Want: want, Passed: passed}
}

func reason(ctx context.Context, p Provider, s Spec, passed []PassedOver) string {
	why := p.Name()
	if r, ok := p.(Reasoner); ok {
		why += ": " + r.Reason(ctx, s)
	}
	passed = slices.DeleteFunc(passed, func(p PassedOver) bool { return p.Provider == External }) // no address: nobody asked for it
	if len(passed) > 0 {
		why += " (passed over: " + listed(passed) + ")"
	}
	return why
}

package topologies

import (
	"context"
	"errors"
	"strings"
	"testing"
)

type candidate struct {
	name, reason string
	cannot       error
}

func (c candidate) Name() string                        { return c.name }
func (c candidate) Can(context.Context, Spec) error     { return c.cannot }
func (c candidate) Reason(context.Context, Spec) string { return c.reason }
func (c candidate) Start(context.Context, Spec) (*Topology, error) {
	return nil, errors.New("not started")
}

func TestChoiceIsTheFirstThatCanAndSaysWhatWasPassedOver(t *testing.T) {
	external := candidate{External, "the address given", errors.New("no address was given")}
	present := candidate{Container, "image redis:x is present", nil}
	absent := candidate{Container, "", errors.New("image redis:x is not present")}
	process := candidate{Process, "redis-server 7.0.15 on PATH", nil}
	noProcess := candidate{Process, "", errors.New("install redis-server")}
	pull := candidate{Container, "image redis:x, to be pulled", nil}
	embedded := candidate{Embedded, "nothing else serves", nil}

	for name, c := range map[string]struct {
		want       string
		candidates []Provider
		chosen     string
		why        string
	}{
		"a present image first":          {Auto, []Provider{external, present, process, pull, embedded}, Container, "container: image redis:x is present"},
		"a server on PATH before a pull": {Auto, []Provider{absent, process, pull, embedded}, Process, "process: redis-server 7.0.15 on PATH (passed over: container: image redis:x is not present)"},
		"a pull before embedded":         {Auto, []Provider{absent, noProcess, pull, embedded}, Container, "container: image redis:x, to be pulled (passed over: container: image redis:x is not present; process: install redis-server)"},
		"by name":                        {Embedded, []Provider{present, process, embedded}, Embedded, "embedded: nothing else serves"},
		"by name, the second of it":      {Container, []Provider{absent, process, pull}, Container, "container: image redis:x, to be pulled (passed over: container: image redis:x is not present)"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why, err := Choose(t.Context(), Spec{}, c.want, c.candidates)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name() != c.chosen || why != c.why {
				t.Errorf("got %s: %s\nwant %s: %s", got.Name(), why, c.chosen, c.why)
			}
		})
	}
}

func TestAGivenAddressIsNeverPassedOver(t *testing.T) {
	broken := candidate{External, "", errors.New("2 addresses for 5 nodes")}
	_, _, err := Choose(t.Context(), Spec{Addresses: []string{"h:1"}}, Auto, []Provider{broken, candidate{Embedded, "", nil}})
	var unfit *UnfitError
	if err == nil || errors.As(err, &unfit) || !strings.Contains(err.Error(), "2 addresses") {
		t.Errorf("got %v, want the external provider's reason", err)
	}
	if _, _, err := Choose(t.Context(), Spec{Addresses: []string{"h:1"}}, Process, []Provider{candidate{Process, "", nil}}); err == nil {
		t.Error("an address beside provider process is not refused")
	}
}

func TestIfNoneCanServeEveryReasonIsTold(t *testing.T) {
	_, _, err := Choose(t.Context(), Spec{}, Auto, []Provider{candidate{Process, "", errors.New("install redis-server")}, candidate{Embedded, "", errors.New("no clusters")}})
	var unfit *UnfitError
	if !errors.As(err, &unfit) || len(unfit.Passed) != 2 || !strings.Contains(err.Error(), "install redis-server") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownProviderIsNotUnfitness(t *testing.T) {
	_, _, err := Choose(t.Context(), Spec{}, "virtual", []Provider{candidate{Embedded, "", nil}})
	var unfit *UnfitError
	if err == nil || errors.As(err, &unfit) {
		t.Errorf("got %v", err)
	}
}

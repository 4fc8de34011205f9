package plots

import (
	"strings"
	"testing"
)

func TestStrategyLooksTheSameInEveryChart(t *testing.T) {
	for run, d := range runs() {
		st := d.styles()
		for _, c := range charts(d) {
			for _, p := range c.Panels {
				for _, s := range p.Series {
					name, _, _ := strings.Cut(s.Name, " ") // without figures
					strategy, retry, _ := strings.Cut(name, "/")
					checkLook(t, run+" "+c.Name, st, strategy, retry, s)
				}
			}
		}
	}
}

func checkLook(t *testing.T, where string, st styles, strategy, retry string, s Series) {
	t.Helper()
	want, known := st.strategy[strategy]
	if st.byRetry {
		want, known = st.retry[retry]
	}
	if known && s.Style.Colour != want.Colour {
		t.Errorf("%s: %q is %s, elsewhere %s", where, s.Name, s.Style.Colour, want.Colour)
	}
}

func TestFixedStylesCanBeToldApart(t *testing.T) {
	for _, fixed := range []map[string]Style{strategyStyles, retryStyles} {
		seen := map[[2]string]string{}
		for name, s := range fixed {
			look := [2]string{s.Colour, s.Marker}
			if other := seen[look]; other != "" {
				t.Errorf("%s and %s look alike", name, other)
			}
			seen[look] = name
		}
	}
}

func TestColoursShowOnBothPapers(t *testing.T) {
	for theme, i := range inks {
		for name, s := range strategyStyles {
			if c := contrast(i.colour(s), i.paper); c < i.contrast {
				t.Errorf("%s on %s: contrast %.2f", name, theme, c)
			}
		}
	}
}

func TestLabelWithoutFixedStyleTakesThatOfItsFamilyOrAFreeOne(t *testing.T) {
	alone := newStyles([]string{"sharded-4"}, []string{"fixed"})
	if got := alone.strategy["sharded-4"]; got != strategyStyles["sharded"] {
		t.Errorf("sharded-4 alone is %+v, want that of sharded", got)
	}
	labels := []string{"sharded", "sharded-2", "sharded-4", "sharded-8", "sharded-16", "mine", "yours"}
	got := newStyles(labels, []string{"fixed"}).strategy
	seen := map[string]string{}
	for _, l := range labels {
		if other := seen[got[l].Colour]; other != "" {
			t.Errorf("%s and %s have one colour", l, other)
		}
		seen[got[l].Colour] = l
	}
	if got["sharded"] != strategyStyles["sharded"] {
		t.Error("sharded lost its own style")
	}
}

func TestTwentyUnknownLabelsStillDiffer(t *testing.T) {
	var labels []string
	for c := 'a'; c < 'a'+20; c++ {
		labels = append(labels, string(c))
	}
	seen := map[Style]string{}
	for l, s := range newStyles(labels, []string{"fixed"}).strategy {
		if other := seen[s]; other != "" {
			t.Errorf("%s and %s look alike", l, other)
		}
		seen[s] = l
	}
}

func TestOneStrategyIsColouredByRetry(t *testing.T) {
	st := newStyles([]string{"set-px-lua"}, []string{"fixed", "full-jitter"})
	if a, b := st.of("set-px-lua", "fixed"), st.of("set-px-lua", "full-jitter"); a.Colour == b.Colour {
		t.Errorf("both retries are %s", a.Colour)
	}
	st = newStyles([]string{"set-px-lua", "redlock"}, []string{"fixed", "full-jitter"})
	a, b := st.of("set-px-lua", "fixed"), st.of("set-px-lua", "full-jitter")
	if a.Colour != blue || b.Colour != blue || a.Dash == b.Dash {
		t.Errorf("retries of one strategy are %+v and %+v, want one colour and two dashes", a, b)
	}
}

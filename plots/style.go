package plots

import (
	"hash/fnv"
	"strings"
)

// Style of a series: a colour and a marker for what it is, a dash for how it waits.
type Style struct {
	Colour string `json:"colour"` // #RRGGBB as on white; a dark theme lightens what would not show
	Marker string `json:"marker,omitempty"`
	Dash   string `json:"dash,omitempty"`
}

// Okabe and Ito's palette, which people with any colour vision can tell apart (Wong, Nature Methods 8:441, 2011).
// Its yellow does not show as a line on white and is darkened.
const (
	blue       = "#0072B2"
	orange     = "#E69F00"
	green      = "#009E73"
	purple     = "#CC79A7"
	sky        = "#56B4E9"
	vermillion = "#D55E00"
	black      = "#000000"
	yellow     = "#B5A800"
	grey       = "#7F7F7F"
)

// strategyStyles is for ever: a strategy looks the same in every chart of every run. Strategies that are often
// compared have a colour of the palette to themselves; others take a darker or lighter shade and another marker.
var strategyStyles = map[string]Style{
	"noop":              {Colour: black, Marker: "circle"},
	"ping":              {Colour: grey, Marker: "square"},
	"local-mutex":       {Colour: yellow, Marker: "plus"},
	"setnx":             {Colour: "#8C3D00", Marker: "down"},
	"setnx-expire":      {Colour: "#8E4A74", Marker: "cross"},
	"set-px-del":        {Colour: purple, Marker: "down"},
	"set-px-check-del":  {Colour: sky, Marker: "cross"},
	"set-px-lua":        {Colour: blue, Marker: "circle"},
	"watchdog":          {Colour: green, Marker: "triangle"},
	"redlock":           {Colour: vermillion, Marker: "square"},
	"sharded":           {Colour: orange, Marker: "diamond"},
	"reentrant":         {Colour: "#005C43", Marker: "circle"},
	"signal-list":       {Colour: "#6B5B95", Marker: "triangle"},
	"fair":              {Colour: "#7A6F00", Marker: "diamond"},
	"fair-redisson":     {Colour: "#A67300", Marker: "square"},
	"fenced":            {Colour: "#00466E", Marker: "diamond"},
	"wait-replicas":     {Colour: "#5E8C31", Marker: "plus"},
	"redsync":           {Colour: "#F28E4B", Marker: "triangle"},
	"redislock":         {Colour: "#2F8FC4", Marker: "square"},
	"rueidislock":       {Colour: "#B04A86", Marker: "circle"},
	"etcd":              {Colour: "#3BBF98", Marker: "square"},
	"zookeeper":         {Colour: "#6E4B1F", Marker: "circle"},
	"postgres-row":      {Colour: "#4C5B6B", Marker: "down"},
	"postgres-advisory": {Colour: "#8FA1B3", Marker: "diamond"},
}

// retryStyles: the dash tells the policy where colours tell strategies; in a run of one strategy the colour does too.
var retryStyles = map[string]Style{
	"fail-fast":      {Colour: grey, Marker: "plus", Dash: "dot"},
	"fixed":          {Colour: vermillion, Marker: "square", Dash: "solid"},
	"uniform":        {Colour: sky, Marker: "cross", Dash: "dash-dot"},
	"linear":         {Colour: orange, Marker: "triangle", Dash: "long"},
	"stages":         {Colour: purple, Marker: "down", Dash: "dash-dot-dot"},
	"exponential":    {Colour: black, Marker: "diamond", Dash: "long-dot"},
	"full-jitter":    {Colour: blue, Marker: "circle", Dash: "dash"},
	"equal-jitter":   {Colour: green, Marker: "triangle", Dash: "dash-dot"},
	"decorrelated":   {Colour: yellow, Marker: "diamond", Dash: "dot"},
	"notify":         {Colour: "#00466E", Marker: "square", Dash: "long"},
	"native":         {Colour: "#8C3D00", Marker: "circle", Dash: "long-dot"},
	"linear-50-500":  {Colour: "#A67300", Marker: "cross", Dash: "dash-dot-dot"},
	"staged-50-100":  {Colour: "#8E4A74", Marker: "plus", Dash: "dash"},
	"uniform-50-200": {Colour: "#2F8FC4", Marker: "down", Dash: "dot"},
}

var (
	palette = []string{blue, orange, green, purple, vermillion, sky, black, yellow}
	markers = []string{"circle", "square", "triangle", "diamond", "down", "cross", "plus"}
	dashes  = []string{"solid", "dash", "dot", "dash-dot", "long", "dash-dot-dot", "long-dot"}
)

// styles gives every label of a run its looks, the same in all charts of the run.
type styles struct {
	strategy, retry map[string]Style
	byRetry         bool // one strategy only: colour tells the retry policy
}

// newStyles keeps the fixed style of each label that has one. Another label, as `as: sharded-4`, gets one that
// depends on its name alone, unless another label of the same run already has it: then the next free one.
func newStyles(strategies, retries []string) styles {
	return styles{
		strategy: assign(strategies, strategyStyles, colourTaken),
		retry:    assignDashes(retries, assign(retries, retryStyles, colourTaken)),
		byRetry:  len(strategies) == 1 && len(retries) > 1,
	}
}

func (s styles) of(strategy, retry string) Style {
	if s.byRetry {
		return s.retry[retry]
	}
	st := s.strategy[strategy]
	st.Dash = s.retry[retry].Dash
	if len(s.retry) == 1 {
		st.Dash = "solid"
	}
	return st
}

func colourTaken(a, b Style) bool { return a.Colour == b.Colour }
func lookTaken(a, b Style) bool   { return a.Colour == b.Colour && a.Marker == b.Marker }

func assign(labels []string, fixed map[string]Style, taken func(a, b Style) bool) map[string]Style {
	out := map[string]Style{}
	for _, l := range labels {
		if st, ok := fixed[l]; ok {
			out[l] = st
		}
	}
	for _, l := range labels {
		if _, ok := out[l]; !ok {
			out[l] = free(l, fixed, out, taken)
		}
	}
	return out
}

// free is the style of the name that l begins with, else one chosen by a hash of l; or the next that no label has:
// first by colour, then by colour and marker.
func free(l string, fixed, used map[string]Style, taken func(a, b Style) bool) Style {
	if st, ok := fixed[family(l, fixed)]; ok && !anyStyle(used, st, taken) {
		return st
	}
	n := len(palette) * len(markers)
	start := int(hash(l) % uint32(n))
	for _, clash := range []func(a, b Style) bool{taken, lookTaken} {
		for k := range n {
			if st := spare((start + k) % n); !anyStyle(used, st, clash) {
				return st
			}
		}
	}
	return spare(start)
}

// spare style i of palette x markers; neighbours differ in both.
func spare(i int) Style {
	return Style{Colour: palette[i%len(palette)], Marker: markers[(i+i/len(palette))%len(markers)]}
}

// assignDashes gives labels without a fixed dash that of their policy, or the next that is free.
func assignDashes(labels []string, st map[string]Style) map[string]Style {
	used := map[string]bool{}
	for _, l := range labels {
		d := retryStyles[l].Dash
		if d == "" {
			d = retryStyles[family(l, retryStyles)].Dash
		}
		for k := 0; k < len(dashes) && (d == "" || used[d]); k++ {
			d = dashes[k]
		}
		used[d] = true
		s := st[l]
		s.Dash = d
		st[l] = s
	}
	return st
}

// family is the longest known name that l begins with, up to a hyphen.
func family(l string, fixed map[string]Style) string {
	best := ""
	for name := range fixed {
		if strings.HasPrefix(l, name+"-") && len(name) > len(best) {
			best = name
		}
	}
	return best
}

func anyStyle(used map[string]Style, st Style, taken func(a, b Style) bool) bool {
	for _, u := range used {
		if taken(u, st) {
			return true
		}
	}
	return false
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

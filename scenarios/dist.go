package scenarios

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Constant is the distribution of a bare duration.
func Constant(d time.Duration) Dist {
	return Dist{Kind: "constant", Args: map[string]time.Duration{"value": d}}
}

// maxParts bounds a mixture.
const maxParts = 20

// distForm reads 5ms, or a map with one distribution.
func distForm(p *Dist, v Vocabulary) form {
	return form{
		read:   func(r *reader, n *node, path string) { r.dist(p, n, path, true) },
		write:  func() *node { return writeDist(*p, v) },
		schema: schema{"$ref": "#/$defs/distribution"},
	}
}

// dist reads a distribution; inside a mixture there is no other.
func (r *reader) dist(p *Dist, n *node, path string, mixtures bool) {
	if n.kind == scalar {
		var d time.Duration
		durationForm(&d, 0, MaxDuration).read(r, n, path)
		*p = Constant(d)
		return
	}
	if n.kind != mapping || len(n.pairs) != 1 {
		r.fail(n.at, path, "a duration or a map with one distribution is needed here (%s)", strings.Join(namesOf(r.voc.Distributions), ", "))
		return
	}
	one := n.pairs[0]
	name, ok := r.choose(one.at, path, "the distribution", one.key, r.voc.Distributions)
	if !ok {
		return
	}
	if name.Name == "mixture" && !mixtures {
		r.fail(one.at, path, "a mixture inside a mixture is not allowed: list its parts instead")
		return
	}
	before := r.all
	options := r.options(name, one.value, one.at, join(path, one.key))
	*p = distOf(name.Name, options)
	if r.all > before {
		return
	}
	if err := p.check(); err != nil {
		r.fail(one.at, join(path, one.key), "%s", err)
	}
}

// distOf sorts typed options into a Dist.
func distOf(kind string, options map[string]any) Dist {
	d := Dist{Kind: kind}
	for k, v := range options {
		switch v := v.(type) {
		case time.Duration:
			if d.Args == nil {
				d.Args = map[string]time.Duration{}
			}
			d.Args[k] = v
		case []Weighted:
			d.Mix = v
		}
	}
	return d
}

// maxLognormal is the largest p99 / mean that a lognormal distribution can have: with z = 2.326 the quantile of 99 %,
// p99 / mean = exp(z sigma - sigma^2 / 2) is largest at sigma = z, exp(z^2 / 2).
var maxLognormal = math.Exp(2.3263478740408408 * 2.3263478740408408 / 2)

// check finds arguments that no such distribution has.
func (d Dist) check() error {
	if err := ordered(d.Args, "min", "max"); err != nil {
		return err
	}
	switch d.Kind {
	case "lognormal":
		return d.checkLognormal()
	case "pareto":
		if low, p99 := d.Args["min"], d.Args["p99"]; low <= 0 || p99 <= low || p99 >= 100*low {
			return fmt.Errorf("p99 (%s) must lie between min (%s) and 100 x min: from there on the mean is infinite", printDuration(p99), printDuration(low))
		}
	case "mixture":
		return d.checkMixture()
	}
	return nil
}

func (d Dist) checkLognormal() error {
	p50, byMedian := d.Args["p50"]
	mean, byMean := d.Args["mean"]
	p99, tail := d.Args["p99"]
	if !tail || byMedian == byMean {
		return fmt.Errorf("a lognormal distribution takes p99 and one of p50 and mean")
	}
	if byMedian && (p50 <= 0 || p99 <= p50) {
		return fmt.Errorf("p99 (%s) must be above p50 (%s), and both above 0", printDuration(p99), printDuration(p50))
	}
	if byMedian { // mean = p50 exp(sigma^2 / 2), with sigma = ln(p99 / p50) / z
		sigma := math.Log(float64(p99)/float64(p50)) / 2.3263478740408408
		if float64(p50)*math.Exp(sigma*sigma/2) > float64(MaxDuration) {
			return fmt.Errorf("p50 %s and p99 %s lie so far apart that the mean is above %s", printDuration(p50), printDuration(p99), printDuration(MaxDuration))
		}
	}
	if byMean && (p99 <= mean || float64(p99) > maxLognormal*float64(mean)) {
		return fmt.Errorf("no lognormal distribution has mean %s and p99 %s: p99 lies between 1 and %.1f times the mean",
			printDuration(mean), printDuration(p99), maxLognormal)
	}
	return nil
}

func (d Dist) checkMixture() error {
	sum := 0.0
	for _, w := range d.Mix {
		if w.Share == 0 {
			return fmt.Errorf("a part without a share is no part")
		}
		sum += w.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the shares of a mixture add up to %s%%, not 100%%", printNumber(math.Round(sum*1e8)/1e6))
	}
	return nil
}

// ordered refuses a low above its high, where both are given.
func ordered(args map[string]time.Duration, low, high string) error {
	l, ok := args[low]
	h, both := args[high]
	if ok && both && l > h {
		return fmt.Errorf("%s (%s) is above %s (%s)", low, printDuration(l), high, printDuration(h))
	}
	return nil
}

// mixtureForm reads the parts of a mixture.
func mixtureForm(p *[]Weighted, v Vocabulary) form {
	return listForm(p, "parts", maxParts, func(w *Weighted) form {
		return mapForm(
			field{name: "share", doc: "share of this part, as 2%", required: true, form: ratioForm(&w.Share, 0, 1)},
			field{name: "dist", doc: "distribution of this part", required: true, form: form{
				read:   func(r *reader, n *node, path string) { r.dist(&w.Dist, n, path, false) },
				write:  func() *node { return writeDist(w.Dist, v) },
				schema: schema{"$ref": "#/$defs/distribution"},
			}},
		)
	})
}

func writeDist(d Dist, v Vocabulary) *node {
	if d.Kind == "constant" {
		return text(printDuration(d.Args["value"]))
	}
	if d.Mix != nil {
		return mapOf(pair{key: d.Kind, value: mixtureForm(&d.Mix, v).write()})
	}
	args := mapOf()
	for _, k := range slices.Sorted(maps.Keys(d.Args)) {
		args.put(k, text(printDuration(d.Args[k])))
	}
	return mapOf(pair{key: d.Kind, value: args})
}

// popularityForm reads uniform, {zipf: s} or {hot: {keys, ops}}.
func popularityForm(p *Popularity) form {
	zipf := numberForm(&p.S, 0.001, 10)
	hot := mapForm(
		field{name: "keys", doc: "share of the keys that are hot", required: true, form: ratioForm(&p.HotKeys, 1e-7, 1)},
		field{name: "ops", doc: "share of the sessions that want a hot key", required: true, form: ratioForm(&p.HotOps, 0, 1)},
	)
	return form{
		read:  func(r *reader, n *node, path string) { r.popularity(p, n, path, zipf, hot) },
		write: func() *node { return writePopularity(*p, zipf, hot) },
		schema: schema{"anyOf": []any{
			schema{"const": "uniform"},
			schema{"type": "object", "properties": schema{"zipf": zipf.schema}, "required": []string{"zipf"}, "additionalProperties": false},
			schema{"type": "object", "properties": schema{"hot": hot.jsonSchema()}, "required": []string{"hot"}, "additionalProperties": false},
		}},
	}
}

func (r *reader) popularity(p *Popularity, n *node, path string, zipf, hot form) {
	kinds := []string{"uniform", "zipf", "hot"}
	switch {
	case n.kind == scalar && n.text == "uniform":
		*p = Popularity{Kind: "uniform"}
	case n.kind == scalar:
		r.unknown(n.at, path, "the popularity", n.text, kinds)
	case n.kind != mapping || len(n.pairs) != 1:
		r.fail(n.at, path, "one of uniform, {zipf: 0.8}, {hot: {keys: 10%%, ops: 90%%}} is needed here")
	case n.pairs[0].key == "zipf":
		*p = Popularity{Kind: "zipf"}
		zipf.read(r, n.pairs[0].value, join(path, "zipf"))
	case n.pairs[0].key == "hot":
		*p = Popularity{Kind: "hot"}
		hot.read(r, n.pairs[0].value, join(path, "hot"))
	default:
		r.unknown(n.pairs[0].at, path, "the popularity", n.pairs[0].key, kinds)
	}
}

func writePopularity(p Popularity, zipf, hot form) *node {
	switch p.Kind {
	case "zipf":
		return mapOf(pair{key: "zipf", value: zipf.write()})
	case "hot":
		return mapOf(pair{key: "hot", value: hot.write()})
	}
	return text(p.Kind)
}

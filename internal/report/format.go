package report

import (
	"math"
	"strconv"
	"strings"
)

// none stands for a value that is missing; a footnote says why.
const none = "–"

// three writes a number with three significant digits and no exponent, as 0.0123, 1.20, 12.3, 12300.
func three(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(decimals, 0), 64)
}

// percent writes a share as a number of percent. What is not all is never rounded to 100.
func percent(share float64) string {
	for decimals := 3; decimals < 9; decimals++ {
		s := strconv.FormatFloat(share*100, 'g', decimals, 64)
		if v, _ := strconv.ParseFloat(s, 64); share == 1 || v != 100 {
			return plain(v)
		}
	}
	return "100"
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// inUnit writes a value of a metric with its unit, for running text.
func inUnit(v float64, unit string) string {
	switch unit {
	case "share":
		return percent(v) + " %"
	case "count":
		return plain(v)
	case "per_s":
		return three(v) + "/s"
	case "us":
		return three(v) + " µs"
	case "ms":
		return three(v) + " ms"
	}
	return three(v)
}

// plural is "1 trial", "2 trials".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// list is "a", "a and b", "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

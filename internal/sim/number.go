package sim

import (
	"math"
	"strconv"
	"strings"
)

// parseInteger reads a 64-bit integer as strictly as Redis does: no plus sign, blank, leading zero or "-0".
func parseInteger(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if s == "0" {
		return 0, true
	}
	if digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// parseFloat reads a number as C's strtod does when nothing may follow it: hexadecimal and inf are good, nan is not,
// nor is a value beyond the range of a double.
func parseFloat(s string) (float64, bool) {
	f, ok := strtod(s)
	return f, ok && !math.IsNaN(f) && (!math.IsInf(f, 0) || strings.ContainsAny(s, "iI"))
}

// strtod reads the whole of s; a number too large is an infinity.
func strtod(s string) (float64, bool) {
	if strings.Contains(s, "_") {
		return 0, false // good in Go's source text only
	}
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 {
		return 0, false
	}
	if hex := strings.ToLower(unsigned); strings.HasPrefix(hex, "0x") && !strings.Contains(hex, "p") {
		s += "p0" // Go wants an exponent, C does not
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// formatDouble is C's "%.17g", by which Redis 7.0 answers scores and passes numbers of a script to a command.
func formatDouble(f float64) string { return formatG(f, 17) }

// formatG is C's "%.<digits>g".
func formatG(f float64, digits int) string {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < 1e14 && (f != 0 || !math.Signbit(f)):
		return strconv.FormatInt(int64(f), 10)
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

// truncated is C's cast of a double to a 64-bit integer on the machines that Redis runs on: toward zero, and the
// smallest integer for what does not fit.
func truncated(f float64) int64 {
	if !(f >= -(1<<63) && f < 1<<63) {
		return math.MinInt64
	}
	return int64(f)
}

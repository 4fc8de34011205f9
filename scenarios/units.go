package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of a scenario. They keep a slip of the pen from asking for a run that no machine can do.
const (
	MaxDuration = 24 * time.Hour
	MaxRate     = 1e6  // per second
	MinRate     = 1e-4 // per second: one arrival in three hours
	MaxKeys     = 10_000_000
	MaxClients  = 100_000
	MaxInFlight = 1_000_000
	MaxTrials   = 1000
	MaxPoints   = 2000 // cells of the matrix x strategies x retries
)

var (
	numberOnly   = regexp.MustCompile(`^[-+]?[0-9]*\.?[0-9]+$`)
	durationText = regexp.MustCompile(`^([0-9]*\.?[0-9]+(ns|us|µs|μs|ms|s|m|h))+$`)
	durationUnit = regexp.MustCompile(`[^0-9.]+`)
	rateText     = regexp.MustCompile(`^([0-9]*\.?[0-9]+)(k|M)?/([a-z]+)$`)
	ratioText    = regexp.MustCompile(`^([0-9]*\.?[0-9]+)(%)?$`)
	countText    = regexp.MustCompile(`^[0-9]+$`)
)

// parseDuration reads Go syntax: 250us, 5ms, 1m30s.
func parseDuration(text string) (time.Duration, error) {
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative", text)
	case numberOnly.MatchString(text):
		return 0, fmt.Errorf("%q needs a unit, as %sms or %ss", text, text, text)
	case !durationText.MatchString(text):
		return 0, badDuration(text)
	}
	d, err := time.ParseDuration(text)
	if err != nil { // all that is left is a number beyond int64
		return 0, fmt.Errorf("%q is too long", text)
	}
	return d, nil
}

func badDuration(text string) error {
	if len(text) > 0 && (text[0] == '.' || text[0] >= '0' && text[0] <= '9') {
		for _, unit := range durationUnit.FindAllString(text, -1) {
			if !strings.Contains(" ns us µs μs ms s m h ", " "+unit+" ") {
				return fmt.Errorf("%q is no duration: the units are ns, us, ms, s, m, h, not %q", text, unit)
			}
		}
	}
	return fmt.Errorf("%q is no duration, as 5ms, 1m30s", text)
}

// printDuration is the shortest text that parseDuration reads as d.
func printDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// seconds of the units of a rate.
var rateUnits = map[string]float64{"s": 1, "min": 60, "h": 3600}

// parseRate reads 200/s, 12k/min as events per second.
func parseRate(text string) (float64, error) {
	m := rateText.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative", text)
	case numberOnly.MatchString(text):
		return 0, fmt.Errorf("%q needs a unit, as %s/s", text, text)
	case m == nil:
		return 0, fmt.Errorf("%q is no rate, as 200/s or 12k/min", text)
	case rateUnits[m[3]] == 0:
		return 0, fmt.Errorf("%q is no rate: the units are /s, /min, /h, not /%s", text, m[3])
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return v * map[string]float64{"": 1, "k": 1e3, "M": 1e6}[m[2]] / rateUnits[m[3]], nil
}

func printRate(v float64) string { return printNumber(v) + "/s" }

// parseRatio reads 1% or 0.01.
func parseRatio(text string) (float64, error) {
	m := ratioText.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative", text)
	case m == nil:
		return 0, fmt.Errorf("%q is no share, as 1%% or 0.01", text)
	}
	if m[2] == "" {
		return strconv.ParseFloat(m[1], 64)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v / 100, err
}

// parseCount reads a whole number that is not negative.
func parseCount(text string) (uint64, error) {
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is negative", text)
	case !countText.MatchString(text):
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return v, nil
}

// parseNumber reads a plain decimal number that is not negative.
func parseNumber(text string) (float64, error) {
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is negative", text)
	}
	if !numberOnly.MatchString(text) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return v, nil
}

// printNumber never uses an exponent, and parses back to the same bits.
func printNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// within is the error of a value outside its bounds, which print prints.
func within[T int | float64 | time.Duration](v, low, high T, print func(T) string) error {
	switch {
	case v < low:
		return fmt.Errorf("%s is too small: at least %s", print(v), print(low))
	case v > high:
		return fmt.Errorf("%s is too large: at most %s", print(v), print(high))
	}
	return nil
}

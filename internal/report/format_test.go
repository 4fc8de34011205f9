package report

import "testing"

func TestNumbersHaveThreeSignificantDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.000123456: "0.000123", 0.01: "0.0100", 0.9996: "1.00", 1: "1.00", 9.999: "10.0", 12.34: "12.3", 99.95: "100", 398.27: "398", 12345: "12300", 1234567: "1230000"} {
		if got := three(v); got != want {
			t.Errorf("three(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestAShareThatIsNotAllIsNeverShownAsAll(t *testing.T) {
	for v, want := range map[float64]string{1: "100", 0: "0", 0.5: "50", 0.9994: "99.9", 0.9998: "99.98", 0.999999: "99.9999", 0.1234: "12.3"} {
		if got := percent(v); got != want {
			t.Errorf("percent(%v) = %s, want %s", v, got, want)
		}
	}
}

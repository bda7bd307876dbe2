package textfile

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
)

// prefix is the longest start of the text that is a number in plain decimal notation, found by trying all of them, and
// its value from strconv. An exponent without digits, and a number out of range, count as none.
func prefix(text string) (value float64, length int) {
	for n := len(text); n > 0; n-- {
		if strings.Trim(text[:n], "0123456789.eE+-") != "" {
			continue
		}
		v, err := strconv.ParseFloat(text[:n], 64)
		if err == nil {
			if n < len(text) && text[n]|0x20 == 'e' && !strings.ContainsAny(text[:n], "eE") {
				return 0, 0
			}
			return v, n
		}
		if _, is := err.(*strconv.NumError); is && err.(*strconv.NumError).Err == strconv.ErrRange {
			return 0, 0
		}
	}
	return 0, 0
}

func checkDecimal(t interface{ Fatalf(string, ...any) }, text string) {
	want, n := prefix(text)
	got, length := Decimal([]byte(text))
	if length != n || math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q: %b of %d bytes, expected %b of %d", text, got, length, want, n)
	}
}

// Every number must have the bits that strconv gives it, whatever follows it.
func TestDecimalAgreesWithStrconv(t *testing.T) {
	digits := rapid.StringMatching(`[0-9]{0,24}`)
	proptest.Check(t, func(t *rapid.T) {
		sign := rapid.SampledFrom([]string{"", "-", "+"})
		text := sign.Draw(t, "sign") + digits.Draw(t, "whole") + rapid.SampledFrom([]string{"", "."}).Draw(t, "point") +
			digits.Draw(t, "fraction")
		if rapid.Bool().Draw(t, "power") {
			text += rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + sign.Draw(t, "sign of e") +
				rapid.StringMatching(`[0-9]{0,3}`).Draw(t, "exponent")
		}
		checkDecimal(t, text+rapid.SampledFrom([]string{"", " ", ",0123456", "\n1", ":", "x", ".5", "-1", "e",
			"\xff12345678"}).Draw(t, "rest"))
	})
	// All ways to write the same double.
	proptest.Check(t, func(t *rapid.T) {
		v := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if rapid.Bool().Draw(t, "near 1") {
			v = math.Ldexp(1+math.Abs(math.Mod(v, 1)), rapid.IntRange(-90, 90).Draw(t, "power of two"))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		checkDecimal(t, strconv.FormatFloat(v, rapid.SampledFrom([]byte("efg")).Draw(t, "format"),
			rapid.IntRange(-1, 22).Draw(t, "digits"), 64))
	})
}

func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"", "-", "1", "-0", "+.5", "5.", ".", "1e", "1e+", "1E-5x", "9007199254740993",
		"0.9007199254740993", "18446744073709551615", "18446744073709551616",
		"99999999999999999999", "1.7976931348623159e308", "4.9e-324", "2.4e-324", "1e99999999999999999999",
		"123456789.123456789,", "0.00000000000000000000000012345678901234567",
		"1234567890123456789e27", "1234567890123456789e-27", "1e28", "0x1p3", "1_0", "inf", "nan", "12345678:",
		"0.1234567\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkDecimal(t, text[:min(len(text), 400)]) })
}

func TestDecimalDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"-12.25", "-1.2345678901234567e-300", "-1.2345678901234567",
		"0.1234567890123456789012345678901234567890", "1e-300"} {
		b := []byte(text)
		require.Zero(t, testing.AllocsPerRun(100, func() { Decimal(b); Number(b) }), text)
	}
}

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineWidth is the most characters of a line of sentences.
const lineWidth = 110

// wrapped breaks sentences into lines.
func wrapped(text string) string {
	var b strings.Builder
	at := 0
	for k, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case k == 0:
		case at+1+size > lineWidth:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += size
	}
	return b.String() + "\n"
}

// sentence begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func joined(names []string) string { return strings.Join(names, ", ") }

// count is so many of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// finiteOrNull keeps out of JSON what JSON cannot hold.
func finiteOrNull(v float64) *float64 {
	if !finite(v) {
		return nil
	}
	return &v
}

// significant writes a number with so many digits, and a dash for what is no finite number.
func significant(v float64, digits int) string {
	if !finite(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// number writes six significant digits, short three.
func number(v float64) string { return significant(v, 6) }
func short(v float64) string  { return significant(v, 3) }

// fine writes four, without an exponent for sizes of daily life.
func fine(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return significant(v, 4)
}

// exact writes a number with as many digits as it takes to read it back.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// orDash is a number that may be missing.
func orDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return number(*v)
}

// plusMinus writes a value and its standard error, the value alone where there is none.
func plusMinus(v, se float64) string {
	if !finite(se) {
		return toError(v, se)
	}
	return toError(v, se) + " ± " + toError(se, se)
}

// toError writes a value with as many decimals as a standard error has that is given with two digits. Values without
// one, and those that are very large or small, have four digits.
func toError(v, se float64) string {
	if !(se >= 1e-6) || !(math.Abs(v) < 1e7) || !(se < 1e7) {
		return fine(v)
	}
	return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(se)))), 64)
}

// mostDecimals are those that tell a ratio from 0 and from 1.
const mostDecimals = 6

// ratio writes a number from 0 to 1 with so many decimals, or as many more as tell it from both, without zeros at the
// end.
func ratio(v float64, decimals int) string {
	text := func() string {
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', decimals, 64), "0"), ".")
	}
	for (text() == "0" || text() == "1") && decimals < mostDecimals {
		decimals += 2
	}
	return text()
}

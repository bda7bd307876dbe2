// Package words writes numbers, counts and sentences for people.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lineWidth is the most characters of a line of sentences.
const lineWidth = 110

// Wrapped breaks sentences into lines, but not before a percent sign.
func Wrapped(text string) string {
	const together = "\x00%"
	var b strings.Builder
	at := 0
	for k, word := range strings.Fields(strings.ReplaceAll(text, " %", together)) {
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
	return strings.ReplaceAll(b.String(), together, " %") + "\n"
}

// Sentence begins with a capital letter.
func Sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func Joined(names []string) string { return strings.Join(names, ", ") }

// Each are the texts of the items of a list, nil for none.
func Each[T any](list []T, text func(T) string) (texts []string) {
	for _, v := range list {
		texts = append(texts, text(v))
	}
	return texts
}

// Prefixed are names with a text in front of each.
func Prefixed(prefix string, names []string) []string {
	return Each(names, func(name string) string { return prefix + name })
}

// Numbers are those of a list, as [Short] writes them.
func Numbers(list []float64) string { return Joined(Each(list, Short)) }

// Plural is the word for so many of something.
func Plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// Count is so many of something.
func Count(n int, what string) string { return strconv.Itoa(n) + " " + Plural(n, what) }

// Rest says with a format for their number that there are more than were listed; nothing where there are none.
func Rest(n int, format string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

func Seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}

func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// FiniteOrNull keeps out of JSON what JSON cannot hold.
func FiniteOrNull(v float64) *float64 {
	if !Finite(v) {
		return nil
	}
	return &v
}

// Significant writes a number with so many digits, and a dash for what is no finite number.
func Significant(v float64, digits int) string {
	if !Finite(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// Number writes six significant digits, short three.
func Number(v float64) string { return Significant(v, 6) }
func Short(v float64) string  { return Significant(v, 3) }

// Fine writes four, without an exponent for sizes of daily life.
func Fine(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return Significant(v, 4)
}

// Exact writes a number with as many digits as it takes to read it back.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// OrDash is a number that may be missing.
func OrDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return Number(*v)
}

// PlusMinus writes a value and its standard error, the value alone where there is none.
func PlusMinus(v, se float64) string {
	if !Finite(se) {
		return ToError(v, se)
	}
	return ToError(v, se) + " ± " + ToError(se, se)
}

// ToError writes a value with as many decimals as a standard error has that is given with two digits. Values without
// one, and those that are very large or small, have four digits.
func ToError(v, se float64) string {
	if !(se >= 1e-6) || !(math.Abs(v) < 1e7) || !(se < 1e7) {
		return Fine(v)
	}
	return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(se)))), 64)
}

// mostDecimals are those that tell a ratio from 0 and from 1.
const mostDecimals = 6

// Ratio writes a number from 0 to 1 with so many decimals, or as many more as tell it from both, without zeros at the
// end.
func Ratio(v float64, decimals int) string {
	text := func() string {
		return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', decimals, 64), "0"), ".")
	}
	for (text() == "0" || text() == "1") && decimals < mostDecimals {
		decimals += 2
	}
	return text()
}

package table

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/textfile"
)

// convert makes a column of texts one of numbers or, where alone is true, dates, if every text of it is one; false
// means that they are not, and changes nothing. Numbers of which some are infinite or too large make it mixed.
func (c *Column) convert(alone bool, decimal byte) bool {
	numbers := make([]float64, len(c.texts))
	units := map[string]bool{}
	infinite := false
	for k, text := range c.texts {
		v, unit, ok := looseNumber(text, decimal)
		switch {
		case ok:
			numbers[k], units[unit] = v, true
		case isInfinite(text):
			infinite = true
		default:
			return alone && c.dates()
		}
	}
	if c.Kind = Mixed; !infinite {
		c.Kind, c.numbers, c.units = Number, numbers, strings.Join(slices.Sorted(maps.Keys(units)), ", ")
		c.range_()
	}
	return true
}

// dates makes a column of texts one of dates, in days since 1970-01-01, if every text is one of the same layout.
func (c *Column) dates() bool {
	days := make([]float64, len(c.texts))
	k := slices.IndexFunc(dateLayouts, func(layout string) bool {
		ok := true
		for i := 0; ok && i < len(days); i++ {
			days[i], ok = parseDate(c.texts[i], layout)
		}
		return ok
	})
	if k < 0 {
		return false
	}
	c.Kind, c.numbers, c.layout = Date, days, dateLayouts[k]
	c.range_()
	return true
}

// range_ notes the least and the largest number of the dictionary.
func (c *Column) range_() {
	for _, v := range c.numbers {
		c.low, c.high = min(c.low, v), max(c.high, v)
	}
}

// currencies are the signs that stand before or after amounts.
var currencies = []string{"$", "€", "£", "¥", "₹", "₩", "CHF", "EUR", "USD", "GBP"}

// Currencies are the signs of currencies that may stand before or after a number.
func Currencies() []string { return slices.Clone(currencies) }

// looseNumber reads a number as people write it: with signs of percent and currency, thousands in groups, a minus of
// typesetters, negative amounts in parentheses, blanks. A share in percent is its number: 12 % is 12.
func looseNumber(text string, decimal byte) (value float64, unit string, ok bool) {
	rest := strings.TrimSpace(text)
	negative := false
	if inner, found := strings.CutPrefix(rest, "("); found {
		if inner, found = strings.CutSuffix(inner, ")"); !found {
			return 0, "", false
		}
		rest, negative = strings.TrimSpace(inner), true
		unit = "parentheses for negative amounts"
	}
	for _, minus := range []string{"−", "–"} {
		if after, found := strings.CutPrefix(rest, minus); found {
			rest = "-" + after
			unit = "other minus signs"
		}
	}
	sign := ""
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		sign, rest = rest[:1], strings.TrimSpace(rest[1:])
	}
	for _, c := range currencies {
		before, found := strings.CutPrefix(rest, c)
		if !found {
			before, found = strings.CutSuffix(rest, c)
		}
		if found {
			rest, unit = strings.TrimSpace(before), "signs of currency"
			break
		}
	}
	if before, found := strings.CutSuffix(rest, "%"); found {
		rest, unit = strings.TrimSpace(before), "percent signs"
	}
	if sign == "" && len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		sign, rest = rest[:1], rest[1:]
	}
	point := "."
	if decimal == ',' {
		point = ","
	}
	for _, group := range []string{",", ".", "'", "’", " ", "\u00a0", "\u202f", "\u2009"} {
		if group != point && strings.Contains(rest, group) && isThousands(rest, []rune(group)[0], decimal) {
			rest = strings.ReplaceAll(rest, group, "")
			if unit == "" {
				unit = "separators of thousands"
			}
			break
		}
	}
	if decimal == ',' {
		if strings.Contains(rest, ".") {
			return 0, "", false
		}
		rest = strings.Replace(rest, ",", ".", 1)
	}
	v, reason := textfile.Number([]byte(sign + rest))
	if reason != "" || rest == "" || rest[0] == '-' || rest[0] == '+' || math.Abs(v) > textfile.LargestEntry {
		return 0, "", false
	}
	if negative {
		v = -v
	}
	return v, unit, true
}

// isThousands says whether a text is a number whose digits stand in groups of three.
func isThousands(text string, group rune, decimal byte) bool {
	text = strings.TrimLeft(text, "+-")
	if at := strings.IndexByte(text, decimal); at >= 0 {
		if strings.Trim(text[at+1:], "0123456789") != "" {
			return false
		}
		text = text[:at]
	}
	groups := strings.Split(text, string(group))
	for k, digits := range groups {
		if strings.Trim(digits, "0123456789") != "" || digits == "" || len(digits) > 3 || k > 0 && len(digits) != 3 {
			return false
		}
	}
	return len(groups) > 1 && groups[0] != "0"
}

// dateLayouts are the forms of dates that are known, in the words of package time. The month comes before the day where
// both are possible.
var dateLayouts = func() []string {
	var all []string
	for _, date := range []string{"2006-01-02", "2006/01/02", "2006.01.02", "1/2/2006", "2/1/2006", "2.1.2006", "1-2-2006",
		"2-1-2006", "2-Jan-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006",
		"January 2 2006", "2Jan2006", "2-Jan-06", "1/2/06", "2/1/06", "2.1.06"} {
		all = append(all, date)
		for _, clock := range []string{"15:04", "15:04:05", "15:04:05Z07:00", "15:04:05 -0700", "15:04:05 GMT",
			"15:04:05 UTC", "3:04 PM", "3:04:05 PM"} {
			all = append(all, date+" "+clock)
			if date == "2006-01-02" {
				all = append(all, date+"T"+clock)
			}
		}
	}
	return append(all, "Jan 2 15:04:05 2006", "2006-01", "2006/01", "Jan 2006", "January 2006", "Jan-2006", "Jan-06",
		"2006 Jan", "2006M01", "2006m1")
}()

// parseDate reads a date, as days since 1970-01-01.
func parseDate(text, layout string) (days float64, ok bool) {
	if text == "" || text[0] >= 'a' && text[0] <= 'z' {
		return 0, false
	}
	date, day := cutWeekday(text)
	at, err := time.Parse(layout, date)
	if err != nil || day != anyDay && at.Weekday() != day {
		return 0, false
	}
	const secondsOfDay = 24 * 60 * 60
	return (float64(at.Unix()) + float64(at.Nanosecond())/1e9) / secondsOfDay, true
}

// anyDay is the weekday of a date that does not say it.
const anyDay time.Weekday = -1

// cutWeekday takes the day of the week away that a date may begin with: Monday, Mon, "Mon." or Tues, and a comma. It
// has to be that of the date, which tells 3/1/2000 from 1/3/2000.
func cutWeekday(text string) (date string, day time.Weekday) {
	end := strings.IndexFunc(text, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') })
	const shortest = 3
	if end < shortest {
		return text, anyDay
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(text[end:], "."), ",")
	date = strings.TrimLeft(rest, " ")
	if len(date) == len(rest) {
		return text, anyDay
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if name := day.String(); end <= len(name) && strings.EqualFold(text[:end], name[:end]) {
			return date, day
		}
	}
	return text, anyDay
}

// isInfinite says whether a text stands for an infinite or a too large number.
func isInfinite(text string) bool {
	word := strings.ToLower(strings.TrimLeft(text, "+-"))
	if word == "inf" || word == "infinity" {
		return true
	}
	v, reason := textfile.Number([]byte(text))
	return reason == "" && math.Abs(v) > textfile.LargestEntry || strings.Contains(reason, "beyond the range")
}

package xlsx

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// readStyles finds the formats of cells that show dates.
func (w *workbook) readStyles(p *part) {
	own := map[string]bool{}
	inCells := false
	for p.next() {
		id := string(p.attribute("numFmtId"))
		switch string(p.name) {
		case "numFmt":
			w.take(64)
			own[id] = showsDate(string(p.attribute("formatCode")))
		case "cellXfs":
			inCells = !p.ends
		case "xf":
			if inCells && p.starts {
				date, found := own[id]
				if !found {
					date = builtIn(id)
				}
				w.take(8)
				w.styles = append(w.styles, date)
			}
		}
	}
}

// builtIn says whether a format that is not written down shows a date, by its number (ISO/IEC 29500-1, 18.8.30). Times
// of a day, shares of it, are numbers.
func builtIn(id string) bool {
	n, _ := strconv.Atoi(id)
	return n >= 14 && n <= 17 || n == 22 || n >= 27 && n <= 31 || n == 36 || n >= 50 && n <= 54 || n == 57 || n == 58
}

// showsDate reads the code of a format: it shows a date if it has a year or a day, or a month without a time. What
// stands in quotes, brackets and after a backslash is not of the code.
func showsDate(code string) bool {
	var letters strings.Builder
	for k := 0; k < len(code) && code[k] != ';'; k++ {
		switch c := code[k]; c {
		case '\\', '_', '*':
			k++
		case '"', '[':
			end := byte('"')
			if c == '[' {
				end = ']'
			}
			at := strings.IndexByte(code[k+1:], end)
			if at < 0 {
				return false
			}
			k += at + 1
		default:
			letters.WriteByte(c | 0x20)
		}
	}
	rest := letters.String()
	if strings.HasPrefix(rest, "general") || rest == "@" {
		return false
	}
	return strings.ContainsAny(rest, "yd") || strings.Contains(rest, "m") && !strings.ContainsAny(rest, "hs0#")
}

// lastDay is the number of 9999-12-31.
const lastDay = 2958466

// date is the time of a number of days, false for none. Day 60 of 1900 is a 29 February that never was: numbers before
// it count from a day later.
func date(days float64, from int) (time.Time, bool) {
	if !(days >= 0 && days < lastDay) {
		return time.Time{}, false
	}
	start := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from == 1904:
		start = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		start = start.AddDate(0, 0, 1)
	}
	whole, part := math.Modf(days)
	const milliseconds = 24 * 60 * 60 * 1000
	return start.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(part*milliseconds)) * time.Millisecond), true
}

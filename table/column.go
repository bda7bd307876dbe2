package table

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// The kinds of columns, by what their cells are.
const (
	Number   = "number"
	Category = "category"
	Date     = "date"
	// Empty is a column whose cells are all missing.
	Empty = "empty"
	// Mixed is a column of numbers and texts that is neither.
	Mixed = "mixed"
)

// Column is a column of a file.
type Column struct {
	// Name is that of the file, or one that says where the column stands.
	Name string
	// Unnamed says that the file has none.
	Unnamed bool
	// Kind is found over all rows.
	Kind string
	// Missing and Texts count cells that are missing and that are texts; the others are numbers.
	Missing, Texts int
	// Constant says that all cells that are not missing, two or more, are the same, or that there are none.
	Constant bool
	// Integer says that all numbers are integers, and Distinct that no two cells are the same and none is missing.
	Integer, Distinct bool
	// Counting says that the cells are 1, 2, 3, .., or 0, 1, 2, ..
	Counting bool

	texts    []string          // the dictionary
	places   map[string]uint32 // of texts in it, while the table is read
	overflow bool              // there were more
	numbers  []float64
	layout   string // of dates
	units    string // what stands around numbers: percent, currency, thousands

	values       int // different numbers of a column of numbers and texts
	nonzero      int
	missingLines []int // the first ones
	textLines    []int
	low, high    float64
	counts       [2]int // cells that are the number of their row, from 0 and from 1
}

// Levels is how many different values a category has.
func (c *Column) Levels() int { return len(c.texts) + c.values }

// code is the number of a text in the dictionary, see addText.
func (c *Column) code(text string, take func(bytes int)) uint32 {
	code, known := c.places[text]
	if known {
		return code
	}
	if c.places == nil {
		c.places = map[string]uint32{}
	}
	if code = c.addText(text, take); code != overflowCode {
		c.places[text] = code
	}
	return code
}

// addText is the number of a further text in the dictionary, whose bytes take counts.
func (c *Column) addText(text string, take func(bytes int)) uint32 {
	if len(c.texts) >= mostTexts {
		c.overflow = true
		return overflowCode
	}
	c.texts = append(c.texts, text)
	take(textBytes + len(text))
	return uint32(len(c.texts) - 1)
}

// count finds out what the columns are, in two passes over the cells.
func (t *Table) count() {
	for j := range t.columns {
		c := &t.columns[j]
		c.places, c.Integer, c.low, c.high = nil, true, math.Inf(1), math.Inf(-1)
	}
	t.sideBySide(len(t.columns), func(from, to int) {
		stored := make([]int, to-from)
		for s := range t.blocks {
			b := &t.blocks[s]
			for k := range b.n {
				i := b.first + k
				index, cells := b.row(k, len(t.columns))
				if index == nil {
					cells = cells[from:to]
				}
				for at, v := range cells {
					j := from + at
					if index != nil {
						j = int(index[at])
					}
					stored[j-from]++
					c := &t.columns[j]
					if v == v {
						c.number(v, i)
					} else {
						c.other(v, b.lineOf(k))
					}
				}
			}
		}
		for j := from; j < to; j++ {
			c := &t.columns[j]
			if zeros := t.rows - stored[j-from]; zeros > 0 {
				c.low, c.high = min(c.low, 0), max(c.high, 0)
				if zeros == 1 {
					c.counts[0]++ // that is the first row, or others do not count
				}
			}
			t.settle(j)
		}
	})
}

// number counts a cell.
func (c *Column) number(v float64, i int) {
	if v != 0 {
		c.nonzero++
	}
	if v < c.low {
		c.low = v
	}
	if v > c.high {
		c.high = v
	}
	if c.Integer && v != math.Trunc(v) {
		c.Integer = false
	}
	if v == float64(i) {
		c.counts[0]++
	} else if v == float64(i+1) {
		c.counts[1]++
	}
}

// other counts a cell that is no number.
func (c *Column) other(v float64, line int) {
	if isMissing(v) {
		if c.Missing++; len(c.missingLines) < firstLines {
			c.missingLines = append(c.missingLines, line)
		}
		return
	}
	if c.Texts++; len(c.textLines) < firstLines {
		c.textLines = append(c.textLines, line)
	}
}

// settle decides what a column is.
func (t *Table) settle(j int) {
	c := &t.columns[j]
	numbers := t.rows - c.Missing - c.Texts
	switch {
	case c.Missing == t.rows:
		c.Kind, c.Constant = Empty, true
	case c.Texts == 0:
		c.Kind = Number
	case c.overflow:
		c.Kind = Category
		if numbers > 0 {
			c.Kind = Mixed
		}
	case c.convert(numbers == 0, t.dialect.Decimal):
		c.Integer = false
	case numbers == 0:
		c.Kind = Category
	default:
		c.values = t.values(j)
		c.Kind = Mixed
		if c.Texts > numbers || t.fewLevels(c, numbers) || c.codes() {
			c.Kind = Category
		}
	}
	several := t.rows-c.Missing > 1
	switch {
	case c.Kind == Number && c.Texts == 0:
		c.Constant = several && c.low == c.high
		c.Counting = c.Missing == 0 && t.rows > 1 && (c.counts[0] == t.rows || c.counts[1] == t.rows)
		c.Distinct = c.Counting || c.Integer && c.Missing == 0 && c.high-c.low >= float64(t.rows-1) && t.distinct(j)
	case numbers == 0 && c.Texts > 0:
		c.Constant = several && len(c.texts) == 1
		c.Distinct = c.Missing == 0 && len(c.texts) == t.rows
	}
}

// Bounds of columns of texts that are categories.
const (
	mostLevels = 50  // with more,
	levelShare = 0.2 // their number is at most this share of the rows
	// A text among so many numbers is no slip where it stands in this share of the rows, or the numbers have few values.
	leastTexts, fewValues = 0.05, 10
)

// fewLevels says whether a column of numbers and texts is a category: it has few values, and the texts are no slips.
func (t *Table) fewLevels(c *Column, numbers int) bool {
	n, levels := float64(numbers+c.Texts), c.Levels()
	return (c.values <= fewValues || float64(c.Texts) >= leastTexts*n) && levels <= mostLevels &&
		float64(levels) <= levelShare*n
}

// values counts the different numbers of a column.
func (t *Table) values(j int) int {
	values := map[float64]bool{}
	for _, v := range t.eachOf(j) {
		if v == v {
			values[v] = true
		}
	}
	return len(values)
}

// code is a text such as 136A or c168, which numbers of things are.
var code = regexp.MustCompile(`^[A-Za-z]*[0-9]+[A-Za-z0-9/?._-]*$`)

// codes says whether a column of integers and texts holds numbers of things: several rows have texts, and all are such.
func (c *Column) codes() bool {
	const several = 3
	return c.Integer && c.low >= 0 && c.Texts >= several &&
		!slices.ContainsFunc(c.texts, func(text string) bool { return !code.MatchString(text) })
}

// distinct says whether all numbers of a column differ.
func (t *Table) distinct(j int) bool {
	seen := make(map[float64]bool)
	for _, v := range t.eachOf(j) {
		if seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// value is the number that a cell of a number or date stands for, NaN where it is missing.
func (c *Column) value(v float64) float64 {
	if v == v {
		return v
	}
	if code, ok := textCode(v); ok && int(code) < len(c.numbers) {
		return c.numbers[code]
	}
	return math.NaN()
}

// level is the text of a cell of a category; false where it is missing.
func (c *Column) level(v float64) (string, bool) {
	if v == v {
		return formatNumber(v), true
	}
	code, ok := textCode(v)
	switch {
	case !ok:
		return "", false
	case int(code) < len(c.texts):
		return c.texts[code], true
	}
	return "(a further text)", true
}

func formatNumber(v float64) string {
	if v == 0 {
		return "0" // also for -0
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// levels are those of a column in the rows, nil for all, in order: numbers by size, then texts by their bytes.
func (t *Table) levels(j int, rows []int) (levels []string, missing int) {
	c := &t.columns[j]
	numbers, texts := map[float64]bool{}, make([]bool, len(c.texts)+1)
	count := func(v float64) {
		switch {
		case v == v:
			numbers[v+0] = true
		case isMissing(v):
			missing++
		default:
			code, _ := textCode(v)
			texts[min(int(code), len(c.texts))] = true
		}
	}
	for _, i := range rows {
		count(t.cell(i, j))
	}
	if rows == nil {
		for _, v := range t.eachOf(j) {
			count(v)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(numbers)) {
		levels = append(levels, formatNumber(v))
	}
	var words []string
	for code, there := range texts[:len(c.texts)] {
		if there {
			words = append(words, c.texts[code])
		}
	}
	slices.Sort(words)
	return append(levels, words...), missing
}

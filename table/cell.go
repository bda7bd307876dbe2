package table

import (
	"math"
	"slices"
)

// A cell is a number, or a quiet NaN whose low bits say what else it is: missing, or the text of a number in the
// dictionary of its column. All numbers of a file are finite, so that v == v says whether one is a number. Cells that
// are not numbers are only copied and compared by their bits, never computed with.
const (
	missingBits  = 0x7ff8_0001_0000_0000
	textBits     = 0x7ff8_0002_0000_0000
	highBits     = 0xffff_ffff_0000_0000
	overflowCode = math.MaxUint32 // a text that the dictionary has no room for
)

var missingCell = math.Float64frombits(missingBits)

func textCell(code uint32) float64 { return math.Float64frombits(textBits | uint64(code)) }

func isMissing(v float64) bool { return math.Float64bits(v) == missingBits }

// textCode returns the number of a text, and whether the cell is one.
func textCode(v float64) (uint32, bool) {
	bits := math.Float64bits(v)
	return uint32(bits), bits&highBits == textBits
}

// byCell is f, asked once for each different cell.
func byCell[V any](f func(v float64) V) func(v float64) V {
	known := map[uint64]V{}
	return func(v float64) V {
		out, ok := known[math.Float64bits(v)]
		if !ok {
			out = f(v)
			known[math.Float64bits(v)] = out
		}
		return out
	}
}

// truth are other spellings of truth values than that of pandas, which they have here: those of R and spreadsheets, and
// of JSON.
var truth = map[string]string{"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}

// spelled is a text with truth values in one spelling, so that a level is the same from every format.
func spelled(text string) string {
	if one, is := truth[text]; is {
		return one
	}
	return text
}

// SpellingsOf are a text and the others that mean the same: truth values have several.
func SpellingsOf(text string) []string {
	list := []string{spelled(text)}
	for other, one := range truth {
		if one == list[0] {
			list = append(list, other)
		}
	}
	slices.Sort(list)
	return list
}

// indexOf is the place of a text among levels or labels, in any spelling of truth values; -1 for none.
func indexOf(levels []string, text string) int {
	return slices.IndexFunc(levels, func(level string) bool { return level == text || spelled(level) == spelled(text) })
}

// meanings are what the cells of a table mean beyond what they look like, while it is read.
type meanings struct {
	table    *Table
	verbatim map[int]bool // columns whose texts stay as they are
	missing  spellings
}

// text is the cell of a text in column j, whose bytes take counts where it is new.
func (m *meanings) text(j int, text string, take func(bytes int)) float64 {
	if !m.verbatim[j] {
		if m.missing.texts[text] {
			return missingCell
		}
		text = spelled(text)
	}
	return textCell(m.table.columns[j].code(text, take))
}

// addRows appends rows of cells to the table, see [Table.addRows]. Numbers that stand for a missing value are missing,
// but in columns that are verbatim.
func (m *meanings) addRows(x []float64, lines []int32) (bytes int) {
	if len(m.missing.numbers) > 0 {
		for k, v := range x {
			if slices.Contains(m.missing.numbers, v) && !m.verbatim[k%len(m.table.columns)] {
				x[k] = missingCell
			}
		}
	}
	return m.table.addRows(x, lines)
}

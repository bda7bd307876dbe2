package table

import (
	"bytes"
	"maps"
	"slices"

	"github.com/conetune/conetune/internal/textfile"
)

// missingTexts are the spellings of missing values beside the empty cell; those with ! or ? at their end are the error
// values of spreadsheets.
var missingTexts = map[string]bool{
	"#DIV/0!": true, "#VALUE!": true, "#REF!": true, "#NUM!": true, "#NAME?": true, "#NULL!": true, "#SPILL!": true,
	"#CALC!": true, "#FIELD!": true, "#BLOCKED!": true, "#CONNECT!": true, "#BUSY!": true,
	"NA": true, "N/A": true, "n/a": true, "#N/A": true, "#NA": true, "<NA>": true, "NaN": true, "nan": true, "NAN": true,
	"-nan": true, "-NaN": true,
	"NaT": true, "NULL": true, "null": true, "Null": true, "None": true, "none": true, "?": true, ".": true,
	"NA_character_": true, "NA_real_": true, "NA_integer_": true,
}

// MissingSpellings are the texts that always stand for a missing value beside the empty one, sorted.
func MissingSpellings() []string { return slices.Sorted(maps.Keys(missingTexts)) }

func missing(cell string) bool { return cell == "" || missingTexts[cell] }

// begins says whether a cell that stands for a missing value, such as #DIV/0!, begins a line of cells: it ends there or
// at one of the separators.
func begins(text []byte, separators string) bool {
	end := bytes.IndexAny(text, separators+"\r\n")
	if end < 0 {
		end = len(text)
	}
	return missingTexts[string(textfile.TrimRight(text[:end]))]
}

// spellings are further texts and numbers that stand for a missing value, see [Options].
type spellings struct {
	texts   map[string]bool
	numbers []float64
}

func newSpellings(list []string) (s spellings) {
	for _, text := range list {
		if s.texts == nil {
			s.texts = map[string]bool{}
		}
		s.texts[text] = true
		if v, n := textfile.Decimal([]byte(text)); n > 0 && n == len(text) {
			s.numbers = append(s.numbers, v)
		}
	}
	return s
}

// clearTexts empties the cells of rows of texts that stand for a missing value.
func (s *spellings) clearTexts(rows [][]string) {
	if len(s.texts) == 0 {
		return
	}
	for _, row := range rows {
		for j, text := range row {
			if s.texts[text] {
				row[j] = ""
			}
		}
	}
}

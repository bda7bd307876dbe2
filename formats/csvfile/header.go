package csvfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// header is the first line of a file.
type header struct {
	line  int
	names []string
}

// plan says what becomes of the columns of a file.
type plan struct {
	names []string // of the columns of the file
	// to holds, for each column, the feature that it is, or toTarget, or skip.
	to       []int
	features []string
	target   string // empty when there is none
	largest  float64
}

const (
	toTarget = -1
	skip     = -2
)

// nameBytes is what a column takes beside the text of its name: in the lists and tables of names.
const nameBytes = 128

func readHeader(s *textfile.Source) (*header, error) {
	for {
		line, err := s.Line()
		if err == io.EOF {
			return nil, s.Errorf(0, "", "is empty, expected a line of column names and lines of numbers")
		}
		if err != nil {
			return nil, err
		}
		if textfile.IsBlank(line) {
			continue
		}
		h := &header{line: s.LineNumber()}
		if err := h.split(s, line); err != nil {
			return nil, err
		}
		return h, h.check(s, line)
	}
}

func (h *header) split(s *textfile.Source, line []byte) error {
	f := fields{rest: line}
	for f.next() {
		if f.reason != "" {
			return s.Errorf(h.line, "column "+strconv.Itoa(len(h.names)+1), "%s", f.reason)
		}
		h.names = append(h.names, string(f.text))
		s.Take(nameBytes + len(f.text))
	}
	return nil
}

// check finds the usual defects of a first line.
func (h *header) check(s *textfile.Source, line []byte) error {
	if len(h.names) == 1 {
		for _, sep := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}} {
			if bytes.Contains(line, []byte(sep.char)) {
				return s.Errorf(h.line, "", "the columns seem to be separated by %s, expected commas", sep.name)
			}
		}
	}
	if column, reason := badNames(h.names); reason != "" {
		field := ""
		if column > 0 {
			field = "column " + strconv.Itoa(column)
		}
		return s.Errorf(h.line, field, "%s", reason)
	}
	return nil
}

// badNames says what is wrong with the names of the columns, and in which one,
// counted from 1; column 0 means all of them. An empty reason means that all is well.
func badNames(names []string) (column int, reason string) {
	numbers, counting := true, true
	first := make(map[string]int, len(names))
	for j, name := range names {
		if name == "" {
			return j + 1, "has no name (if it numbers the rows, leave it out)"
		}
		if before, twice := first[name]; twice {
			return j + 1, fmt.Sprintf("has the name %s of column %d, expected different names", textfile.Quote([]byte(name)), before+1)
		}
		first[name] = j
		numbers = numbers && textfile.IsNumber([]byte(name))
		counting = counting && (name == strconv.Itoa(j) || name == strconv.Itoa(j+1))
	}
	// Columns that are named by their number are fine, a row of data is not.
	if numbers && !counting {
		return 0, "the first line holds numbers, expected the names of the columns"
	}
	return 0, ""
}

// plan finds the target and the features among the columns.
func (h *header) plan(s *textfile.Source, o Options) (*plan, error) {
	p := &plan{names: h.names, to: make([]int, len(h.names)), largest: o.Largest}
	for j := range p.to {
		p.to[j] = skip
	}
	target := slices.Index(h.names, o.Target)
	if o.Target == "" {
		target = slices.Index(h.names, "y")
		if target < 0 && !o.TargetOptional {
			target = 0
		}
	}
	if target < 0 && !o.TargetOptional {
		return nil, s.Errorf(h.line, "", "has no column %s for the target; there are: %s", textfile.Quote([]byte(o.Target)), list(h.names))
	}
	if target >= 0 {
		p.to[target] = toTarget
		p.target = h.names[target]
	}
	if o.Columns != nil {
		return p, p.choose(s, h.line, o.Columns)
	}
	for j, name := range h.names {
		if j != target {
			p.to[j] = len(p.features)
			p.features = append(p.features, name)
		}
	}
	if len(p.features) == 0 {
		return nil, s.Errorf(h.line, "", "has the single column %s, expected a target and at least one feature, separated by commas", textfile.Quote([]byte(h.names[0])))
	}
	return p, nil
}

// choose makes the features the columns with these names.
func (p *plan) choose(s *textfile.Source, line int, columns []string) error {
	at := make(map[string]int, len(p.names))
	for j, name := range p.names {
		at[name] = j
	}
	var missing []string
	for k, name := range columns {
		j, there := at[name]
		switch {
		case !there:
			missing = append(missing, name)
		case p.to[j] == toTarget:
			return s.Errorf(line, "", "the column %s is wanted as a feature and is the target", textfile.Quote([]byte(name)))
		case p.to[j] != skip:
			return s.Errorf(line, "", "the column %s is wanted twice", textfile.Quote([]byte(name)))
		default:
			p.to[j] = k
		}
	}
	if len(missing) > 0 {
		return s.Errorf(line, "", "lacks %d of the %d columns wanted: %s; there are: %s", len(missing), len(columns), list(missing), list(p.names))
	}
	if len(columns) == 0 {
		return s.Errorf(line, "", "no columns are wanted, expected at least one feature")
	}
	p.features = slices.Clone(columns)
	return nil
}

// list quotes the first few names.
func list(names []string) string {
	const most = 20
	var b strings.Builder
	for k, name := range names[:min(most, len(names))] {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(textfile.Quote([]byte(name)))
	}
	if len(names) > most {
		fmt.Fprintf(&b, " and %d more", len(names)-most)
	}
	return b.String()
}

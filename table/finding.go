package table

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// Finding is something about a table that its user should know.
type Finding struct {
	// File is the one that it is about, empty where that goes without saying.
	File string `json:"file"`
	// Kind is a word for programs: dialect, encoding, header, names, rows, columns, date, units, category, missing,
	// target, hint, level, range, error.
	Kind string `json:"kind"`
	// Text is a sentence for people.
	Text string `json:"text"`
	// Columns are those that it is about; empty for the whole table.
	Columns []FoundColumn `json:"columns,omitempty"`
}

// FoundColumn says in how many rows something was found in a column, and on which lines first.
type FoundColumn struct {
	Name  string `json:"name"`
	Count int    `json:"count,omitempty"`
	Lines []int  `json:"lines,omitempty"`
}

// add counts a row, and notes its line as one of the first.
func (f *FoundColumn) add(line int) {
	if f.Count++; len(f.Lines) < firstLines {
		f.Lines = append(f.Lines, line)
	}
}

// follow puts what was found in the rows before in front.
func (f *FoundColumn) follow(before FoundColumn) {
	f.Count += before.Count
	lines := slices.Concat(before.Lines, f.Lines)
	f.Lines = lines[:min(len(lines), firstLines)]
}

// faults is all that is wrong with a table, an error that wraps those of single cells.
type faults struct {
	File string
	List []*formats.Error
}

// Error has a line for each error.
func (e *faults) Error() string {
	if len(e.List) == 1 {
		return e.List[0].Error()
	}
	text := fmt.Sprintf("%s: %d things are wrong", e.File, len(e.List))
	for _, one := range e.List {
		text += "\n" + one.Error()
	}
	return text
}

// Unwrap returns the errors.
func (e *faults) Unwrap() []error {
	list := make([]error, len(e.List))
	for i, one := range e.List {
		list[i] = one
	}
	return list
}

// err is nil where nothing is wrong.
func (e *faults) err() error {
	if len(e.List) == 0 {
		return nil
	}
	return e
}

func (e *faults) add(line int, field, format string, args ...any) {
	e.List = append(e.List, &formats.Error{File: e.File, Line: line, Field: field, Reason: fmt.Sprintf(format, args...)})
}

// oneError is an error about a whole file.
func oneError(file, reason string) *faults {
	e := &faults{File: file}
	e.add(0, "", "%s", reason)
	return e
}

// firstLines is how many lines are told.
const firstLines = 3

// atLines says on which lines something is, of which there are so many.
func atLines(lines []int, count int) string {
	var numbers []string
	for _, line := range lines {
		numbers = append(numbers, strconv.Itoa(line))
	}
	text := words.Plural(count, "line") + " " + words.Joined(numbers)
	if count > len(lines) {
		text += ", .."
	}
	return text
}

func quote(text string) string   { return textfile.Quote([]byte(text)) }
func list(names []string) string { return textfile.Names(names) }

// describe lists columns with what was found in them.
func describe(columns []FoundColumn) string {
	return words.Plural(len(columns), "column") + " " + textfile.List(len(columns), func(k int) string {
		c := &columns[k]
		switch text := quote(c.Name); {
		case c.Count == 0:
			return text
		case len(c.Lines) == 0:
			return fmt.Sprintf("%s (%d)", text, c.Count)
		default:
			return fmt.Sprintf("%s (%d, %s)", text, c.Count, atLines(c.Lines, c.Count))
		}
	})
}

// found is a finding about columns, nothing where there are none.
func found(findings []Finding, kind string, columns []FoundColumn, format string) []Finding {
	if len(columns) == 0 {
		return findings
	}
	return append(findings, Finding{Kind: kind, Text: fmt.Sprintf(format, describe(columns)), Columns: columns})
}

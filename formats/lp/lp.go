// Package lp reads and writes linear and quadratic programs in the LP format of CPLEX, as models of package qps, whose
// formulation and signs are meant.
//
//	Minimize
//	 cost: 2 bread + 3 milk + [ bread ^ 2 + 2 bread * milk ] / 2 + 5
//	Subject To
//	 energy: 4 bread + 5 milk >= 10
//	 weight: 1 <= bread + milk <= 4
//	Bounds
//	 bread <= 2
//	 milk free
//	End
//
// A backslash begins a comment; sections and the words free and inf are written in any case, and sections begin a line.
// Names have no blanks, none of + - * ^ < > = [ ] : \, and begin with no digit and no point. What implementations
// differ on is read as follows.
//
//   - A term that is given twice counts as the sum. Constants in constraints are taken to the right; variables there
//     are an error.
//   - < and =< are <=, and a bound may stand on either side. Bounds are 0 to infinity where none is given; an upper one
//     below 0 leaves the lower one, and a later bound replaces an earlier one of its side.
//   - Sides and bounds of 1e20 and more, and the words inf and infinity, are infinite.
//   - Columns are in the order of their first appearance. Rows without a name are r1, r2, .. by their place.
//   - Quadratic constraints and sections of integers, semicontinuous variables and ordered sets are errors, as is what
//     lacks End.
//
// Every error about a file is a *formats.Error with its line. The source is the description of the format in IBM's
// manual of CPLEX, File formats supported by CPLEX.
package lp

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// Read reads a file, plain or compressed by gzip, bzip2, zstd or zip. The error is a *formats.Error.
func Read(path string) (*qps.Model, error) { return textfile.ReadFile(path, read) }

// Decode reads from r; name stands for the file in messages. The error is a *formats.Error.
func Decode(name string, r io.Reader) (*qps.Model, error) { return textfile.Decode(name, r, read) }

// Encode writes a model such that [Decode] reads the same one, but for its name, for rows without sides, which are left
// out, for those with two, which become two, as some readers have no others, and for names that the format cannot have,
// in the place of which all become x1, .. or r1, .. .
func Encode(w io.Writer, m *qps.Model) error {
	out := bufio.NewWriter(w)
	rows := program.Names(m.Rows, len(m.Rows), "r", isName)
	columns := program.Names(m.Columns, len(m.Columns), "x", isName)
	term := func(v float64, after string) {
		sign := "+"
		if math.Signbit(v) {
			sign, v = "-", -v
		}
		fmt.Fprintf(out, " %s %s %s\n", sign, words.Exact(v), after)
	}
	sense := "Minimize"
	if m.Maximize {
		sense = "Maximize"
	}
	fmt.Fprintf(out, "%s\n obj:\n", sense)
	for j, v := range m.Q {
		term(v, columns[j])
	}
	if m.P != nil && m.P.NNZ() > 0 {
		fmt.Fprintln(out, " + [")
		for j, name := range columns {
			program.Column(m.P, j, func(i int, v float64) {
				if i == j {
					term(v, name+" ^ 2")
				} else {
					term(2*v, columns[i]+" * "+name)
				}
			})
		}
		fmt.Fprintln(out, " ] / 2")
	}
	if m.Constant != 0 {
		term(m.Constant, "")
	}
	fmt.Fprintln(out, "Subject To")
	type entry struct {
		column int
		value  float64
	}
	entries := make([][]entry, len(rows))
	for j := range columns {
		program.Column(m.A, j, func(i int, v float64) { entries[i] = append(entries[i], entry{j, v}) })
	}
	row := func(i int, name, relation string, side float64) {
		fmt.Fprintf(out, " %s:\n", name)
		for _, e := range entries[i] {
			term(e.value, columns[e.column])
		}
		if len(entries[i]) == 0 && len(columns) > 0 {
			term(0, columns[0])
		}
		fmt.Fprintf(out, " %s %s\n", relation, words.Exact(side))
	}
	taken := make(map[string]bool, len(rows))
	for _, name := range rows {
		taken[name] = true
	}
	for i, name := range rows {
		lower, upper := m.RowLower[i], m.RowUpper[i]
		switch above, below := !math.IsInf(lower, -1), !math.IsInf(upper, 1); {
		case lower == upper:
			row(i, name, "=", lower)
		case above && below:
			row(i, name, ">=", lower)
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			row(i, name, "<=", upper)
		case above:
			row(i, name, ">=", lower)
		case below:
			row(i, name, "<=", upper)
		}
	}
	fmt.Fprintln(out, "Bounds")
	for j, name := range columns {
		switch lower, upper := m.ColumnLower[j], m.ColumnUpper[j]; {
		case math.IsInf(lower, -1) && math.IsInf(upper, 1):
			fmt.Fprintf(out, " %s free\n", name)
		case lower == upper:
			fmt.Fprintf(out, " %s = %s\n", name, words.Exact(upper))
		default:
			fmt.Fprintf(out, " %s <= %s <= %s\n", bound(lower), name, bound(upper))
		}
	}
	fmt.Fprintln(out, "End")
	return out.Flush()
}

// bound is a number or an infinity as the format has it.
func bound(v float64) string {
	if math.IsInf(v, 0) {
		return strings.TrimSuffix(fmt.Sprint(v), "Inf") + "inf"
	}
	return words.Exact(v)
}

// isName says that all readers take a word for a name: one that could be a number, or a section, is none for some.
func isName(name string) bool {
	if name == "" || strings.ContainsRune("0123456789.eE", rune(name[0])) || sections[strings.ToLower(name)] != "" {
		return false
	}
	_, infinite := program.IsInfinity([]byte(name))
	return !infinite && !strings.EqualFold(name, "free") && strings.Trim(name, nameLetters) == ""
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.#$%&(),;?@'`{}~!\""

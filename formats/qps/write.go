package qps

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/words"
)

// Encode writes the model in the free format, such that [Decode] reads the same one but for the rounding of upper sides
// of rows with two, which the format has as a length. Names that have blanks, or are missing, become x1, .. and r1, ..,
// all of them. The error is for a row whose lower side is above the upper one.
func (m *Model) Encode(w io.Writer) error {
	rows := program.Names(m.Rows, len(m.RowLower), "r", isWord)
	columns := program.Names(m.Columns, len(m.Q), "x", isWord)
	objective := m.Objective
	for !isWord(objective) || slices.Contains(rows, objective) {
		objective = "obj" + strings.Repeat("_", len(objective))
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "NAME %s\n", strings.Join(strings.Fields(m.Name), "_"))
	if m.Maximize {
		fmt.Fprint(out, "OBJSENSE\n MAX\n")
	}
	fmt.Fprintf(out, "ROWS\n N %s\n", objective)
	sides, ranges := make([]float64, len(rows)), make([]float64, len(rows))
	for i, name := range rows {
		kind, lower, upper := "L", m.RowLower[i], m.RowUpper[i]
		switch {
		case lower > upper:
			return fmt.Errorf("qps: row %s has the sides %g and %g, which the format cannot have", name, lower, upper)
		case lower == upper:
			kind, sides[i] = "E", lower
		case math.IsInf(lower, -1): // without sides it is below what counts as infinite
			sides[i] = math.Min(upper, Infinite)
		default:
			kind, sides[i] = "G", lower
			if !math.IsInf(upper, 1) {
				ranges[i] = upper - lower
			}
		}
		fmt.Fprintf(out, " %s %s\n", kind, name)
	}
	fmt.Fprintln(out, "COLUMNS")
	for j, name := range columns {
		fmt.Fprintf(out, " %s %s %s\n", name, objective, words.Exact(m.Q[j]))
		if m.A != nil {
			program.Column(m.A, j, func(i int, v float64) {
				fmt.Fprintf(out, " %s %s %s\n", name, rows[i], words.Exact(v))
			})
		}
	}
	fmt.Fprintln(out, "RHS")
	if m.Constant != 0 {
		fmt.Fprintf(out, " RHS %s %s\n", objective, words.Exact(-m.Constant))
	}
	for i, v := range sides {
		if v != 0 {
			fmt.Fprintf(out, " RHS %s %s\n", rows[i], words.Exact(v))
		}
	}
	fmt.Fprintln(out, "RANGES")
	for i, v := range ranges {
		if v != 0 {
			fmt.Fprintf(out, " RNG %s %s\n", rows[i], words.Exact(v))
		}
	}
	fmt.Fprintln(out, "BOUNDS")
	for j, name := range columns {
		bound := func(kind string, v float64) { fmt.Fprintf(out, " %s BND %s %s\n", kind, name, words.Exact(v)) }
		switch lower, upper := m.ColumnLower[j], m.ColumnUpper[j]; {
		case lower == upper:
			bound("FX", lower)
		case math.IsInf(lower, -1) && math.IsInf(upper, 1):
			fmt.Fprintf(out, " FR BND %s\n", name)
		default:
			if math.IsInf(lower, -1) {
				fmt.Fprintf(out, " MI BND %s\n", name)
			} else if lower != 0 || upper < 0 {
				bound("LO", lower)
			}
			if !math.IsInf(upper, 1) {
				bound("UP", upper)
			}
		}
	}
	if m.P != nil {
		fmt.Fprintln(out, "QUADOBJ")
		for j := range columns {
			program.Column(m.P, j, func(i int, v float64) {
				fmt.Fprintf(out, " %s %s %s\n", columns[j], columns[i], words.Exact(v))
			})
		}
	}
	fmt.Fprintln(out, "ENDATA")
	return out.Flush()
}

func isWord(name string) bool { return name != "" && !strings.ContainsAny(name, " \t\r\n") }

// FromConic is the model of a linear or quadratic program and a constant of its objective, to be written by
// [Model.Encode]: free columns, and the rows Ax in its order. The error is for other cones than the zero, the
// nonnegative and the box.
func FromConic(p *backends.Problem, constant float64) (*Model, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n, rows := p.Dims()
	m := &Model{P: p.P, Q: p.Q, Constant: constant, A: p.A, RowLower: make([]float64, rows),
		RowUpper: make([]float64, rows), ColumnLower: slices.Repeat([]float64{math.Inf(-1)}, n),
		ColumnUpper: slices.Repeat([]float64{math.Inf(1)}, n)}
	m.Rows, m.Columns = program.Names(nil, rows, "r", isWord), program.Names(nil, n, "x", isWord)
	if m.A == nil {
		m.A = sparse.NewCSC(rows, n, make([]int, n+1), nil, nil)
	}
	for first, cone := range backends.Rows(p.Cones) {
		for i := range cone.Dim {
			if !cone.Kind.Intervals() {
				return nil, fmt.Errorf("qps: the format has no cone of kind %v", cone.Kind)
			}
			lower, upper := cone.Interval(i) // of s = b - Ax
			m.RowLower[first+i], m.RowUpper[first+i] = p.B[first+i]-upper, p.B[first+i]-lower
		}
	}
	return m, nil
}

package qps

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// Write writes the model to a file, gzipped when the path ends in .gz. The file appears whole or not at all.
func Write(path string, m *Model) error { return program.Write(path, m, Encode) }

// Encode writes the model in the free format, the quadratic term as QUADOBJ, and
// numbers with as many digits as it takes to read the same doubles back. Only the
// far side of a row with two finite sides, which the format holds as a width, may
// come back with its last bit changed, where no double is the exact width.
//
// It is an error if a name is empty, has a blank or is there twice; [Model.Rename]
// helps.
func Encode(w io.Writer, m *Model) error {
	if err := m.check(); err != nil {
		return err
	}
	return program.Encode(w, func(out *program.Encoder) {
		e := &encoder{Encoder: out, m: m, objective: m.Objective}
		if e.objective == "" {
			e.objective = freeName(m.Rows)
		}
		e.head()
		e.columns()
		e.sides()
		e.bounds()
		e.quadratic()
		e.Text("ENDATA\n")
	})
}

// freeName returns a name for the objective that no row has.
func freeName(rows []string) string {
	taken := make(map[string]bool, len(rows))
	for _, name := range rows {
		taken[name] = true
	}
	name := "obj"
	for k := 1; taken[name]; k++ {
		name = "obj" + strconv.Itoa(k)
	}
	return name
}

// Rename replaces the names of rows by r1, r2, .., of columns by x1, x2, .. and of
// the objective by obj.
func (m *Model) Rename() {
	m.Objective = "obj"
	for i := range m.Rows {
		m.Rows[i] = "r" + strconv.Itoa(i+1)
	}
	for j := range m.Columns {
		m.Columns[j] = "x" + strconv.Itoa(j+1)
	}
}

// check finds what the format cannot hold.
func (m *Model) check() error {
	rows, n := len(m.Rows), len(m.Columns)
	if m.A == nil || len(m.Q) != n || len(m.RowLower) != rows || len(m.RowUpper) != rows || len(m.ColumnLower) != n || len(m.ColumnUpper) != n {
		return fmt.Errorf("qps: the parts of the model do not fit %d rows and %d columns", rows, n)
	}
	if r, c := m.A.Dims(); r != rows || c != n {
		return fmt.Errorf("qps: A is %d x %d, expected %d x %d", r, c, rows, n)
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"row", append([]string{m.Objective}, m.Rows...)}, {"column", m.Columns}} {
		have := make(map[string]bool, len(list.names))
		for k, name := range list.names {
			if list.what == "row" && k == 0 && name == "" {
				continue // an objective without a name gets one
			}
			switch {
			case name == "" || textfile.HasBlank(name):
				return fmt.Errorf("qps: the %s name %q is empty or has a blank, which the free format cannot hold; see Rename", list.what, name)
			case have[name]:
				return fmt.Errorf("qps: the %s name %q is there twice", list.what, name)
			}
			have[name] = true
		}
	}
	for i, name := range m.Rows {
		if l, u := m.RowLower[i], m.RowUpper[i]; !(l <= u) || math.IsInf(l, 1) || math.IsInf(u, -1) {
			return fmt.Errorf("qps: row %q has the sides [%g, %g], which the format cannot hold", name, l, u)
		} else if tooLarge(l) || tooLarge(u) || twoSided(l, u) && u-l >= Infinite {
			return fmt.Errorf("qps: row %q has the sides [%g, %g], of which %g and more would be read as infinite", name, l, u, Infinite)
		}
	}
	for j, name := range m.Columns {
		if l, u := m.ColumnLower[j], m.ColumnUpper[j]; math.IsNaN(l) || math.IsNaN(u) || math.IsInf(l, 1) || math.IsInf(u, -1) {
			return fmt.Errorf("qps: column %q has the bounds [%g, %g], which the format cannot hold", name, l, u)
		} else if tooLarge(l) || tooLarge(u) {
			return fmt.Errorf("qps: column %q has the bounds [%g, %g], of which %g and more would be read as infinite", name, l, u, Infinite)
		}
	}
	if strings.ContainsAny(m.Name, "\r\n") {
		return fmt.Errorf("qps: the name %q has a line end", m.Name)
	}
	for _, numbers := range [][]float64{m.Q, {m.Constant}, values(m.A), values(m.P)} {
		for _, v := range numbers {
			if !program.Finite(v) {
				return fmt.Errorf("qps: the model holds %g, expected finite numbers", v)
			}
		}
	}
	return nil
}

// tooLarge says whether a finite side would be read as infinite.
func tooLarge(v float64) bool { return !math.IsInf(v, 0) && math.Abs(v) >= Infinite }

func values(a *sparse.CSC) []float64 {
	if a == nil {
		return nil
	}
	return a.RawMatrix().Data
}

// encoder writes the sections.
type encoder struct {
	*program.Encoder
	m         *Model
	objective string
}

// entry writes " head name number".
func (e *encoder) entry(head, name string, v float64) {
	e.Text(" ", head, " ", name, " ")
	e.Number(v)
	e.Text("\n")
}

func (e *encoder) head() {
	e.Text(strings.TrimRight("NAME "+e.m.Name, " ") + "\n")
	if e.m.Maximize {
		e.Text("OBJSENSE\n MAX\n")
	}
	e.Text("ROWS\n N " + e.objective + "\n")
	for i, name := range e.m.Rows {
		e.Text(" " + string(e.kind(i)) + " " + name + "\n")
	}
}

// kind is the type of a row. A row without sides is a G row whose side is infinite.
func (e *encoder) kind(i int) byte {
	l, u := e.m.RowLower[i], e.m.RowUpper[i]
	switch {
	case l == u:
		return 'E'
	case math.IsInf(l, -1) && !math.IsInf(u, 1):
		return 'L'
	case math.IsInf(l, -1) || math.IsInf(u, 1):
		return 'G'
	}
	if _, exact := width(l, u); exact {
		return 'G'
	}
	if _, exact := width(-u, -l); exact || math.Abs(l) > math.Abs(u) {
		return 'L' // the side of smaller size is kept exactly
	}
	return 'G'
}

// width returns the R with l + R = u in doubles, if there is one.
func width(l, u float64) (r float64, exact bool) {
	r = u - l
	for _, near := range [...]float64{r, math.Nextafter(r, 0), math.Nextafter(r, math.Inf(1))} {
		if l+near == u && !math.IsInf(near, 0) {
			return near, true
		}
	}
	return r, false
}

func (e *encoder) columns() {
	e.Text("COLUMNS\n")
	raw := e.m.A.RawMatrix()
	for j, name := range e.m.Columns {
		from, to := raw.Indptr[j], raw.Indptr[j+1]
		if e.m.Q[j] != 0 || from == to {
			e.entry(name, e.objective, e.m.Q[j])
		}
		for k := from; k < to; k++ {
			e.entry(name, e.m.Rows[raw.Ind[k]], raw.Data[k])
		}
	}
}

// sides writes RHS and RANGES.
func (e *encoder) sides() {
	e.Text("RHS\n")
	if e.m.Constant != 0 {
		e.entry("RHS", e.objective, -e.m.Constant)
	}
	ranges := false
	for i, name := range e.m.Rows {
		l, u := e.m.RowLower[i], e.m.RowUpper[i]
		side := l
		if e.kind(i) == 'L' {
			side = u
		}
		if math.IsInf(side, -1) {
			side = -1e30
		}
		if side != 0 {
			e.entry("RHS", name, side)
		}
		ranges = ranges || twoSided(l, u)
	}
	if !ranges {
		return
	}
	e.Text("RANGES\n")
	for i, name := range e.m.Rows {
		if l, u := e.m.RowLower[i], e.m.RowUpper[i]; twoSided(l, u) {
			r, _ := width(l, u)
			if e.kind(i) == 'L' {
				r, _ = width(-u, -l)
			}
			e.entry("RNG", name, r)
		}
	}
}

func twoSided(l, u float64) bool { return l != u && !math.IsInf(l, -1) && !math.IsInf(u, 1) }

func (e *encoder) bounds() {
	e.Text("BOUNDS\n")
	for j, name := range e.m.Columns {
		l, u := e.m.ColumnLower[j], e.m.ColumnUpper[j]
		switch {
		case l == u:
			e.entry("FX BND", name, l)
			continue
		case math.IsInf(l, -1) && math.IsInf(u, 1):
			e.Text(" FR BND " + name + "\n")
			continue
		case math.IsInf(l, -1):
			e.Text(" MI BND " + name + "\n")
		case l != 0 || u < 0: // else UP below zero would take the lower bound away
			e.entry("LO BND", name, l)
		}
		if !math.IsInf(u, 1) {
			e.entry("UP BND", name, u)
		}
	}
}

func (e *encoder) quadratic() {
	if e.m.P == nil {
		return
	}
	e.Text("QUADOBJ\n")
	raw := e.m.P.RawMatrix()
	for j, name := range e.m.Columns {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			e.entry(name, e.m.Columns[raw.Ind[k]], raw.Data[k])
		}
	}
}

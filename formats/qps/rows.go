package qps

import (
	"bytes"
	"math"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
)

// rowLine reads a line of ROWS: a kind and a name.
func (r *reader) rowLine() {
	f := r.words.field
	if r.words.fixed {
		f = [][]byte{r.words.card[0], r.words.card[1]}
	}
	if len(f) != 2 || len(f[0]) != 1 || len(f[1]) == 0 {
		r.fail("ROWS", "expected one of N, L, G, E and a name")
	}
	kind, name := bytes.ToUpper(f[0])[0], string(f[1])
	r.Take(program.Name + len(name))
	if _, twice := r.rows[name]; twice {
		r.fail(quoted("row", f[1]), "is there twice")
	}
	switch kind {
	case 'N':
		if r.m.Objective == "" && (r.wanted == "" || r.wanted == name) {
			r.m.Objective = name
			r.rows[name] = objectiveRow
		} else {
			r.rows[name] = droppedRow
		}
	case 'L', 'G', 'E':
		r.rows[name] = int32(len(r.kinds))
		r.kinds = append(textfile.Grow(r.Source, r.kinds, 1), kind)
		r.m.Rows = append(textfile.Grow(r.Source, r.m.Rows, 1), name)
	default:
		r.fail(quoted("row", f[1]), "has type %s, expected N, L, G or E", textfile.Quote(f[0]))
	}
}

// columnLine reads a line of COLUMNS: a column, and entries of it by rows.
func (r *reader) columnLine() {
	if f := r.words.field; len(f) == 3 && string(f[1]) == "'MARKER'" {
		switch string(f[2]) {
		case "'INTORG'":
			r.fail("COLUMNS", "a marker starts integer columns, which are not supported, expected continuous ones")
		case "'INTEND'":
			return
		}
		r.fail("COLUMNS", "unknown marker %s", textfile.Quote(f[2]))
	}
	head := r.words.pairs()
	if len(head) == 0 {
		r.fail("COLUMNS", "expected a column, a row and a number, and perhaps another row and number")
	}
	entries := r.rowEntries("column", head, program.Number)
	j := r.last
	if j < 0 || r.m.Columns[j] != string(head) {
		if known, ok := r.columns[string(head)]; ok {
			j = int(known)
		} else {
			j = len(r.m.Columns)
			name := string(head)
			r.Take(program.Name + len(name))
			r.columns[name] = int32(j)
			r.m.Columns = append(textfile.Grow(r.Source, r.m.Columns, 1), name)
			r.m.Q = append(textfile.Grow(r.Source, r.m.Q, 1), 0)
		}
	}
	r.last = j
	for _, e := range entries {
		switch e.row {
		case objectiveRow:
			r.m.Q[j] += e.value
		case droppedRow:
		default:
			r.a.Read(r.Source, int(e.row), j, e.value)
		}
	}
}

// rowEntry is a number of a row.
type rowEntry struct {
	row   int32
	value float64
}

// rowEntries looks the names and numbers of the pairs up. What the line is about is
// for messages.
func (r *reader) rowEntries(what string, name []byte, number func([]byte) (float64, string)) []rowEntry {
	out := r.entries[:0]
	for _, p := range r.words.pair {
		i, ok := r.rows[string(p.name)]
		if !ok {
			r.fail(quoted(what, name), "row %s is not in ROWS", textfile.Quote(p.name))
		}
		v, reason := number(p.number)
		if reason != "" {
			r.fail(quoted(what, name), "number of row %s: %s", textfile.Quote(p.name), reason)
		}
		out = append(out, rowEntry{i, v})
	}
	r.entries = out
	return out
}

// sides are the numbers of RHS or RANGES, that of the objective first and then
// those of the rows.
type sides struct {
	set   string // the name of the set that counts, if there is one
	value []float64
	given []bool
}

func (r *reader) rhsLine()   { r.sideLine(&r.rhs, "right-hand side") }
func (r *reader) rangeLine() { r.sideLine(&r.ranges, "range") }

// sideLine reads a line of RHS or RANGES: perhaps the name of a set, and numbers by rows.
func (r *reader) sideLine(to *sides, what string) {
	set := r.words.pairs()
	if len(r.words.pair) == 0 {
		r.fail(r.name, "expected a row and a number, and perhaps the name of the set before them")
	}
	if len(set) > 0 && to.set != "" && string(set) != to.set {
		return // of several sets the first counts
	}
	entries := r.rowEntries(r.name, nil, side)
	if to.set == "" {
		to.set = string(set)
	}
	if to.value == nil {
		to.value, to.given = make([]float64, 1+len(r.kinds)), make([]bool, 1+len(r.kinds))
	}
	for k, e := range entries {
		if e.row == droppedRow {
			continue
		}
		if at := 1 + e.row; to.given[at] && to.value[at] != e.value {
			r.fail(quoted("row", r.words.pair[k].name), "has the %s %g already, now %g", what, to.value[at], e.value)
		} else {
			to.value[at], to.given[at] = e.value, true
		}
	}
}

// rowSides makes the two sides of the rows.
func (r *reader) rowSides() {
	rows := len(r.kinds)
	r.m.RowLower, r.m.RowUpper = make([]float64, rows), make([]float64, rows)
	if r.rhs.value != nil && r.rhs.given[0] {
		if math.IsInf(r.rhs.value[0], 0) {
			r.FailAt(0, "RHS", "the right-hand side of the objective is infinite")
		}
		r.m.Constant = 0 - r.rhs.value[0]
	}
	for i, kind := range r.kinds {
		rhs := 0.0
		if r.rhs.value != nil {
			rhs = r.rhs.value[1+i]
		}
		l, u := rhs, rhs
		switch kind {
		case 'L':
			l = math.Inf(-1)
		case 'G':
			u = math.Inf(1)
		}
		if r.ranges.value != nil && r.ranges.given[1+i] {
			width := r.ranges.value[1+i]
			switch {
			case kind == 'L':
				l = rhs - math.Abs(width)
			case kind == 'G':
				u = rhs + math.Abs(width)
			case width < 0:
				l = rhs + width
			default:
				u = rhs + width
			}
		}
		if math.IsNaN(l) || math.IsNaN(u) || math.IsInf(l, 1) || math.IsInf(u, -1) {
			r.FailAt(0, quoted("row", []byte(r.m.Rows[i])), "has the sides [%g, %g], which are infinite on the wrong side", l, u)
		}
		r.m.RowLower[i], r.m.RowUpper[i] = l, u
	}
}

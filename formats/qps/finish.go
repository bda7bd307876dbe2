package qps

import (
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// finish makes the model out of what was read.
func (r *reader) finish() *Model {
	m := r.m
	n := len(m.Columns)
	if r.wanted != "" && m.Objective == "" {
		r.FailAt(0, "OBJNAME", "there is no row %s of type N", textfile.Quote([]byte(r.wanted)))
	}
	r.rowSides()
	r.defaultBounds()
	if m.Q == nil {
		m.Q = []float64{}
	}
	m.A = r.a.CSC(len(m.Rows), n)
	r.a = program.Entries{}
	r.upperTriangle()
	r.checkFinite()
	return m
}

// checkFinite finds sums of repeated entries that are beyond the range of doubles.
func (r *reader) checkFinite() {
	for j, v := range r.m.Q {
		if !words.Finite(v) {
			r.FailAt(0, quoted("column", []byte(r.m.Columns[j])), "repeated entries of the objective add up to %g", v)
		}
	}
	sections := [...]string{"COLUMNS", r.quadraticName}
	for k, a := range [...]*sparse.CSC{r.m.A, r.m.P} {
		if a == nil {
			continue
		}
		entries := a.RawMatrix().Data
		if at := slices.IndexFunc(entries, func(v float64) bool { return !words.Finite(v) }); at >= 0 {
			r.FailAt(0, sections[k], "repeated entries add up to %g", entries[at])
		}
	}
}

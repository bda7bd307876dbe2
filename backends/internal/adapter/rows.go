package adapter

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/mirror"
)

// Row is a row of a library's problem in terms of rows of ours: its s is By s_Of + ByAlso s_Also + Shift.
type Row struct {
	Of, Also   int // None where there is none
	By, ByAlso float64
	Shift      float64
}

// None is no row.
const None = -1

// Rows is the order in which a library sees the rows of a problem, and what it sees of them: A' = TA and b' = Tb + t.
type Rows struct {
	List []Row

	m       int // our rows
	asGiven bool
}

// Add appends a row that is by s_of + shift of ours.
func (r *Rows) Add(of int, by, shift float64) {
	r.List = append(r.List, Row{Of: of, Also: None, By: by, Shift: shift})
}

// Plain appends our rows from first on as they are.
func (r *Rows) Plain(first, dim int) {
	for i := range dim {
		r.Add(first+i, 1, 0)
	}
}

// Close ends the list, for a problem of m rows.
func (r *Rows) Close(m int) {
	r.m, r.asGiven = m, len(r.List) == m
	for i, row := range r.List {
		r.asGiven = r.asGiven && row == Row{Of: i, Also: None, By: 1}
	}
}

// terms visits those of a row.
func (row Row) terms(visit func(of int, by float64)) {
	if row.Of != None {
		visit(row.Of, row.By)
	}
	if row.Also != None {
		visit(row.Also, row.ByAlso)
	}
}

// Matrix returns A'.
func (r *Rows) Matrix(a *mirror.Matrix) *mirror.Matrix {
	if r.asGiven {
		return a
	}
	type use struct {
		row int
		by  float64
	}
	uses := make([][]use, r.m) // of our rows
	for k, row := range r.List {
		row.terms(func(of int, by float64) { uses[of] = append(uses[of], use{k, by}) })
	}
	var entries backends.Triplets
	for j := range a.Cols {
		for k := a.Ptr[j]; k < a.Ptr[j+1]; k++ {
			for _, u := range uses[a.Ind[k]] {
				entries.Add(u.row, j, u.by*a.Val[k])
			}
		}
	}
	out, _ := entries.CSC(len(r.List), a.Cols) // all are within
	return MatrixOf(out, len(r.List), a.Cols)
}

// Vector returns Tb + t.
func (r *Rows) Vector(b []float64) []float64 {
	out := make([]float64, len(r.List))
	for i, row := range r.List {
		out[i] = row.Shift
		row.terms(func(of int, by float64) { out[i] += by * b[of] })
	}
	return out
}

// Dual returns our z = T'z'.
func (r *Rows) Dual(y []float64) []float64 {
	z := make([]float64, r.m)
	for i, row := range r.List {
		row.terms(func(of int, by float64) { z[of] += by * y[i] })
	}
	return z
}

// Slack returns our s, where rows are in boxes b - Ax taken into them. Of two terms of a row the first has a row of its
// own.
func (r *Rows) Slack(s []float64, p *backends.Problem, x []float64) []float64 {
	out := make([]float64, r.m)
	for i, row := range r.List {
		if row.Of != None && row.Also == None {
			out[row.Of] = (s[i] - row.Shift) / row.By
		}
	}
	for i, row := range r.List {
		if row.Also != None {
			out[row.Also] = (s[i] - row.Shift - row.By*out[row.Of]) / row.ByAlso
		}
	}
	var residual []float64
	for first, c := range backends.Rows(p.Cones) {
		if len(c.Lower) > 0 && residual == nil {
			residual = p.Slack(x)
		}
		for i, l := range c.Lower {
			out[first+i] = min(max(residual[first+i], l), c.Upper[i])
		}
	}
	return out
}

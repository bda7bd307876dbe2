package planted

import (
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// Instance is a conic program in the form of package backends, with dense matrices by rows, which small programs are
// easier to change in.
type Instance struct {
	P     [][]float64 // n x n, symmetric; nil means zero
	Q     []float64
	A     [][]float64 // m x n
	B     []float64
	Cones []backends.Cone
	// Stored says that zeros of P and A are stored as entries, Whole that the program is solved without presolve.
	Stored, Whole bool
}

// Dims returns the number of variables and of rows.
func (in *Instance) Dims() (n, m int) { return len(in.Q), len(in.B) }

func (in *Instance) clone() *Instance {
	out := *in
	out.P, out.A = cloneRows(in.P), cloneRows(in.A)
	out.Q, out.B, out.Cones = slices.Clone(in.Q), slices.Clone(in.B), slices.Clone(in.Cones)
	for k, c := range out.Cones {
		out.Cones[k].Lower, out.Cones[k].Upper = slices.Clone(c.Lower), slices.Clone(c.Upper)
	}
	return &out
}

func cloneRows(a [][]float64) [][]float64 {
	out := slices.Clone(a)
	for i, row := range a {
		out[i] = slices.Clone(row)
	}
	return out
}

// zeroRows is a matrix of zeros.
func zeroRows(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
	}
	return out
}

// column returns column j of a matrix.
func column(a [][]float64, j int) []float64 {
	out := make([]float64, len(a))
	for i, row := range a {
		out[i] = row[j]
	}
	return out
}

// Problem returns the program for a backend. It shares no memory with the instance.
func (in *Instance) Problem() *backends.Problem {
	n, m := in.Dims()
	p := &backends.Problem{Q: slices.Clone(in.Q), B: slices.Clone(in.B), Cones: in.clone().Cones}
	if m > 0 || in.Stored {
		p.A = compress(m, n, false, in.Stored, in.A)
	}
	if in.P != nil {
		p.P = compress(n, n, true, in.Stored, in.P)
	}
	return p
}

// Of returns a program with dense matrices.
func Of(p *backends.Problem) Instance {
	n, m := p.Dims()
	in := Instance{Q: p.Q, A: zeroRows(m, n), B: p.B, Cones: p.Cones}
	if p.A != nil {
		p.A.DoNonZero(func(i, j int, v float64) { in.A[i][j] += v })
	}
	if p.P != nil {
		in.P = zeroRows(n, n)
		p.P.DoNonZero(func(i, j int, v float64) { in.P[i][j], in.P[j][i] = v, v })
	}
	return in
}

// compress returns the columns of a matrix by rows, or of its upper triangle.
func compress(rows, cols int, triangle, stored bool, a [][]float64) *sparse.CSC {
	var entries backends.Triplets
	for i, row := range a {
		for j, v := range row {
			if (v != 0 || stored) && (i <= j || !triangle) {
				entries.Add(i, j, v)
			}
		}
	}
	out, _ := entries.CSC(rows, cols) // all are within
	return out
}

// timesA returns Ax, timesAT A'z, timesP Px.
func (in *Instance) timesA(x []float64) []float64 { return times(in.A, x, len(in.B)) }
func (in *Instance) timesP(x []float64) []float64 { return times(in.P, x, len(in.Q)) }

// times returns the n entries of the product of a matrix, nil for zero, with a vector.
func times(a [][]float64, x []float64, n int) []float64 {
	out := make([]float64, n)
	for i, row := range a {
		out[i] = dot(row, x)
	}
	return out
}

func (in *Instance) timesAT(z []float64) []float64 {
	out := make([]float64, len(in.Q))
	for i, zi := range z {
		if zi != 0 {
			for j, a := range in.A[i] {
				out[j] += a * zi
			}
		}
	}
	return out
}

// each calls f for every cone with the rows that it takes.
func (in *Instance) each(f func(k backends.Cone, from, to int)) {
	for row, k := range backends.Rows(in.Cones) {
		f(k, row, row+k.Dim)
	}
}

// beta is the term of the boxes in the dual objective.
func (in *Instance) beta(z []float64) (total float64) {
	in.each(func(c backends.Cone, from, _ int) {
		for i := range c.Lower {
			if v := z[from+i]; v > 0 {
				total += c.Lower[i] * v
			} else if v < 0 {
				total += c.Upper[i] * v
			}
		}
	})
	return total
}

// dot adds up in twice the precision.
func dot(a, b []float64) float64 {
	var s dense.Sum
	for i, v := range a {
		s.AddProduct(v, b[i])
	}
	return s.Value()
}

// combine returns u + k v.
func combine(u []float64, k float64, v []float64) []float64 {
	out := slices.Clone(u)
	for i := range out {
		out[i] += k * v[i]
	}
	return out
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// Those of package dense.
func maxAbs(v []float64) float64      { return dense.MaxAbs(v) }
func scaleBy(v []float64, by float64) { dense.Scale(v, by) }

// Package tower writes generalized power cones as towers of power cones with three entries, for solvers that
// have no more than those, and for cones so long that a dense block for one is too much.
//
// With weights w_1, .., w_k of sum 1 and the rests r_i = w_i + .. + w_k,
//
//	prod x_i^w_i >= |z|, x >= 0
//
// holds exactly if there are a norm t and partial means u_1, .., u_(k-2) with t >= |z| and, from the top down,
//
//	x_1^a_1 u_1^(1-a_1) >= t,  x_2^a_2 u_2^(1-a_2) >= u_1,  ..,  x_(k-1)^a_(k-1) x_k^(1-a_(k-1)) >= u_(k-2),
//	a_i = w_i/r_i.
//
// The dual cone is the same in x_i/w_i. A z of one entry is its own t, and one weight leaves the second-order cone
// x_1 >= |z|. Each row of the problem stands in one row of the tower, times a factor, so that its multiplier is that of
// the other row times the factor; t and u are variables after those of the problem.
//
// Source: R. Chares, Cones and interior-point algorithms for structured convex optimization involving powers and
// exponentials (2009), who makes power cones of any length of those with three entries.
package tower

import (
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
)

// Tower is the way between a problem and its rewriting. Nil leaves all as it is.
type Tower struct {
	columns, height int   // of the problem
	rows            []row // of its rewriting
	cones           []backends.Cone
	auxiliary       int
}

// row is a row of the problem times a factor or, with auxiliary >= 0, a variable of the tower.
type row struct {
	of        int
	factor    float64
	auxiliary int
}

// New returns the tower for n variables and those of the generalized power cones that are to be rewritten, nil without
// any.
func New(n int, cones []backends.Cone, rewrite func(backends.Cone) bool) *Tower {
	general := func(c backends.Cone) bool {
		return (c.Kind == backends.GeneralizedPowerCone || c.Kind == backends.DualGeneralizedPowerCone) && rewrite(c)
	}
	if !slices.ContainsFunc(cones, general) {
		return nil
	}
	t := &Tower{columns: n}
	for _, c := range cones {
		if general(c) {
			t.add(c)
		} else {
			t.plain(c.Dim)
			t.cones = append(t.cones, c)
		}
	}
	return t
}

// plain takes the next rows of the problem over.
func (t *Tower) plain(rows int) {
	for range rows {
		t.rows = append(t.rows, row{of: t.height, factor: 1, auxiliary: -1})
		t.height++
	}
}

func (t *Tower) newVariable() row {
	t.auxiliary++
	return row{auxiliary: t.auxiliary - 1}
}

// add rewrites the next cone of the problem.
func (t *Tower) add(c backends.Cone) {
	k := len(c.Weights)
	x := make([]row, k)
	for i, w := range c.Weights {
		if x[i] = (row{of: t.height + i, factor: 1, auxiliary: -1}); c.Kind == backends.DualGeneralizedPowerCone {
			x[i].factor = 1 / w
		}
	}
	t.height += k
	above := row{of: t.height, factor: 1, auxiliary: -1}
	switch z := c.Dim - k; {
	case k == 1:
		t.cones, t.rows = append(t.cones, backends.SecondOrder(c.Dim)), append(t.rows, x[0])
		t.plain(z)
	case z == 1:
		t.height++
	default:
		above = t.newVariable()
		t.cones, t.rows = append(t.cones, backends.SecondOrder(1+z)), append(t.rows, above)
		t.plain(z)
	}
	rest := slices.Clone(c.Weights)
	for i := k - 2; i >= 0; i-- {
		rest[i] += rest[i+1]
	}
	for i := range k - 1 {
		a := min(c.Weights[i]/rest[i], 1-0x1p-53)
		below := x[k-1]
		if i < k-2 {
			below = t.newVariable()
		}
		t.cones, t.rows = append(t.cones, backends.Power(a)), append(t.rows, x[i], below, above)
		above = below
	}
}

// Problem returns the rewriting of the problem. P and q may share memory with it.
func (t *Tower) Problem(p *backends.Problem) *backends.Problem {
	if t == nil {
		return p
	}
	out := &backends.Problem{Q: t.Objective(p.Q), A: t.matrix(p.A), B: t.Rows(p.B), Cones: t.cones}
	if n := t.columns + t.auxiliary; p.P != nil {
		raw := p.P.RawMatrix()
		ends := slices.Concat(raw.Indptr, slices.Repeat(raw.Indptr[t.columns:], t.auxiliary))
		out.P = sparse.NewCSC(n, n, ends, raw.Ind, raw.Data)
	}
	return out
}

// Objective returns q of the rewriting.
func (t *Tower) Objective(q []float64) []float64 {
	if t == nil {
		return q
	}
	return append(slices.Clone(q), make([]float64, t.auxiliary)...)
}

// Rows returns b of the rewriting, or s without those of its variables.
func (t *Tower) Rows(b []float64) []float64 {
	if t == nil {
		return b
	}
	out := make([]float64, len(t.rows))
	for k, r := range t.rows {
		if r.auxiliary < 0 {
			out[k] = r.factor * b[r.of]
		}
	}
	return out
}

func (t *Tower) matrix(a *sparse.CSC) *sparse.CSC {
	place := make([]int, t.height) // in the rewriting
	var entries backends.Triplets
	for k, r := range t.rows {
		if r.auxiliary < 0 {
			place[r.of] = k
		} else { // s = 0 - (-u)
			entries.Add(k, t.columns+r.auxiliary, -1)
		}
	}
	if a != nil {
		raw := a.RawMatrix()
		for j := range t.columns {
			for at := raw.Indptr[j]; at < raw.Indptr[j+1]; at++ {
				k := place[raw.Ind[at]]
				entries.Add(k, j, t.rows[k].factor*raw.Data[at])
			}
		}
	}
	out, _ := entries.CSC(len(t.rows), t.columns+t.auxiliary) // all are within
	return out
}

// Recover returns the parts of a point or a certificate of the rewriting that are of the problem. Parts may be nil.
func (t *Tower) Recover(p backends.Point) backends.Point {
	if t == nil {
		return p
	}
	var out backends.Point
	if p.X != nil {
		out.X = slices.Clone(p.X[:t.columns])
	}
	read := func(v []float64, times func(v, factor float64) float64) []float64 {
		if v == nil {
			return nil
		}
		to := make([]float64, t.height)
		for k, r := range t.rows {
			if r.auxiliary < 0 {
				to[r.of] = times(v[k], r.factor)
			}
		}
		return to
	}
	out.S = read(p.S, func(v, factor float64) float64 { return v / factor })
	out.Z = read(p.Z, func(v, factor float64) float64 { return v * factor })
	return out
}

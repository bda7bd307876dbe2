package fits

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/lowertest"
)

// conicPart is a fit, or one of its folds, in a conic model: its variables, losses, and penalties in the order of its
// radii, one or more in each entry.
type conicPart struct {
	X                 []*convex.Variable
	Validation, Train convex.Expr
	Penalties         []convex.Expr
}

// conic is the solution of a conic program: the lower level within radii, with its multipliers, or a subproblem, with
// that of V <= t.
type conic struct {
	Value     float64
	X         [][][]float64 // of each part
	R, Lambda []float64
	M0        float64
}

// conicWithin solves the lower level of a part within radii r.
func conicWithin(t testing.TB, build func(m *convex.Model) conicPart, r []float64) conic {
	t.Helper()
	m := convex.NewModel()
	p := build(m)
	rows := p.rows(m, convex.Const(r))
	m.Minimize(p.Train)
	res := lowertest.Conic(t, m, 1e-9)
	out := conic{Value: res.Objective, X: [][][]float64{p.values(res)}, R: r}
	for _, row := range rows {
		out.Lambda = append(out.Lambda, res.Dual(row)...)
	}
	return out
}

// conicSubproblem solves the subproblem c of the parts.
func conicSubproblem(t testing.TB, c *bilevel.Centre, build func(m *convex.Model, k int) conicPart) conic {
	t.Helper()
	m := convex.NewModel()
	h, top := m.Vector("r", len(c.R)), m.Vector("t", 1)
	share, move := 1/float64(len(c.X)), convex.Sub(h, c.R)
	ones := mat.NewDense(len(c.R), 1, slices.Repeat([]float64{1}, len(c.R)))
	prox, objective := convex.SumSquares(move), convex.Scale(c.Alpha, top)
	above := convex.Sub(convex.Dot(c.Gamma, move), c.Value+c.Epsilon)
	parts := make([]conicPart, len(c.X))
	for k, x := range c.X {
		p := build(m, k)
		for i, v := range p.X {
			prox = convex.Add(prox, convex.SumSquares(convex.Sub(v, x[i])))
		}
		objective, above = convex.Add(objective, convex.Scale(share, p.Validation)), convex.Add(above,
			convex.Scale(share, p.Train))
		p.rows(m, convex.Add(h, convex.Mul(ones, top)))
		parts[k] = p
	}
	row := m.Le("", above, top)
	m.Ge("", top, 0)
	m.Ge("", h, c.Low)
	for j, v := range c.High {
		if !math.IsInf(v, 1) {
			m.Ge("", v, convex.At(h, j))
		}
	}
	m.Minimize(convex.Add(objective, convex.Scale(c.Rho/2, prox)))
	res := lowertest.Conic(t, m, 1e-9)
	out := conic{Value: res.Objective, R: res.Value(h), M0: res.Dual(row)[0]}
	for _, p := range parts {
		out.X = append(out.X, p.values(res))
	}
	return out
}

// rows bounds the penalties.
func (p *conicPart) rows(m *convex.Model, bounds convex.Expr) (rows []*convex.Constraint) {
	from := 0
	for _, f := range p.Penalties {
		rows = append(rows, m.Le("", f, convex.Slice(bounds, from, from+f.Len())))
		from += f.Len()
	}
	return rows
}

func (p *conicPart) values(res *convex.Result) (x [][]float64) {
	for _, v := range p.X {
		x = append(x, res.Value(v))
	}
	return x
}

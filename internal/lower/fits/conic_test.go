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
	Validation, Train convex.Convex
	Penalties         []convex.Convex
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
	rows := p.rows(m, convex.Const(r...))
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
	h, top := m.Variable("r", len(c.R)), m.Variable("t", 1)
	share, move := 1/float64(len(c.X)), h.Expr().Minus(convex.Const(c.R...))
	ones := mat.NewDense(len(c.R), 1, slices.Repeat([]float64{1}, len(c.R)))
	prox, objective := convex.SumSquares(move), convex.Linear(top.Expr().Scale(c.Alpha))
	above := convex.Linear(move.Dot(c.Gamma).Minus(convex.Const(c.Value + c.Epsilon)))
	parts := make([]conicPart, len(c.X))
	for k, x := range c.X {
		p := build(m, k)
		for i, v := range p.X {
			prox = prox.Plus(convex.SumSquares(v.Expr().Minus(convex.Const(x[i]...))))
		}
		objective, above = objective.Plus(p.Validation.Scale(share)), above.Plus(p.Train.Scale(share))
		p.rows(m, h.Expr().Plus(top.Expr().MulMat(ones)))
		parts[k] = p
	}
	row := convex.LessEqual(above, top.Expr())
	m.Constrain(row, convex.GreaterEqual(top.Expr(), convex.Const(0)), convex.GreaterEqual(h.Expr(),
		convex.Const(c.Low...)))
	for j, v := range c.High {
		if !math.IsInf(v, 1) {
			m.Constrain(convex.GreaterEqual(convex.Const(v), h.Expr().At(j)))
		}
	}
	m.Minimize(objective.Plus(prox.Scale(c.Rho / 2)))
	res := lowertest.Conic(t, m, 1e-9)
	out := conic{Value: res.Objective, R: res.Value(h), M0: res.Dual(row)[0]}
	for _, p := range parts {
		out.X = append(out.X, p.values(res))
	}
	return out
}

// rows bounds the penalties.
func (p *conicPart) rows(m *convex.Model, bounds convex.Affine) (rows []*convex.Constraint) {
	from := 0
	for _, f := range p.Penalties {
		rows = append(rows, convex.LessEqual(f, bounds.Slice(from, from+f.Len())))
		from += f.Len()
	}
	m.Constrain(rows...)
	return rows
}

func (p *conicPart) values(res *convex.Result) (x [][]float64) {
	for _, v := range p.X {
		x = append(x, res.Value(v))
	}
	return x
}

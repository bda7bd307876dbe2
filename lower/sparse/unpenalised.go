package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/lower/design"
)

// trivial is the solution with the features alone that are not penalised, and the intercept.
type trivial struct {
	columns []int     // of these features, one of which is [design.Ones] where there is an intercept
	b       []float64 // their coefficients
	slopes  []float64 // minus the derivatives of the loss, orthogonal to the columns that are not at a bound
}

// unpenalised fits what has no penalty, and leaves out what depends on the rest of it.
func (g *smooth) unpenalised(full Terms) error {
	var rest trivial
	if g.intercept {
		rest.columns = append(rest.columns, design.Ones)
	}
	var basis basis
	if g.intercept {
		basis.q = append(basis.q, constantColumn(len(g.y)))
	}
	for j := range g.x.Columns() {
		if !g.terms.always(j) {
			continue
		}
		if basis.grow(g.x, j) {
			rest.columns = append(rest.columns, j)
			continue
		}
		if g.terms.lower == nil {
			g.terms.lower, g.terms.upper = full.Lower, full.Upper
		}
		g.terms.lower[j], g.terms.upper[j] = 0, 0
	}
	rest.b = make([]float64, len(rest.columns))
	if g.intercept {
		rest.b[0] = g.b0
	}
	g.trivial = rest
	if len(rest.columns) == 0 || g.intercept && len(rest.columns) == 1 {
		g.trivial.slopes = g.slopesAt(g.trivial.b)
		return nil
	}
	return g.fitTrivial()
}

// basis is an orthonormal basis of columns.
type basis struct{ q [][]float64 }

// remove takes the part in the span of the basis out of v.
func (q *basis) remove(v []float64) {
	for _, e := range q.q {
		floats.AddScaled(v, -floats.Dot(e, v), e)
	}
}

func constantColumn(n int) []float64 {
	v := make([]float64, n)
	floats.AddConst(1/math.Sqrt(float64(n)), v)
	return v
}

// dependent is the share of a column that is orthogonal to others up to which it counts as depending on them.
const dependent = 1e-9

// grow adds what column j has beside the basis, and says whether that is something.
func (q *basis) grow(x *design.Matrix, j int) bool {
	v := make([]float64, x.Rows())
	x.Axpy(1, j, v)
	before := floats.Norm(v, 2)
	for range 2 { // twice is enough (Kahan, Parlett)
		q.remove(v)
	}
	after := floats.Norm(v, 2)
	if !(after > dependent*before) {
		return false
	}
	floats.Scale(1/after, v)
	q.q = append(q.q, v)
	return true
}

// slopesAt are minus the derivatives of the loss at coefficients of the columns of the trivial solution.
func (g *smooth) slopesAt(b []float64) []float64 {
	u := g.trivial.predict(g.x, b)
	for i, v := range u {
		u[i] = g.slope(i, v)
	}
	return u
}

// predict is X b over the columns.
func (t *trivial) predict(x *design.Matrix, b []float64) []float64 {
	f := make([]float64, x.Rows())
	for k, j := range t.columns {
		if j == design.Ones {
			floats.AddConst(b[k], f)
		} else {
			x.Axpy(b[k], j, f)
		}
	}
	return f
}

const (
	// trivialSteps bounds the Newton steps to the trivial solution, trivialRounding is what the objective falls by at the last one, relative to it.
	trivialSteps, trivialRounding = 100, 1e-15
	// nothing is the share of the loss at zero that is nothing, where curvatures vanish with the loss; with squares it is nothingLeft.
	nothing, nothingLeft = 1e-6, 1e-20
)

// fitTrivial finds the trivial solution by Newton steps within the bounds.
func (g *smooth) fitTrivial() error {
	t, n := &g.trivial, float64(len(g.y))
	value := func(b []float64) float64 { return g.total(t.predict(g.x, b)) }
	at := value(t.b)
	k := len(t.columns)
	problem := quadratic{box: g.terms.of(t.columns)}
	problem.resize(k)
	clear(problem.w)
	for range trivialSteps {
		u := g.slopesAt(t.b)
		curvature := make([]float64, len(u))
		for i, v := range u {
			curvature[i] = math.Max(leastCurvature, g.curvature(i, v))
		}
		for i, row := range g.x.Gram(context.Background(), t.columns, curvature, 1) {
			floats.Scale(1/n, row)
			copy(problem.a[i*k:], row)
			problem.q[i] = floats.Dot(row, t.b) + dot(g.x, t.columns[i], u)/n
		}
		to := append([]float64(nil), t.b...)
		if !problem.solve(context.Background(), to) {
			return fmt.Errorf("sparse: the %d features without a penalty depend on each other within their bounds", k)
		}
		next := value(to)
		for range 50 {
			if next <= at {
				break
			}
			for i, v := range t.b {
				to[i] = (to[i] + v) / 2
			}
			next = value(to)
		}
		fall := at - next
		if fall >= 0 {
			t.b, at = to, next
		}
		if fall <= trivialRounding*at {
			break
		}
	}
	t.slopes = g.slopesAt(t.b)
	share := nothing
	if g.quadratic {
		share = nothingLeft
	}
	if g.scale = at; !(at > share*value(make([]float64, k))) {
		return fmt.Errorf("sparse: the features without a penalty explain the targets by themselves; penalise some of them")
	}
	return nil
}

// dot is x_j'v, for an intercept the sum of v.
func dot(x *design.Matrix, j int, v []float64) float64 {
	if j == design.Ones {
		return floats.Sum(v)
	}
	return x.Dot(j, v)
}

// balanced changes slopes u such that they are orthogonal to the columns without a penalty that are not bounded on the side to which they would
// move, and stay slopes of the loss: by less the nearer they are to that.
func (g *smooth) balanced(u []float64) []float64 {
	a := append([]float64(nil), u...)
	t := &g.trivial
	if len(t.columns) == 0 {
		return a
	}
	if t.columns[len(t.columns)-1] == design.Ones {
		g.balance(a)
		return a
	}
	held := make([]bool, len(t.columns))
	for k, j := range t.columns {
		if held[k] = true; j != design.Ones {
			lo, hi := g.terms.room(j)
			held[k] = math.IsInf(lo, -1) && math.IsInf(hi, 1)
		}
	}
	for grew := true; grew; {
		if a = g.orthogonal(u, held); a == nil {
			return append([]float64(nil), t.slopes...)
		}
		grew = false
		for k, j := range t.columns {
			if held[k] {
				continue
			}
			lo, hi := g.terms.room(j)
			c := g.x.Dot(j, a)
			if c > 0 && math.IsInf(hi, 1) || c < 0 && math.IsInf(lo, -1) {
				held[k], grew = true, true
			}
		}
	}
	g.inRange(a)
	return a
}

// orthogonal takes from u what columns have of it, weighted by the curvatures, which is what one Newton step on these columns would; nil where they depend on
// each other.
func (g *smooth) orthogonal(u []float64, held []bool) []float64 {
	var set []int
	for k, j := range g.trivial.columns {
		if held[k] {
			set = append(set, j)
		}
	}
	d, a := make([]float64, len(u)), append([]float64(nil), u...)
	for i, v := range u {
		d[i] = g.curvature(i, v)
	}
	gram := g.x.Gram(context.Background(), set, d, 1)
	var f factor.Definite
	if !f.Factor(len(set), func(j int, column []float64) {
		for i := j; i < len(set); i++ {
			column[i] = gram[i][j]
		}
	}) {
		return nil
	}
	part := trivial{columns: set}
	for range 2 { // the second time is for rounding
		z := make([]float64, len(set))
		for k, j := range set {
			z[k] = dot(g.x, j, a)
		}
		f.Solve(z)
		for i, v := range part.predict(g.x, z) {
			a[i] -= d[i] * v
		}
	}
	return a
}

// inRange goes from a towards the slopes of the trivial solution until all are slopes of the loss.
func (g *smooth) inRange(a []float64) {
	share := 0.0
	for i, v := range a {
		low, high := g.slopes(i)
		to := g.trivial.slopes[i]
		switch {
		case v > high:
			share = math.Max(share, (v-high)/(v-to))
		case v < low:
			share = math.Max(share, (low-v)/(to-v))
		}
	}
	if share = math.Min(1, share); share > 0 {
		for i, v := range g.trivial.slopes {
			a[i] += share * (v - a[i])
		}
	}
}

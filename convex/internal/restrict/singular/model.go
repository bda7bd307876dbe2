package singular

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// model is the Lagrangian of a program in a matrix variable alone, around a point X1 with the gradient G of all but the
// norm,
//
//	<G, X - X1> + 1/2 sum_r w_r (a_r'(X - X1))^2 + whole/2 |X - X1|^2 + g |X|_*,
//
// with the rows a_r of squares in which X stands, and whole of those that are multiples of X.
type model struct {
	mv    *compile.MatrixVariable
	parts []affine.Expr // what of X stands in a curve
	curve []int         // of each part

	whole  []int     // the curves that are multiples of X, and
	factor []float64 // the squares of the multiples

	last, step []float64 // the last minimum and what it differs by from the one before, nil where there are none
}

const (
	// modelSteps bounds the proximal steps on a model.
	modelSteps = 200
	// modelShare of the first of them is what the last one still moves.
	modelShare = 0.1
	// mostAhead bounds how far the minima are extrapolated.
	mostAhead = 30
)

// newModel collects the squares in which the matrix stands. What has parameters as factors is left out.
func newModel(p *compile.Program, mv *compile.MatrixVariable) *model {
	m := &model{mv: mv}
	for c := range p.Curves {
		arg := &p.Curves[c].Arg
		if arg.Whole() && arg.Vars[0].V == mv.V {
			m.whole, m.factor = append(m.whole, c), append(m.factor, arg.Vars[0].Scale*arg.Vars[0].Scale)
			continue
		}
		part := affine.Expr{N: arg.N}
		for _, t := range arg.Vars {
			if t.V == mv.V && t.W == nil {
				part.Vars = append(part.Vars, t)
			}
		}
		if part.Vars != nil {
			m.parts, m.curve = append(m.parts, part), append(m.curve, c)
		}
	}
	return m
}

// minimise takes accelerated proximal steps (Nesterov, Introductory Lectures on Convex Optimization, 2.2.1) from x and
// returns the singular pairs of the last point before its values were lowered, a few more than are in use: those that
// are next to enter. weights are those of the curves.
func (m *model) minimise(x, gradient []float64, g float64, weights []float64) triplets {
	convexity := 0.0
	for k, c := range m.whole {
		convexity += 2 * weights[c] * m.factor[k]
	}
	smoothness := convexity + m.largest(weights)
	if smoothness == 0 { // the model is linear: any length of steps
		smoothness = floats.Norm(gradient, 2) / math.Max(1, floats.Norm(x, 2))
	}
	root := math.Sqrt(convexity / smoothness)
	last, ahead, to := slices.Clone(x), slices.Clone(x), make([]float64, len(x))
	first := 0.0
	for step := 1; ; step++ {
		m.slope(to, x, ahead, weights)
		for e, v := range ahead {
			to[e] = v - (gradient[e]+to[e]+convexity*(v-x[e]))/smoothness
		}
		t := leading(to, m.mv.Rows, g/smoothness, min(m.mv.Rows, m.mv.Cols))
		low := triplets{slices.Clone(t.s), t.u, t.v}
		floats.AddConst(-g/smoothness, low.s)
		next := low.matrix(m.mv.Rows, m.mv.Cols)
		moved := floats.Distance(next, ahead, 2)
		if step == 1 {
			first = moved
		}
		if moved <= modelShare*first || step == modelSteps {
			m.extrapolate(to)
			return leading(to, m.mv.Rows, 0, (len(t.s)+2+sizePairs-1)/sizePairs*sizePairs)
		}
		push := math.Min((1-root)/(1+root), float64(step-1)/float64(step+2))
		for e, v := range next {
			ahead[e] = v + push*(v-last[e])
		}
		last = next
	}
}

// extrapolate goes on from the last minima as far as a geometric series of their differences would (Aitken): the
// multipliers and the other variables, which a model leaves where they are, follow X slowly.
func (m *model) extrapolate(x []float64) {
	now, step := slices.Clone(x), []float64(nil)
	if m.last != nil {
		step = floats.SubTo(make([]float64, len(x)), x, m.last)
		if m.step != nil {
			if rate := floats.Dot(step, m.step) / floats.Dot(m.step, m.step); rate > 0.3 && rate < 1 {
				floats.AddScaled(x, math.Min(rate/(1-rate), mostAhead), step)
				now, step = nil, nil
			}
		}
	}
	m.last, m.step = now, step
}

// slope sets out to the gradient of the rows' squares at z.
func (m *model) slope(out, x, z, weights []float64) {
	clear(out)
	step := floats.SubTo(make([]float64, len(x)), z, x)
	for k := range m.parts {
		a := &m.parts[k]
		rows := make([]float64, a.N)
		a.Forward(rows, nil, func(*affine.Variable) []float64 { return step })
		a.Adjoint(2*weights[m.curve[k]], rows, nil, func(*affine.Variable) []float64 { return out })
	}
}

// largest is a bound of the largest eigenvalue of the squares' second derivative: the largest sum of absolute entries
// in a row of it.
func (m *model) largest(weights []float64) float64 {
	sums := make([]float64, m.mv.V.N)
	for k, a := range m.parts {
		rows := make([]float64, a.N)
		for _, t := range a.Vars {
			t.EachEntry(func(r, _ int, v float64) { rows[t.Row(r)] += math.Abs(v) })
		}
		for _, t := range a.Vars {
			t.EachEntry(func(r, j int, v float64) { sums[j] += 2 * weights[m.curve[k]] * rows[t.Row(r)] * math.Abs(v) })
		}
	}
	return slices.Max(sums)
}

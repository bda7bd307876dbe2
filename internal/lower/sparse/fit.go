package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// Fit is a penalised regression of training rows, perhaps with validation rows in it, with coefficients b_jk of
// feature j and class k, of which most losses have one, and constants b0_k,
//
//	minimize over b (and b0)   v L(b, b0) + t l(b, b0) + rho/2 (|b - c|^2 + |b0 - c0|^2)
//	                         + sum_j f_j sum_k (w1 |b_jk| + w2/2 b_jk^2),
//
// with L and l means of a loss over the rows of each set, as subproblems of VF-iDCA have it, see [bilevel.Joint]; alone
// it has t = 1, v = rho = 0. The factors f and bounds of the coefficients are those of [Terms]. Constants of several
// classes add up to 0, and so do the coefficients of a feature without penalty and bounds. Solves do not change a fit,
// and may run at the same time.
//
// # Method
//
// Fits of training rows alone are those of package glm. In joint ones the losses are replaced by their models to second
// order, whose matrices over a working set of entries are formed once; for squares they are exact for ever, and else
// they are formed anew at each point (proximal Newton steps: Lee, Sun, Saunders, SIAM J. Optim. 24, 2014). Over the
// working set the problem then is one of its order whatever the rows, see [glm.Quadratic]. Entries that are missing are
// found by their derivatives.
//
// The gap is by the bound of package glm, see [glm.Data.Gap]; with rho > 0 by strong convexity.
type Fit struct {
	sets      [2]*rowSet // validation, nil for none, and training
	p, k      int        // features, and coefficients of each
	all       []int      // entries, the constants after the coefficients
	kept      []int      // the penalties of joint fits: 0 is that of w1, 1 that of w2
	intercept bool
	quadratic bool // the loss is squares
	adds      bool // the loss is a sum over rows
	terms     Terms
	start     []float64 // the solution with what has no penalty alone
	scale     float64   // the objective there
	null      float64   // without coefficients
	top       float64   // LambdaMax
	data      *glm.Data // a single fold that leaves nothing out
}

// The sets of a [Fit].
const (
	validating = iota
	training
)

const (
	// mostFactor is how many times as large as at zero coefficients derivatives are taken to be at most.
	mostFactor = 1e9
	// rounded is a share of the loss at zero that is rounding, and nothing that where curvatures vanish with the loss;
	// with squares nothingLeft is both.
	rounded, nothing, nothingLeft = 1e-13, 1e-6, 1e-20
	// dependent is the share of a column that is orthogonal to others up to which it counts as depending on them.
	dependent = 1e-9
)

// New takes the loss of training rows, nil for half the squares of y - f, see [glm.Loss], with the terms of single
// features, and of squares perhaps lists of features that have norms together, for [Fit.Solve]. Logistic losses need
// both labels if there is an intercept, Poisson's a positive count, and [glm.Multinomial] a row of each class. A
// constant changes nothing of [glm.Hazards], the half deviance of a partial likelihood over the number of rows.
func New(l glm.Loss, s Sample, intercept bool, t Terms, units [][]int) (g *Fit, err error) {
	if err := s.Check(l); err != nil {
		return nil, err
	}
	if err := s.degenerate(l, intercept); err != nil {
		return nil, err
	}
	n, p := s.X.Dims()
	weights := meanOne(s.Weights, n)
	of := &glm.Table{X: s.X, Y: [][]float64{s.Y}, Weights: s.Weights, Offset: s.Offset, Intercept: intercept,
		Folds: [][]int{nil}, Loss: l, Units: units}
	g = &Fit{p: p, k: 1, kept: []int{0, 1}, intercept: intercept, adds: true}
	g.sets[training] = newRows(l, s, weights, float64(n))
	least, left := rounded, nothing
	switch l := l.(type) {
	case nil:
		g.quadratic, least, left = true, nothingLeft, nothingLeft
		if s.Offset != nil {
			of.Y, of.Offset = [][]float64{floats.SubTo(make([]float64, n), s.Y, s.Offset)}, nil
		}
	case glm.Hazards:
		of.Loss, of.Weights, g.adds = glm.Hazards{Ties: l.Ties}, weights, false
	case glm.Multinomial:
		g.k, g.adds = l.Classes, false
	}
	if g.terms, err = t.check(p); err != nil {
		return nil, err
	}
	if g.all = indices.Range(0, p*g.k); intercept {
		g.all = indices.Range(0, (p+1)*g.k)
	}
	free := g.unpenalised(s.X)
	of.Lower, of.Upper = g.terms.of(g.all[:g.units()], g.k)
	for j := range p {
		if last := (j+1)*g.k - 1; g.shared(j) {
			of.Lower[last], of.Upper[last] = 0, 0
		}
	}
	ctx := context.Background()
	if g.data, err = glm.New(ctx, of); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	path := g.data.Path(ctx)
	zero := g.look(training, nil).value
	g.begin(ctx, path)
	if !(g.scale > least*zero) { // the constants are all targets
		g.scale = 1
	}
	if g.null = g.scale; free { // so large a weight that no penalised feature wants to move
		w, err := g.weights(mostFactor*max(g.top, math.SmallestNonzeroFloat64), 0)
		if err != nil {
			return nil, err
		}
		if _, err := path.Solve(ctx, w, defaultTol*defaultTol); err != nil {
			return nil, err
		}
		if g.begin(ctx, path); !(g.scale > left*zero) {
			return nil, fmt.Errorf(
				"sparse: the features without a penalty explain the targets by themselves; penalise some of them")
		}
	}
	return g, nil
}

// begin has what is penalised come in where a path stands.
func (g *Fit) begin(ctx context.Context, path *glm.Path) {
	g.start = slices.Concat(g.take(path.Solution(ctx)))[:len(g.all)]
	g.scale = g.look(training, g.start).value
	w, _ := g.weights(1, 0)
	var without float64
	if g.top, without = path.LambdaMax(w); g.top == 0 {
		g.top = without
	}
}

// unpenalised holds what depends on the rest of the features without a penalty at 0, and says whether there are some of
// the others.
func (g *Fit) unpenalised(x *design.Matrix) (free bool) {
	basis := numerics.Basis{Least: dependent}
	for j := range g.p {
		if !g.terms.always(j) {
			continue
		}
		if !free && g.intercept {
			basis.Grow(slices.Repeat([]float64{1}, x.Rows()))
		}
		column := make([]float64, x.Rows())
		x.Axpy(1, j, column)
		if free = true; basis.Grow(column) == nil {
			g.terms.Lower[j], g.terms.Upper[j] = 0, 0
		}
	}
	return free
}

// vector has the coefficients of a point and then the constants, and point is a point of these.
func (g *Fit) vector(x [][]float64) []float64 { return slices.Concat(x...)[:len(g.all)] }

func (g *Fit) point(b []float64) [][]float64 {
	n := g.p * g.k
	if x := [][]float64{b[:n:n], b[n:]}; g.intercept {
		return x
	}
	return [][]float64{b}
}

// With returns the fit with validation rows in it, and perhaps one of the two penalties alone. The half deviance of
// theirs, by the weights as they are, is divided by [glm.Hazards].Unit.
func (g *Fit) With(val Sample, kept ...int) (*Fit, error) {
	loss := g.sets[training].loss
	if err := val.Check(loss); err != nil {
		return nil, err
	}
	if p := val.X.Columns(); p != g.p {
		return nil, fmt.Errorf("sparse: %d features of the training rows and %d of the validation rows", g.p, p)
	}
	weights, n := meanOne(val.Weights, len(val.Y)), float64(len(val.Y))
	if h, ok := loss.(glm.Hazards); ok {
		if n = h.Unit; val.Weights != nil {
			weights = val.Weights
		}
	}
	out := *g
	if out.sets[validating] = newRows(loss, val, weights, n); kept != nil {
		out.kept = kept
	}
	return &out, nil
}

// Shape is that of a point.
func (g *Fit) Shape() []int {
	if g.intercept {
		return []int{g.p * g.k, g.k}
	}
	return []int{g.p * g.k}
}

// Values are the losses, and sum_jk f_j |b_jk| and 1/2 sum_jk f_j b_jk^2, or one of them.
func (g *Fit) Values(x [][]float64) bilevel.Values {
	b := g.vector(x)
	out := bilevel.Values{Train: g.look(training, b).value, Penalties: g.Penalties(b)}
	if g.sets[validating] != nil {
		out.Validation = g.look(validating, b).value
	}
	return out
}

// Penalties are those of coefficients.
func (g *Fit) Penalties(b []float64) []float64 { return g.penalties(g.all, b) }

// penalties are those of entries with coefficients.
func (g *Fit) penalties(entries []int, b []float64) (kept []float64) {
	var sums [2]float64
	for i, v := range b {
		if v != 0 {
			f := g.terms.Factors[entries[i]/g.k]
			sums[0] += f * math.Abs(v)
			sums[1] += f * v * v / 2
		}
	}
	for _, k := range g.kept {
		kept = append(kept, sums[k])
	}
	return kept
}

// pair are the weights of both penalties, 0 for one that is not kept.
func (g *Fit) pair(weights []float64) (w1, w2 float64) {
	var both [2]float64
	for i, k := range g.kept {
		both[k] = weights[i]
	}
	return both[0], both[1]
}

// look is what there is to see of a set at coefficients, nil for zeros.
func (g *Fit) look(set int, b []float64) *look {
	rows := g.sets[set]
	return rows.look(rows.predictions(g.all, b))
}

// Validation is the loss of a point over the validation rows, and minus its derivatives in the predictions of one class
// after the other.
func (g *Fit) Validation(x [][]float64) (value float64, slopes []float64) {
	at := g.look(validating, g.vector(x))
	return at.value, at.slopes
}

// Relative is a gap in units of the objective at b = 0, that of tolerances.
func (g *Fit) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest w1 at which all coefficients are zero that are penalised. Where their bounds keep them
// there at any weight, it is that without bounds.
func (g *Fit) LambdaMax() float64 { return g.top }

// LambdaMaxOf is the least factor of other weights at which all coefficients are zero.
func (g *Fit) LambdaMaxOf(w *glm.Weights) float64 {
	top, _ := g.data.Path(context.Background()).LambdaMax(w)
	return top
}

// Free are the coefficients that are not zero and not at a bound, see [glm.Data.Free].
func (g *Fit) Free(b []float64) []int {
	free, _ := g.data.Free(b)
	return free
}

// System is that of the second derivatives of the objective at a solution for some weights, see [glm.System].
func (g *Fit) System(ctx context.Context, s *Solution, w *glm.Weights, tol float64) (*glm.System, error) {
	return g.data.System(ctx, 0, s.B, s.B0[0], w, tol)
}

package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/bilevel"
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
	terms     terms
	start     []float64 // the solution with what has no penalty alone
	scale     float64   // the objective there
	null      float64   // without coefficients
	table     *table    // for package glm
}

// The sets of a [Fit].
const (
	validating = iota
	training
)

// newFit takes the loss of training rows, with the best constants where there are no features: one for each class.
func newFit(g *Fit, rows *rowSet, constants []float64, t Terms) (*Fit, error) {
	x := rows.x.X
	g.sets[training], g.p, g.k = rows, x.Columns(), len(constants)
	g.terms.p = g.p
	for j := range g.p {
		if _, _, err := x.Sums(j); err != nil {
			return nil, fmt.Errorf("sparse: %w", err)
		}
	}
	g.start = make([]float64, g.p*g.k)
	if g.intercept {
		g.start = append(g.start, constants...)
	}
	g.all, g.kept = indices.Range(0, len(g.start)), []int{0, 1}
	least := rounded
	if g.quadratic {
		least = nothingLeft
	}
	// the constants are all targets
	if g.scale = g.look(training, g.start).value; !(g.scale > least*g.look(training, nil).value) {
		g.scale = 1
	}
	g.null = g.scale
	if t.Plain() {
		return g, nil
	}
	full, err := t.check(g.p)
	if err != nil {
		return nil, err
	}
	g.terms.factor = full.Factors
	if t.Lower != nil || t.Upper != nil {
		g.terms.lower, g.terms.upper = full.Lower, full.Upper
	}
	g.bound(full)
	if !slices.ContainsFunc(indices.Range(0, g.p), g.terms.always) {
		return g, nil
	}
	return g, g.unpenalised(full)
}

const (
	// mostFactor is how many times as large as at zero coefficients derivatives are taken to be at most.
	mostFactor = 1e9
	// nothing is the share of the loss at zero that is nothing, where curvatures vanish with the loss; with squares it
	// is nothingLeft.
	nothing, nothingLeft = 1e-6, 1e-20
	// dependent is the share of a column that is orthogonal to others up to which it counts as depending on them.
	dependent = 1e-9
)

// unpenalised fits what has no penalty, and leaves out what depends on the rest of it. At so large a weight no
// penalised feature wants to move.
func (g *Fit) unpenalised(full Terms) error {
	x := g.sets[training].x.X
	basis := numerics.Basis{Least: dependent}
	if g.intercept {
		basis.Grow(slices.Repeat([]float64{1}, x.Rows()))
	}
	for j := range g.p {
		if !g.terms.always(j) {
			continue
		}
		column := make([]float64, x.Rows())
		x.Axpy(1, j, column)
		if basis.Grow(column) {
			continue
		}
		if g.terms.lower == nil {
			g.terms.lower, g.terms.upper = full.Lower, full.Upper
		}
		g.terms.lower[j], g.terms.upper[j] = 0, 0
	}
	g.bound(full)
	top, _ := g.largest()
	s, err := g.Solve(context.Background(), mostFactor*max(top, math.SmallestNonzeroFloat64), 0, defaultTol*defaultTol,
		nil)
	if err != nil {
		return err
	}
	share := nothing
	if g.quadratic {
		share = nothingLeft
	}
	g.start = g.vector(s.x(g.intercept))
	if g.scale = g.look(training, g.start).value; !(g.scale > share*g.look(training, nil).value) {
		return fmt.Errorf("sparse: the features without a penalty explain the targets by themselves; penalise some of them")
	}
	return nil
}

// bound tells the table of the bounds, of which the full ones may be none.
func (g *Fit) bound(full Terms) {
	t := g.terms
	if t.lower == nil && slices.ContainsFunc(indices.Range(0, g.p), g.shared) {
		t.lower, t.upper = full.Lower, full.Upper
	}
	of := &g.table.of
	of.Lower, of.Upper = t.of(g.all[:g.units()], g.k)
	for j := range g.p {
		if last := (j+1)*g.k - 1; g.shared(j) {
			of.Lower[last], of.Upper[last] = 0, 0
		}
	}
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

// With returns the fit with validation rows in it, and perhaps one of the two penalties alone. A partial likelihood of
// theirs is divided by n.
func (g *Fit) With(val Sample, n float64, kept ...int) (*Fit, error) {
	if err := val.Check(g.sets[training].loss); err != nil {
		return nil, err
	}
	if p := val.X.Columns(); p != g.p {
		return nil, fmt.Errorf("sparse: %d features of the training rows and %d of the validation rows", g.p, p)
	}
	rows, err := g.sets[training].with(val, n)
	if err != nil {
		return nil, err
	}
	out := *g
	if out.sets[validating] = rows; kept != nil {
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
			f := g.terms.weight(entries[i] / g.k)
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

// Relative is a gap in units of the objective at b = 0, that of [Options.Tol].
func (g *Fit) Relative(gap float64) float64 { return gap / g.scale }

// LambdaMax is the smallest w1 at which all coefficients are zero that are penalised. Where their bounds keep them
// there at any weight, it is that without bounds.
func (g *Fit) LambdaMax() float64 {
	top, beyond := g.largest()
	if top == 0 {
		return beyond
	}
	return top
}

// largest is the largest derivative at the start in units of its factor, of those that have room to move that way, and
// of all.
func (g *Fit) largest() (top, beyond float64) {
	at := g.look(training, g.start)
	for _, e := range g.all {
		j := e / g.k
		f := g.terms.weight(j)
		if f == 0 {
			continue
		}
		c := at.descent(e) / f
		if beyond = math.Max(beyond, math.Abs(c)); g.moves(j, c) {
			top = math.Max(top, math.Abs(c))
		}
	}
	return top, beyond
}

// moves says that the bounds of a coefficient that is 0 leave room for where minus its derivative draws it.
func (g *Fit) moves(j int, c float64) bool {
	lo, hi := g.terms.room(j)
	return c > 0 && hi > 0 || c < 0 && lo < 0
}

// Factor is the factor of the penalties of a feature.
func (g *Fit) Factor(j int) float64 { return g.terms.weight(j) }

// Free are the entries of coefficients that are not zero and not at a bound, rising.
func (g *Fit) Free(b []float64) (free []int) {
	for e, v := range b {
		if lo, hi := g.terms.room(e / g.k); v != 0 && lo < v && v < hi {
			free = append(free, e)
		}
	}
	return free
}

// System is that of the second derivatives of the objective at a solution for some weights, see [glm.System].
func (g *Fit) System(ctx context.Context, s *Solution, w *glm.Weights, tol float64) (*glm.System, error) {
	d, err := g.table.ready(ctx)
	if err != nil {
		return nil, err
	}
	return d.System(ctx, 0, s.B, s.B0[0], w, tol)
}

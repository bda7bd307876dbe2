package glm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

// Table is what the folds of a cross-validation are made of.
type Table struct {
	// X are the n x p features, dense, and Y the q targets, of n values each.
	X mat.Matrix
	Y [][]float64
	// Weights are those of the rows, all positive, nil for equal ones.
	Weights []float64
	// Intercept says that there is a free constant for each target.
	Intercept bool
	// Folds are the validation rows of each fold, which all others train.
	Folds [][]int
	// Units are the lists of features that are used together, each feature in one of them; nil for each feature alone.
	Units [][]int
	// Lower and Upper bound the coefficients of features that are alone in their unit, of one target; nil for no bounds.
	Lower, Upper []float64
	// Chained says that the features, of squares and one target, stand in an order, and neighbours have the penalty
	// Fusion of [Weights].
	Chained bool
	// Loss is nil for squares. Others are of one target, with an Offset of each prediction, nil for none. The features,
	// units and bounds of [Multinomial] are entries.
	Loss   Loss
	Offset []float64
	// Gaps are entries that are not the same in all folds, where [Table.Shares]; nil for none.
	Gaps *Gaps
	// Threads bounds how many folds are solved at once.
	Threads int
}

// Weights are those of the penalties.
type Weights struct {
	// Norm are those of the units' norms.
	Norm []float64
	// L1 and L2 are those of the features' absolute values and half squares; nil for none.
	L1, L2 []float64
	// Fusion is that of the sum of |b_j+1 - b_j| of a chained table, whose Norm is the same for all.
	Fusion float64
}

// Times are the weights of the norms times factors, and, where there are some, those of absolute values times one more.
func (w *Weights) Times(factors []float64) *Weights {
	norms := len(w.Norm)
	out := &Weights{Norm: make([]float64, norms)}
	floats.MulTo(out.Norm, w.Norm, factors[:norms])
	if w.L1 != nil {
		out.L1 = slices.Clone(w.L1)
		floats.Scale(factors[norms], out.L1)
	}
	return out
}

// Data is a table made ready. Paths do not change it.
type Data struct {
	x         mat.Matrix
	y         [][]float64
	weights   []float64
	offset    []float64 // of predictions
	n, p, q   int       // predictions, coefficients of each target, and targets
	classes   int
	intercept bool
	units     [][]int
	chained   bool // columns and units are sums of features and their differences, see chain
	lower     []float64
	upper     []float64
	center    []float64 // of the columns, so that products keep their digits
	targets   []float64 // means that were subtracted from the targets
	threads   int
	folds     [][]int  // rows that each leaves out
	train     [][]bool // rows that each has
	parts     []*part
	products  squared
	curved    *curved // nil for squares
	all       []int   // units
	single    bool    // a fit of squares without folds
	gaps      *Gaps
	more      []float64 // in the gaps, of the fold whose products are made
	columns   func() *design.Matrix
	listed    func() *design.Listed // of sparse columns, by rows
}

// products are what a fold's fit is made of.
type products interface {
	// begin makes ready what work is done with from the coefficients and, for squares, the gradients of the working set.
	begin(f *fold)
}

// squared are products of a loss of squares.
type squared interface {
	products
	// gradients fills in those of all features for some folds.
	gradients(ctx context.Context, folds []*fold)
	// validation is the mean loss on the validation rows of a fold.
	validation(f *fold) float64
}

// work is what steps over the working set of a fold are made with.
type work interface {
	// at is the gradient of the loss of coefficient (j, k), less its sign, and fall appends those of features.
	at(j, k int) float64
	fall(to []float64, features []int) []float64
	// move changes what at is made of as steps of the coefficients of features do.
	move(steps []float64, features []int)
	// diagonal is the curvature of feature j.
	diagonal(j int) float64
	// block are the products of some features with each other, of one target: a square matrix by columns, of which the
	// lower triangle counts.
	block(features []int) []float64
	// times sets out, which is zero, to the products of features with a direction.
	times(features []int, step, out []float64)
}

// mostProducts bounds the entries of the folds' matrices of products of all features, mostEntries those of a dense
// table that is worked with by columns.
const mostProducts, mostEntries = 1 << 25, 1 << 27

// Fits says whether a dense n x p table in so many folds is of a size for which there is memory.
func Fits(n, p, folds int) bool {
	return byProducts(n, p, folds) || float64(n)*float64(p) <= mostEntries
}

// byProducts says whether products of all features are worth their memory.
func byProducts(n, p, folds int) bool {
	return p <= n && float64(p)*float64(p)*float64(folds+1) <= mostProducts
}

// New makes a table ready. It keeps a reference to the features, which must not change.
func New(ctx context.Context, t *Table) (*Data, error) {
	n, p := t.X.Dims()
	d := &Data{x: t.X, weights: t.Weights, offset: t.Offset, n: n, p: p, q: len(t.Y), classes: 1,
		intercept: t.Intercept, units: t.Units, lower: t.Lower, upper: t.Upper, gaps: t.Gaps, threads: max(1, t.Threads)}
	if d.q == 0 || n == 0 || p == 0 || len(t.Folds) == 0 {
		return nil, fmt.Errorf("glm: %d rows of %d features and %d targets in %d folds, expected one at least of each", n, p,
			d.q, len(t.Folds))
	}
	if m, ok := t.Loss.(Multinomial); ok {
		d.classes, d.intercept = m.Classes, false
		if d.n, d.p = d.n*m.Classes, d.p*m.Classes; t.Intercept {
			d.p += m.Classes - 1
		}
	}
	if d.units == nil {
		d.units = indices.Singles(d.p)
	}
	if d.lower == nil {
		d.lower = slices.Repeat([]float64{math.Inf(-1)}, d.p)
	}
	if d.upper == nil {
		d.upper = slices.Repeat([]float64{math.Inf(1)}, d.p)
	}
	if d.chained = t.Chained; d.chained {
		if t.Units != nil || d.q > 1 || t.Loss != nil || t.Lower != nil || t.Upper != nil {
			return nil, fmt.Errorf("glm: chained features with units, bounds, a loss or several targets")
		}
		d.x = sumsAfter(t.X)
	}
	if t.Gaps != nil && !t.Shares(0) {
		return nil, fmt.Errorf("glm: gaps of folds that do not share products")
	}
	d.all = indices.Range(0, len(d.units))
	d.columns = sync.OnceValue(func() *design.Matrix { return design.New(d.x) })
	d.listed = sync.OnceValue(func() *design.Listed {
		return d.columns().List(indices.Range(0, p))
	})
	d.folds, d.train = t.Folds, make([][]bool, len(t.Folds))
	for k, left := range t.Folds {
		d.train[k] = slices.Repeat([]bool{true}, n)
		for _, i := range left {
			d.train[k][i] = false
		}
	}
	for _, y := range t.Y {
		if len(y) != n {
			return nil, fmt.Errorf("glm: %d values of a target for %d rows", len(y), n)
		}
		mean := 0.0
		if t.Intercept && t.Loss == nil {
			mean = floats.Sum(y) / float64(n)
		}
		y = slices.Clone(y)
		floats.AddConst(-mean, y)
		d.y, d.targets = append(d.y, y), append(d.targets, mean)
	}
	if t.Loss != nil {
		if d.q > 1 {
			return nil, fmt.Errorf("glm: %d targets of a loss of one", d.q)
		}
		d.bend(t)
		return d, nil
	}
	d.prepare(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, part := range d.parts {
		if !(part.weight > 0) || !finite.All(part.c...) || math.IsInf(part.yy, 0) || math.IsNaN(part.yy) {
			return nil, fmt.Errorf("glm: sums over the rows are not finite")
		}
	}
	return d, nil
}

// entries are the columns of the coefficients.
func (d *Data) entries() design.Classes { return design.Classes{X: d.columns(), K: d.classes} }

// prepare makes the products and moments of the folds.
func (d *Data) prepare(ctx context.Context) {
	d.center = make([]float64, d.p)
	d.single = len(d.folds) == 1 // for which the residuals are as short, and have more digits
	if d.multiplies() && !d.single {
		if d.intercept && !Sparse(d.x) {
			d.center = d.someMeans()
		}
		d.products = newGram(ctx, d)
	} else {
		d.products = newRows(ctx, d)
	}
}

// multiplies says whether products of all features are worth their memory, and their time: a sweep over sparse rows
// takes two multiplications an entry, one by products their number.
func (d *Data) multiplies() bool {
	return byProducts(d.n, d.p, len(d.folds)) &&
		!(Sparse(d.x) && 2*float64(d.columns().Stored()) < float64(d.p)*float64(d.p))
}

// Sparse says that a matrix stores its nonzeros alone.
func Sparse(x mat.Matrix) bool {
	switch x := x.(type) {
	case *sparse.CSR, *sparse.CSC:
		return true
	case *design.Matrix:
		return !x.Dense()
	}
	return false
}

// someMeans are the means of the columns over the first rows: products about them keep their digits.
func (d *Data) someMeans() []float64 {
	const enough = 1024
	sum, row := make([]float64, d.p), make([]float64, d.p)
	rows := min(enough, d.n)
	for i := range rows {
		d.row(row, i)
		floats.AddScaled(sum, 1/float64(rows), row)
	}
	return sum
}

// withPenalty is a sum with the penalty of unit u.
func (d *Data) withPenalty(sum float64, u int, w *Weights, b []float64) float64 {
	size := 0.0
	for _, j := range d.units[u] {
		for _, v := range b[j*d.q : (j+1)*d.q] {
			sum += w.second(j)*v*v/2 + w.absolute(j)*math.Abs(v)
			size += v * v
		}
	}
	return sum + w.Norm[u]*math.Sqrt(size)
}

// Piecewise says that the loss is linear in pieces.
func (d *Data) Piecewise() bool { return d.curved != nil && d.curved.train[0].envelope != nil }

// Folds is the number of folds.
func (d *Data) Folds() int { return len(d.folds) }

// LambdaMax is the least factor of weights, those of each fold or one for all, from which on units without coefficients
// stay so where the path stands, but for those without a weight: within bounds, and without them. Fusions do not count,
// and half squares where they are all that a unit has.
func (p *Path) LambdaMax(weights ...*Weights) (within, without float64) {
	for t, f := range p.folds {
		w, own := weights[min(t, len(weights)-1)], f.gradient
		if p.d.chained {
			f.gradient = f.chain.slopes(f)
		}
		for u := range p.d.units {
			l := f.enters(u, w)
			if without = max(without, l); f.pulls(u) {
				within = max(within, l)
			}
		}
		f.gradient = own
	}
	return within, without
}

// enters is the factor of the weights up to which unit u leaves zero, 0 for one without a weight.
func (f *fold) enters(u int, w *Weights) float64 {
	largest, weight, absolute := 0.0, w.Norm[u], 0.0
	for _, j := range f.d.units[u] {
		absolute = math.Hypot(absolute, w.absolute(j))
		for _, g := range f.gradient[j*f.d.q : (j+1)*f.d.q] {
			largest = max(largest, math.Abs(g))
		}
	}
	if largest == 0 {
		return 0
	}
	norm := largest * f.excess(u, &Weights{}, 1/largest) // whatever its size
	if w.L1 == nil {
		if weight == 0 {
			weight = w.second(f.d.units[u][0])
		}
		if weight == 0 {
			return 0
		}
		return norm / weight
	}
	if weight+absolute == 0 {
		return 0
	}
	return 1 / f.feasible(u, w, (weight+absolute)/norm)
}

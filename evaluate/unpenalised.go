package evaluate

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/problems/dataset"
)

// Package unpenalised fits regressions without a penalty: what a choice of penalties is compared with.
//
// Squares are least squares, by the normal equations and steps of refinement. Labels and counts are fitted by maximum
// likelihood, with Newton steps that are weighted least squares (McCullagh, Nelder, Generalized Linear Models, 2nd ed.,
// 1989, section 2.5) and are cut in half until the likelihood rises. A column that depends on those before it has the
// coefficient 0.

// plainKind is a loss.
type plainKind int

const (
	plainSquares  plainKind = iota // (y - f)^2 / 2
	plainLogistic                  // log(1 + exp(f)) - y f, with y 0 or 1
	plainPoisson                   // exp(f) - y f, with y >= 0
)

// Why there is no fit.
var (
	errRows     = errors.New("no more rows than coefficients")
	errInfinite = errors.New(
		"features tell labels, or counts of 0, apart without error, so that its coefficients would be infinite")
	errSteps = errors.New("its Newton steps did not come to their end")
)

const (
	// dependent is the squared share of a column that is orthogonal to those before it up to which it depends on them, and
	// is dropped by a pivot in the place of that share.
	dependent, dropping = 1e-12, 1e150
	// mostRounds bounds the steps of refinement, which end with one of a relative size of refined.
	mostRounds, refined = 10, 1e-9
	// blockRows are multiplied in one go.
	blockRows = 128
	// mostSteps and mostHalves bound the Newton steps and how often one is cut in half, and settled is the fall of the
	// deviance, relative to it, that is none.
	mostSteps, mostHalves, settled = 50, 30, 1e-10
	// moving is a change of the logarithm of odds or means in a Newton step by which the deviance does not fall any
	// more: where the maximum is at infinity, each step goes on by 1. exact is the deviance, for each row, of labels
	// that are told apart.
	moving, exact = 0.1, 1e-7
)

// plainWork is about how many multiplications a fit to rows takes.
func plainWork(kind plainKind, d *dataset.Data) float64 {
	n, p := d.Dims()
	work := 2 * float64(n) * float64(p+1) * float64(p+1)
	if kind != plainSquares {
		work *= 8
	}
	return work
}

// plainFit has the coefficients of the p features, and the constant, 0 without one.
type plainFit struct {
	Coefficients []float64
	Constant     float64
}

// fitPlain fits n rows, by their weights and beside their offsets. The start, nil for none, is a solution for similar
// rows, from which labels and counts take fewer steps. The errors are those above.
func fitPlain(kind plainKind, d *dataset.Data, intercept bool, start *plainFit) (*plainFit, error) {
	n, p := d.Dims()
	g := &fit{kind: kind, n: n, k: p, y: d.Y, offset: d.Offset, weight: make([]float64, n)}
	for i := range g.weight {
		g.weight[i] = 1 / float64(n)
	}
	if d.Weights != nil {
		copy(g.weight, d.Weights)
		floats.Scale(1/floats.Sum(d.Weights), g.weight)
	}
	if intercept {
		g.k++
	}
	dense := *d
	dense.X = d.Dense()
	unit := dataset.NewTransform(&dense, dataset.ByDeviation, intercept)
	if intercept { // which stands before the others, so that it is not among those that depend on others
		for j, s := range dense.Deviations() {
			if s == 0 {
				unit.Scale[j] = math.Inf(1)
			}
		}
	}
	first := g.k - p
	g.rows = make([]float64, n*g.k)
	for i := range n {
		row := g.row(i)
		if intercept {
			row[0] = 1
		}
		row = row[first:]
		d.Fill(row, i)
		floats.Sub(row, unit.Mean)
		floats.Div(row, unit.Scale)
	}
	b := make([]float64, g.k)
	if start != nil {
		if intercept {
			b[0] = start.Constant + floats.Dot(start.Coefficients, unit.Mean)
		}
		for j, c := range start.Coefficients {
			if b[first+j] = c * unit.Scale[j]; math.IsInf(unit.Scale[j], 1) {
				b[first+j] = 0
			}
		}
	}
	b, err := g.solve(b, start == nil)
	if err != nil {
		return nil, err
	}
	out, constant := new(plainFit), 0.0
	if intercept {
		constant = b[0]
	}
	out.Coefficients, out.Constant = unit.Undo(b[first:], constant)
	return out, nil
}

// fit is a problem of n rows and k columns.
type fit struct {
	kind              plainKind
	n, k              int
	rows              []float64 // one after the other
	y, offset, weight []float64 // weights sum to 1
}

func (g *fit) row(i int) []float64 { return g.rows[i*g.k : (i+1)*g.k : (i+1)*g.k] }

// solve finds the coefficients, for labels and counts from b on; afresh says that it is 0, as there is no start.
func (g *fit) solve(b []float64, afresh bool) ([]float64, error) {
	target := make([]float64, g.n)
	if g.kind == plainSquares {
		for i, y := range g.y {
			target[i] = y - g.known(i)
		}
		return g.squares(g.weight, target)
	}
	curvature, f := make([]float64, g.n), g.values(b)
	at := g.deviance(f)
	for step := range mostSteps {
		for i, v := range f {
			mean := g.mean(v)
			slope, curve := g.y[i]-mean, mean
			if g.kind == plainLogistic {
				curve = mean * (1 - mean)
			}
			// from the counts themselves, as the means of zero coefficients tell nothing
			if afresh && step == 0 && g.kind == plainPoisson {
				mean = g.y[i] + 0.5
				slope, curve, v = g.y[i]-mean, mean, math.Log(mean)
			}
			curve = math.Max(curve, 1e-12)
			curvature[i], target[i] = g.weight[i]*curve, v-g.known(i)+slope/curve
		}
		to, err := g.squares(curvature, target)
		if err != nil {
			return nil, err
		}
		next := g.values(to)
		value := g.deviance(next)
		for half := 0; !(value <= at*(1+settled)) && (step > 0 || !afresh || g.kind == plainLogistic); half++ {
			if half == mostHalves {
				return nil, errSteps
			}
			for j, v := range b {
				to[j] = (to[j] + v) / 2
			}
			next = g.values(to)
			value = g.deviance(next)
		}
		fall, moved := at-value, floats.Distance(f, next, math.Inf(1))
		b, f, at = to, next, value
		switch end := (step > 0 || !afresh) && math.Abs(fall) <= settled*(at+settled); {
		case g.kind == plainLogistic && at < exact, end && moved > moving:
			return nil, errInfinite
		case end:
			return b, nil
		}
	}
	return nil, errSteps
}

// known is the offset of row i.
func (g *fit) known(i int) float64 {
	if g.offset == nil {
		return 0
	}
	return g.offset[i]
}

// mean is what a value predicts.
func (g *fit) mean(v float64) float64 {
	if g.kind == plainPoisson {
		return math.Exp(v)
	}
	return Probability(v)
}

// values are those of the rows at coefficients.
func (g *fit) values(b []float64) []float64 {
	f := make([]float64, g.n)
	for i := range f {
		f[i] = g.known(i) + floats.Dot(g.row(i), b)
	}
	return f
}

// deviance is half of it, a mean over the rows.
func (g *fit) deviance(f []float64) float64 {
	sum := 0.0
	for i, v := range f {
		if g.kind == plainPoisson {
			sum += g.weight[i] * deviance.HalfPoisson(g.y[i], math.Exp(v), v)
		} else {
			v *= 1 - 2*g.y[i]
			sum += g.weight[i] * Softplus(v)
		}
	}
	return sum
}

// squares minimises sum_i w_i (t_i - f_i)^2.
func (g *fit) squares(w, target []float64) ([]float64, error) {
	var a, d, size []float64
	for m := min(g.n, g.k); len(d) < g.k; m = min(2*m, g.k) { // the first columns mostly tell that there are too many
		var dropped int
		if a, d, size, dropped = g.factor(w, m); m-dropped >= g.n {
			return nil, errRows
		}
	}
	b, left := make([]float64, g.k), slices.Clone(target)
	for round := range mostRounds { // the first one solves, the others refine
		step := make([]float64, g.k)
		for i, v := range left {
			floats.AddScaled(step, w[i]*v, g.row(i))
		}
		floats.Div(step, size)
		dense.TrsvN(g.k, a, g.k, step)
		floats.Div(step, d)
		dense.TrsvT(g.k, a, g.k, step)
		for j, v := range d {
			if v == dropping {
				step[j] = 0
			}
		}
		floats.Div(step, size)
		floats.Add(b, step)
		for i := range left {
			left[i] = target[i] - floats.Dot(g.row(i), b)
		}
		if round > 0 && floats.Norm(step, math.Inf(1)) <= refined*floats.Norm(b, math.Inf(1)) {
			break
		}
	}
	if floats.HasNaN(b) {
		return nil, errSteps
	}
	return b, nil
}

// factor is L D L' of the normal equations of the first m columns, in units of their sizes, with the pivot dropping for
// those that are dropped, as they depend on others.
func (g *fit) factor(w []float64, m int) (a, d, size []float64, dropped int) {
	// The upper triangle by rows is the lower one by columns.
	normal := blas64.Symmetric{N: m, Stride: m, Uplo: blas.Upper, Data: make([]float64, m*m)}
	block := make([]float64, blockRows*m)
	for from := 0; from < g.n; from += blockRows {
		rows := min(blockRows, g.n-from)
		for i := range rows {
			floats.ScaleTo(block[i*m:(i+1)*m], math.Sqrt(w[from+i]), g.row(from + i)[:m])
		}
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: rows, Cols: m, Stride: m, Data: block[:rows*m]}, 1, normal)
	}
	a, d, size = normal.Data, make([]float64, m), make([]float64, m)
	for j := range size {
		if size[j] = math.Sqrt(a[j*m+j]); size[j] == 0 {
			size[j] = 1
		}
		for i := range j + 1 {
			a[i*m+j] /= size[i] * size[j]
		}
	}
	return a, d, size, dense.LDL(m, a, m, d, slices.Repeat([]int8{1}, m), dependent, dropping)
}

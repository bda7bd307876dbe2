package evaluate

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Package unpenalised fits regressions without a penalty: what a choice of penalties is compared with.
//
// Squares are least squares, by the normal equations and a step of refinement where the columns are far from depending
// on each other, and else by an orthogonal basis of them (Gram and Schmidt, twice where need be, as Giraud, Langou,
// Rozloznik and van den Eshof, Computers and Mathematics with Applications 50, 2005, have it). Labels and counts are
// fitted by maximum likelihood, with Newton steps that are weighted least squares (McCullagh, Nelder, Generalized
// Linear Models, 2nd ed., 1989, section 2.5) and are cut in half until the likelihood rises. A column that depends on
// those before it has the coefficient 0.

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
	// dependent is the share of a column that is orthogonal to others up to which it depends on them.
	dependent = 1e-7
	// mostCondition is that of the normal equations, of columns of length 1, up to which they are solved.
	mostCondition = 1e7
	// blockRows are multiplied in one go.
	blockRows = 128
	// constantTo is the largest entry of a column less its mean, beside that of the column, that is rounding.
	constantTo = 1e-13
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

// fitPlain fits n rows, by their weights and beside their offsets. The errors are those above.
func fitPlain(kind plainKind, d *dataset.Data, intercept bool) (*problems.Fit, error) {
	n, p := d.Dims()
	g := &fit{kind: kind, n: n, k: p, y: d.Y, offset: d.RowOffset(), weight: slices.Clone(d.RowWeights())}
	floats.Scale(1/floats.Sum(g.weight), g.weight)
	if intercept {
		g.k++
	}
	g.rows, g.unit = make([]float64, n*g.k), make([]float64, g.k)
	first, mean, largest := g.k-p, make([]float64, g.k), make([]float64, g.k)
	for i := range n {
		row := g.row(i)
		d.Fill(row[first:], i)
		for j, v := range row[first:] {
			mean[first+j] += v / float64(n)
			largest[first+j] = max(largest[first+j], v, -v)
		}
	}
	if intercept { // before the others, which have mean 0, so that it is not among those that depend on others
		for i := range n {
			floats.Sub(g.row(i), mean)
			g.row(i)[0] = 1
		}
	}
	for i := range n {
		for j, v := range g.row(i) {
			g.unit[j] = max(g.unit[j], v, -v)
		}
	}
	for j, u := range g.unit {
		if !(u > constantTo*largest[j]) { // as rounding of the mean is
			g.unit[j] = math.Inf(1)
		}
	}
	for i := range n {
		floats.Div(g.row(i), g.unit)
	}
	b, err := g.solve()
	if err != nil {
		return nil, err
	}
	floats.Div(b, g.unit)
	out := &problems.Fit{Coefficients: b[first:], LogLink: kind == plainPoisson}
	if intercept {
		out.Intercept = b[0] - floats.Dot(b[1:], mean[1:])
	}
	return out, nil
}

// fit is a problem of n rows and k columns, whose largest entries are 1.
type fit struct {
	kind              plainKind
	n, k              int
	rows              []float64 // one after the other
	unit              []float64 // what the columns are divided by
	y, offset, weight []float64 // weights sum to 1
}

func (g *fit) row(i int) []float64 { return g.rows[i*g.k : (i+1)*g.k : (i+1)*g.k] }

// solve finds the coefficients.
func (g *fit) solve() ([]float64, error) {
	target := floats.SubTo(make([]float64, g.n), g.y, g.offset)
	if g.kind == plainSquares {
		return g.squares(g.weight, target)
	}
	b, curvature := make([]float64, g.k), make([]float64, g.n)
	f := g.values(b)
	at := g.deviance(f)
	for step := range mostSteps {
		for i, v := range f {
			mean := math.Exp(v)
			curve := mean
			if g.kind == plainLogistic {
				mean = Probability(v)
				curve = mean * (1 - mean)
			}
			slope := g.y[i] - mean
			// from the counts themselves, as the means of zero coefficients tell nothing
			if step == 0 && g.kind == plainPoisson {
				mean = g.y[i] + 0.5
				slope, curve, v = g.y[i]-mean, mean, math.Log(mean)
			}
			curve = math.Max(curve, 1e-12)
			curvature[i], target[i] = g.weight[i]*curve, v-g.offset[i]+slope/curve
		}
		to, err := g.squares(curvature, target)
		if err != nil {
			return nil, err
		}
		next := g.values(to)
		value := g.deviance(next)
		for half := 0; !(value <= at*(1+settled)) && (step > 0 || g.kind == plainLogistic); half++ {
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
		switch end := step > 0 && math.Abs(fall) <= settled*(at+settled); {
		case g.kind == plainLogistic && at < exact, end && moved > moving:
			return nil, errInfinite
		case end:
			return b, nil
		}
	}
	return nil, errSteps
}

// values are those of the rows at coefficients.
func (g *fit) values(b []float64) []float64 {
	f := make([]float64, g.n)
	for i := range f {
		f[i] = g.offset[i] + floats.Dot(g.row(i), b)
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
	if g.n <= g.k {
		return g.orthogonal(w, target)
	}
	normal := blas64.Symmetric{N: g.k, Stride: g.k, Uplo: blas.Upper, Data: make([]float64, g.k*g.k)}
	block := make([]float64, blockRows*g.k)
	for from := 0; from < g.n; from += blockRows {
		rows := min(blockRows, g.n-from)
		for i := range rows {
			floats.ScaleTo(block[i*g.k:(i+1)*g.k], math.Sqrt(w[from+i]), g.row(from+i))
		}
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: rows, Cols: g.k, Stride: g.k, Data: block[:rows*g.k]}, 1, normal)
	}
	size := make([]float64, g.k)
	for j := range size {
		if size[j] = math.Sqrt(normal.Data[j*g.k+j]); !(size[j] > 0) {
			return g.orthogonal(w, target)
		}
	}
	var factor mat.Cholesky
	a := mat.NewSymDense(g.k, normal.Data)
	for i := range size {
		for j := i; j < g.k; j++ {
			a.SetSym(i, j, a.At(i, j)/size[i]/size[j])
		}
	}
	if !factor.Factorize(a) || factor.Cond() > mostCondition {
		return g.orthogonal(w, target)
	}
	b, left := make([]float64, g.k), slices.Clone(target)
	for range 2 { // the second one is the refinement
		slope := mat.NewVecDense(g.k, nil)
		for i, v := range left {
			floats.AddScaled(slope.RawVector().Data, w[i]*v, g.row(i))
		}
		floats.Div(slope.RawVector().Data, size)
		if err := factor.SolveVecTo(slope, slope); err != nil {
			return g.orthogonal(w, target)
		}
		floats.Div(slope.RawVector().Data, size)
		floats.Add(b, slope.RawVector().Data)
		for i := range left {
			left[i] = target[i] - floats.Dot(g.row(i), b)
		}
	}
	if floats.HasNaN(b) {
		return nil, errSteps
	}
	return b, nil
}

// orthogonal is squares by an orthogonal basis.
func (g *fit) orthogonal(w, target []float64) ([]float64, error) {
	root := make([]float64, g.n)
	for i, of := range w {
		root[i] = math.Sqrt(of)
	}
	basis := numerics.Basis{Least: dependent}
	var r [][]float64 // what the columns in use have of the basis
	var used []int
	for j := range g.k {
		column := make([]float64, g.n)
		for i := range column {
			column[i] = g.rows[i*g.k+j] * root[i]
		}
		along := basis.Grow(column)
		if along == nil {
			continue
		}
		if len(used)+1 >= g.n {
			return nil, errRows
		}
		r, used = append(r, along), append(used, j)
	}
	b, z := make([]float64, g.k), basis.Without(floats.MulTo(root, target, root))
	for k := len(used) - 1; k >= 0; k-- {
		b[used[k]] = z[k] / r[k][k]
		floats.AddScaled(z[:k], -b[used[k]], r[k][:k])
	}
	if floats.HasNaN(b) {
		return nil, errSteps
	}
	return b, nil
}

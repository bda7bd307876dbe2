package fits

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

// generated are training and validation rows of the paper's elastic net, dense or by sparse columns.
func generated(t testing.TB, shape string, seed uint64, compressed bool) (train, val Rows) {
	c := must.Of(dataset.InSets.Preset(shape))(t)
	s := must.First(dataset.Generate(c, seed))(t)
	rows := func(d *dataset.Data) Rows {
		if compressed {
			return NewRows(matrices.Compress(d.X), d.Y)
		}
		return NewRows(d.X, d.Y)
	}
	return rows(s.Train), rows(s.Val)
}

var kinds = []struct {
	name string
	make func(train, val Rows, intercept bool) (lower.Fit, error)
}{
	{"lasso", func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Lasso(train, val, intercept, sparse.Terms{})
	}},
	{"elastic net", func(train, val Rows, intercept bool) (lower.Fit, error) {
		return ElasticNet(train, val, intercept, sparse.Terms{})
	}},
	{"weighted lasso", func(train, val Rows, intercept bool) (lower.Fit, error) {
		return NewWeightedLasso(train, val, intercept)
	}},
}

func TestHypergradientsAreFiniteDifferences(t *testing.T) {
	for _, kind := range kinds {
		for _, intercept := range []bool{false, true} {
			for _, compressed := range []bool{false, true} {
				for _, share := range []float64{0.3, 0.05, 0.02} {
					train, val := generated(t, "60-30-0-p80", 4, compressed)
					m := must.Of(kind.make(train, val, intercept))(t)
					at := must.Of(m.Solve(context.Background(), rolling(m, share), 1e-15, nil))(t)
					require.True(t, at.Solved)
					for _, mode := range []lower.Mode{lower.Adjoint, lower.Forward} {
						g := must.Of(m.Traits().Gradient(context.Background(), at, mode, 1e-13))(t)
						scale := floats.Norm(g, math.Inf(1))
						require.Positive(t, scale)
						for i := range g {
							if i%7 > 0 && i != 1 && g[i] == 0 {
								continue // most weights of unused features
							}
							require.InDelta(t, difference(t, m, at, i), g[i], 1e-5*scale, "%s %v %v %g %s %d", kind.name, intercept,
								compressed, share, mode, i)
						}
					}
				}
			}
		}
	}
}

// Copied columns make the matrix of the linear systems singular; the gradient is that of one column.
func TestSingularSupport(t *testing.T) {
	train, val := generated(t, "50-20-0-p10", 6, false)
	twice := func(r Rows) Rows {
		n, p := r.X.Dims()
		data := make([]float64, 2*n*p)
		unit := make([]float64, p)
		for j := range p {
			clear(unit)
			unit[j] = 1
			r.X.Mul(data[j*n:(j+1)*n], unit)
			copy(data[(p+j)*n:], data[j*n:(j+1)*n])
		}
		return Rows{X: design.FromColumns(n, 2*p, data), Y: r.Y}
	}
	one := must.Of(Lasso(train, val, false, sparse.Terms{}))(t)
	two := must.Of(Lasso(twice(train), twice(val), false, sparse.Terms{}))(t)
	lambda := []float64{0.1 * one.LambdaMax()}
	a := must.Of(one.Solve(context.Background(), lambda, 1e-14, nil))(t)
	// Start where both copies are in use.
	half := slices.Concat(a.X[0], a.X[0])
	floats.Scale(0.5, half)
	b := must.Of(two.Solve(context.Background(), lambda, 1e-10,
		&lower.Point{State: &netState{Solution: &sparse.Solution{B: half}}}))(t)
	require.Greater(t, len(b.State.(*netState).free), len(a.State.(*netState).free))
	want := must.Of(one.Traits().Gradient(context.Background(), a, lower.Adjoint, 1e-10))(t)
	got := must.Of(two.Traits().Gradient(context.Background(), b, lower.Adjoint, 1e-10))(t)
	require.InEpsilon(t, want[0], got[0], 1e-4)
}

func TestBadRows(t *testing.T) {
	train, val := generated(t, "10-5-0-p4", 1, false)
	_, other := generated(t, "10-5-0-p5", 1, false)
	for want, rows := range map[string][2]Rows{
		"4 features of the training rows and 5": {train, other},
		"3 targets for 5 rows":                  {train, {X: val.X, Y: val.Y[:3]}},
		"training rows of the weighted":         {{X: train.X, Y: train.Y[:3]}, val},
		"takes neither weights":                 {{X: train.X, Y: train.Y, Weights: train.Y}, val},
		"nor an offset":                         {train, {X: val.X, Y: val.Y, Offset: val.Y}},
		"validation rows of the weighted lasso": {train, {X: design.FromColumns(0, 4, nil)}},
	} {
		_, err := NewWeightedLasso(rows[0], rows[1], false)
		require.ErrorContains(t, err, want)
	}
	m := must.Of(ElasticNet(train, val, false, sparse.Terms{}))(t)
	_, err := m.Solve(context.Background(), []float64{1}, 1e-8, nil)
	require.ErrorContains(t, err, "1 hyperparameters, expected 2")
	_, err = m.Solve(context.Background(), []float64{1, -1}, 1e-8, nil)
	require.ErrorContains(t, err, "weights 1 and -1")
}

func triples(p int) [][]int {
	var groups [][]int
	for j := 0; j < p; j += 3 {
		groups = append(groups, []int{j, j + 1, j + 2})
	}
	return groups
}

func TestSparseGroupSearch(t *testing.T) {
	train, val := generated(t, "80-60-0-p90", 5, false)
	m := must.Of(NewSparseGroupLasso(train, val, triples(90), false))(t)
	descend(t, m, 0.95, hypergradient.Settings{MaxIter: 40}, hypergradient.IGJO, hypergradient.HOAG)
	_, err := hypergradient.IFDM(context.Background(), m, hypergradient.Settings{})
	require.ErrorContains(t, err, "no forward mode")
	_, err = NewSparseGroupLasso(train, val, triples(60), false)
	require.ErrorContains(t, err, "feature 60 is in no group")
}

// Fits of a table in few rows have the values, gradients and certificates of those of all its rows.
func TestSquaresRowsKeepFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(6000, 30, nil), make([]float64, 6000)
	for i := range y {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64() + 0.5*row[max(0, j-1)] + 2
		}
		y[i] = row[0] - row[3] + 0.1*row[7] + rng.NormFloat64()
	}
	split := func(rows func(mat.Matrix, []float64) Rows) (train, val Rows) {
		return rows(x.Slice(0, 6000-3500, 0, 30), y[:2500]), rows(x.Slice(2500, 6000, 0, 30), y[2500:])
	}
	_, val := split(NewRows)
	_, few := split(SquaresRows)
	require.Equal(t, 32, few.X.Rows())
	small := SquaresRows(x, y)
	require.Equal(t, 32, small.X.Rows())
	for _, intercept := range []bool{false, true} {
		for _, kind := range kinds {
			all := must.Of(kind.make(NewRows(x, y), val, intercept))(t)
			reduced := must.Of(kind.make(small, few, intercept))(t)
			require.InEpsilon(t, all.LambdaMax(), reduced.LambdaMax(), 1e-10)
			for _, share := range []float64{0.3, 0.01, 1e-4} {
				lambda := make([]float64, all.Dim())
				for i := range lambda {
					lambda[i] = share * all.LambdaMax() / float64(1+i%3)
				}
				want := must.Of(all.Solve(context.Background(), lambda, 1e-12, nil))(t)
				got := must.Of(reduced.Solve(context.Background(), lambda, 1e-12, nil))(t)
				require.True(t, got.Solved)
				require.InEpsilon(t, want.Validation, got.Validation, 1e-9)
				for v := range want.X {
					require.InDeltaSlice(t, want.X[v], got.X[v], 1e-8)
				}
				first := must.Of(all.Traits().Gradient(context.Background(), want, lower.Adjoint, 1e-10))(t)
				second := must.Of(reduced.Traits().Gradient(context.Background(), got, lower.Adjoint, 1e-10))(t)
				require.InDeltaSlice(t, first, second, 1e-7)
			}
		}
	}
}

// labelled replaces targets by their signs.
func labelled(r Rows) Rows {
	y := slices.Clone(r.Y)
	for i := range y {
		y[i] = math.Copysign(1, y[i])
	}
	return Rows{X: r.X, Y: y}
}

// counted replaces targets by counts that grow with them.
func counted(r Rows) Rows {
	y := slices.Clone(r.Y)
	for i, v := range y {
		y[i] = math.Round(2 * math.Exp(math.Tanh(v/2)))
	}
	return Rows{X: r.X, Y: y}
}

// Hypergradients in both modes are finite differences with factors, of which some are 0, and bounds, for all losses.
func TestTermsHypergradient(t *testing.T) {
	terms := sparse.Terms{}
	for j := range 40 {
		terms.Factors = append(terms.Factors, []float64{1, 0.4, 2, 1}[j%4])
		terms.Lower = append(terms.Lower, []float64{0, math.Inf(-1), -0.2}[j%3])
		terms.Upper = append(terms.Upper, []float64{math.Inf(1), 0.1}[j%2])
	}
	terms.Factors[2], terms.Factors[7] = 0, 0
	smoothHypergradient(t, 1e-18, 1e-3, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return ElasticNet(train, val, intercept, terms)
	})
	smoothHypergradient(t, 1e-18, 1e-3, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Logistic(labelled(train), labelled(val), intercept, terms)
	})
	smoothHypergradient(t, 1e-18, 1e-3, func(train, val Rows, intercept bool) (lower.Fit, error) {
		return Poisson(counted(train), counted(val), intercept, terms)
	})
}

// So it is with a weight for each feature.
func TestWeightedHypergradients(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		train, val := generated(t, "60-30-0-p40", 4, compressed)
		logistic := must.Of(WeightedLogistic(labelled(train), labelled(val), true, sparse.Terms{}))(t)
		poisson := must.Of(WeightedPoisson(counted(train), counted(val), true, sparse.Terms{}))(t)
		for _, m := range []lower.Fit{logistic, poisson} {
			for _, share := range []float64{0.6, 0.2} {
				gradients{tol: 1e-14, h: 1e-5, share: 1e-4, forward: 1e-7}.check(t, m, rolling(m, share), compressed, share)
			}
		}
	}
}

// smoothHypergradient checks that hypergradients in both modes are finite differences, of relative length h, of the
// validation loss of refits.
func smoothHypergradient(t *testing.T, tol, h float64, of func(train, val Rows, intercept bool) (lower.Fit, error)) {
	for _, intercept := range []bool{false, true} {
		for _, compressed := range []bool{false, true} {
			for _, share := range []float64{0.3, 0.05} {
				train, val := generated(t, "60-30-0-p40", 4, compressed)
				m := must.Of(of(train, val, intercept))(t)
				lambda := []float64{share * m.LambdaMax(), 0.5 * share * m.LambdaMax()}
				gradients{tol: tol, h: h, share: 1e-4, forward: 1e-7}.check(t, m, lambda, intercept, compressed, share)
			}
		}
	}
}

func TestLogisticSearch(t *testing.T) {
	train, val := generated(t, "60-60-0-p40", 4, false)
	m := must.Of(Logistic(labelled(train), labelled(val), true, sparse.Terms{}))(t)
	descend(t, m, 1+1e-8, hypergradient.Settings{}, hypergradient.IGJO, hypergradient.IFDM, hypergradient.HOAG)
	_, err := Logistic(train, val, true, sparse.Terms{})
	require.ErrorContains(t, err, "expected -1 or 1")
}

// Radii that hold nothing back leave the maximum of the likelihood, where the bound of the multipliers says nothing
// until the gradient is rounding. The maximum is Newton's, in this test.
func TestLogisticWithinLooseRadii(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n, p = 6750, 100
		x, y := mat.NewDense(n, p, nil), make([]float64, n)
		truth := make([]float64, p)
		for j := range 20 {
			truth[j] = rng.NormFloat64()
		}
		for i := range n {
			f := 0.0
			for j := range p {
				v := rng.NormFloat64()
				x.Set(i, j, v)
				f += v * truth[j]
			}
			y[i] = math.Copysign(1, f+2*rng.NormFloat64())
		}
		b := mat.NewVecDense(p, nil)
		value := 0.0
		for range 30 {
			var f, gradient, step mat.VecDense
			f.MulVec(x, b)
			slope, root := mat.NewVecDense(n, nil), mat.NewDense(n, p, nil)
			value = 0
			for i := range n {
				q := 1 / (1 + math.Exp(y[i]*f.AtVec(i)))
				value += math.Log1p(math.Exp(-y[i]*f.AtVec(i))) / n
				slope.SetVec(i, -y[i]*q/n)
				for j := range p {
					root.Set(i, j, x.At(i, j)*math.Sqrt(q*(1-q)/n))
				}
			}
			gradient.MulVec(x.T(), slope)
			var hessian mat.Dense
			hessian.Mul(root.T(), root)
			require.NoError(t, step.SolveVec(&hessian, &gradient))
			b.SubVec(b, &step)
		}
		l1, l2 := 0.0, 0.0
		for j := range p {
			l1 += math.Abs(b.AtVec(j))
			l2 += b.AtVec(j) * b.AtVec(j) / 2
		}
		rows := NewRows(x, y)
		m := must.Of(Logistic(rows, rows, false, sparse.Terms{}))(t)
		for _, share := range []float64{1.05, 1.23, 3} {
			at := must.Of(m.Within().Solve(ctx, []float64{share * l1, share * l2}, 7e-10))(t)
			require.True(t, at.Solved, "seed %d, share %v, gap %v", seed, share, at.Gap)
			require.InDelta(t, value, at.Loss, 1e-8)
			for j := range p {
				require.InDelta(t, b.AtVec(j), at.X[0][j], 1e-3)
			}
		}
	}
}

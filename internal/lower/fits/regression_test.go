package fits

import (
	"context"
	"math"
	"slices"
	"testing"

	csc "github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

// generated are training and validation rows of the paper's elastic net, dense or by sparse columns.
func generated(t testing.TB, shape string, seed uint64, compressed bool) (train, val Rows) {
	c := must.Of(dataset.Preset(shape))(t)
	s := must.First(dataset.Generate(c, seed))(t)
	rows := func(d *dataset.Data) Rows {
		if !compressed {
			return Rows{X: design.New(d.X), Y: d.Y}
		}
		n, p := d.X.Dims()
		start, index, value := []int{0}, []int{}, []float64{}
		for j := range p {
			for i := range n {
				index, value = append(index, i), append(value, d.X.At(i, j))
			}
			start = append(start, len(index))
		}
		return Rows{X: design.New(csc.NewCSC(n, p, start, index, value)), Y: d.Y}
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

func TestSparseGroupHypergradient(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, share := range []float64{0.3, 0.1, 0.03} {
			train, val := generated(t, "60-30-0-p90", 4, false)
			m := must.Of(NewSparseGroupLasso(train, val, triples(90), intercept))(t)
			gradients{tol: 1e-15, h: 1e-5, share: 1e-5}.check(t, m, rolling(m, share), intercept, share)
		}
	}
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

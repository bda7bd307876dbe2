package fits

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// entries are a random part of a matrix of rank 2 plus features of the rows, with noise: training and validation.
func entries(seed uint64, m, n, p int) (train, val Entries) {
	rng := rand.New(rand.NewPCG(seed, 5))
	normal := func(k int) []float64 {
		v := make([]float64, k)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	a, b, features := normal(2*m), normal(2*n), normal(max(1, m*p))
	sets := []*Entries{&train, &val}
	rows := make([][]float64, 2)
	for i := range m {
		for j := range n {
			k := rng.IntN(4) // two of four stay unknown
			if k > 1 {
				continue
			}
			y := 1 + a[2*i]*b[2*j] + a[2*i+1]*b[2*j+1] + 0.3*rng.NormFloat64()
			for _, f := range features[i*p : i*p+min(p, 3)] {
				y += f
			}
			e := sets[k]
			e.Row, e.Col, e.Y = append(e.Row, i), append(e.Col, j), append(e.Y, y)
			rows[k] = append(rows[k], features[i*p:(i+1)*p]...)
		}
	}
	for k, e := range sets {
		e.X = design.FromColumns(len(e.Y), 0, nil)
		if p > 0 {
			e.X = design.New(mat.NewDense(len(e.Y), p, rows[k]))
		}
	}
	return train, val
}

func TestCompletionHypergradient(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		for _, p := range []int{0, 6} {
			for _, share := range []float64{0.4, 0.1} {
				train, val := entries(3, 14, 11, p)
				var groups [][]int
				if p > 0 {
					groups = triples(p)
				}
				m := must.Of(NewCompletion(train, val, 14, 11, groups, intercept))(t)
				lambda := make([]float64, m.Dim())
				for i := range lambda {
					lambda[i] = share * m.LambdaMax() / float64(1+i)
				}
				gradients{tol: 1e-12, h: 1e-4, share: 1e-5, accuracy: 1e-12}.check(t, m, lambda, intercept, p, share)
			}
		}
	}
}

// Conjugate gradients may run to the limits of rounding at a solution of any accuracy: the rotations of
// the factors, along which the Hessian vanishes at an exact solution only, stay out of the hypergradient.
func TestCompletionRotations(t *testing.T) {
	train, val := entries(3, 14, 11, 0)
	m := must.Of(NewCompletion(train, val, 14, 11, nil, true))(t)
	for _, tol := range []float64{1e-6, 1e-8, 1e-10, 1e-12} {
		at := must.Of(m.Solve(context.Background(), []float64{0.1 * m.LambdaMax()}, tol, nil))(t)
		rough := must.Of(m.Traits().Gradient(context.Background(), at, lower.Adjoint, 1e-6))(t)
		fine := must.Of(m.Traits().Gradient(context.Background(), at, lower.Adjoint, 1e-14))(t)
		require.InEpsilon(t, rough[0], fine[0], 1e-4, "tolerance %g", tol)
	}
}

func TestCompletionSearch(t *testing.T) {
	train, val := entries(4, 14, 14, 6)
	m := must.Of(NewCompletion(train, val, 14, 14, triples(6), false))(t)
	descend(t, m, 1, hypergradient.Settings{MaxIter: 10}, hypergradient.IGJO, hypergradient.HOAG)
	val.Row = append([]int(nil), val.Row...)
	val.Row[3] = 14
	_, err := NewCompletion(train, val, 14, 14, triples(6), false)
	require.ErrorContains(t, err, "validation entries of the matrix completion: completion: known entry 3")
}

// A subproblem that may be as inexact as its centre is left there, without a fit; the bound is below the optimum of the
// subproblem.
func TestAnchoredSubproblem(t *testing.T) {
	const m, n = 80, 70
	train, val := entries(5, m, n, 0)
	require.Greater(t, len(val.Y), 100)
	fit := must.Of(NewCompletion(again(train), val, m, n, nil, false))(t)
	at := must.Of(fit.Solve(context.Background(), []float64{0.1 * fit.LambdaMax()}, 1e-7, nil))(t)
	v := fit.Values(at.X)
	c := &bilevel.Centre{
		X: [][][]float64{at.X}, R: v.Penalties, Value: v.Train, Gamma: at.Lambda, Alpha: 10, Rho: 1e-2, Low: []float64{1e-3},
		High: []float64{1e6}, Tol: 1e-6,
	}
	exact := must.Of(fit.Subproblem([]bilevel.Fit{fit}, 1)(context.Background(), c))(t)
	require.True(t, exact.Solved)
	require.Positive(t, exact.Fits)
	c.Tol = v.Validation
	rough := must.Of(fit.Subproblem([]bilevel.Fit{fit}, 1)(context.Background(), c))(t)
	require.True(t, rough.Solved)
	require.Zero(t, rough.Fits)
	require.Equal(t, at.X, rough.X[0])
	require.InDelta(t, v.Validation, rough.Objective, 1e-12)
	require.LessOrEqual(t, rough.Objective-rough.Gap, exact.Objective)
	require.Less(t, rough.Gap, v.Validation)
}

// again are entries, each twice.
func again(e Entries) Entries {
	n := len(e.Y)
	out := Entries{Row: append(e.Row[:n:n], e.Row...), Col: append(e.Col[:n:n], e.Col...)}
	out.Rows = NewRows(nil, append(e.Y[:n:n], e.Y...))
	return out
}

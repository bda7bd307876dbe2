package matcomp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	lowerfits "github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/matcomp"
)

// large is a matrix of rank 1 and noise with too many known entries for the interior-point method.
func large() *matcomp.Data {
	const m, n = 64, 56
	rng := rand.New(rand.NewPCG(5, 6))
	u, v := make([]float64, m), make([]float64, n)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	d := &matcomp.Data{Rows: m, Cols: n}
	for i := range m {
		for j := range n {
			e := matcomp.Entry{Row: i, Col: j, Value: 0.5 + u[i]*v[j] + 0.5*rng.NormFloat64()}
			switch r := rng.Float64(); {
			case r < 0.62:
				d.Train = append(d.Train, e)
			case r < 0.8:
				d.Val = append(d.Val, e)
			default:
				d.Test = append(d.Test, e)
			}
		}
	}
	return d
}

// dense is a point with Gamma by rows in the place of its factors.
func dense(d *matcomp.Data, x [][]float64) [][]float64 {
	k := len(x[1]) / (d.Rows + d.Cols)
	full := mat.NewDense(d.Rows, d.Cols, nil)
	if k > 0 {
		full.Mul(mat.NewDense(d.Rows, k, x[1][:d.Rows*k]), mat.NewDense(d.Cols, k, x[1][d.Rows*k:]).T())
	}
	return append([][]float64{x[0], full.RawMatrix().Data}, x[2:]...)
}

// Factors are scored, predicted from and saved as the matrix that they stand for.
func TestFactorsAndMatrix(t *testing.T) {
	d := large()
	require.Greater(t, len(d.Train), 2000)
	for _, o := range []matcomp.Options{{}, {Intercept: true, Standardize: true}} {
		m := newModel(t, d, o)
		fit := must.Of(m.Penalised())(t)
		pt := must.Of(fit.Solve(context.Background(), []float64{0.3 * fit.LambdaMax()}, 1e-8, nil))(t)
		require.True(t, pt.Solved)
		full := dense(d, pt.X)
		a, b := m.Evaluate(pt.X), m.Evaluate(full)
		require.InDelta(t, b.Validation, a.Validation, 1e-12)
		require.InDelta(t, *b.Test, *a.Test, 1e-12)
		p, q := m.Fit(pt.X).Matrix, m.Fit(full).Matrix
		require.Equal(t, q.Rank(), p.Rank())
		for i := range d.Rows {
			require.InDelta(t, q.At(i, i%d.Cols), p.At(i, i%d.Cols), 1e-5)
		}
	}
}

// comparison is a completion with an intercept as a conic program and by its fit, at the radii, with the solutions of
// the lower level.
type comparison struct {
	m            *matcomp.Model
	fit          lowerfits.Fit
	conic, quick dca.Program
	settings     dca.Settings
	want, got    *dca.Solution
}

func compare(t *testing.T, d *matcomp.Data, radii []float64, iterations int) (c comparison) {
	c.m = newModel(t, d, matcomp.Options{Intercept: true})
	c.fit = must.Of(c.m.Penalised())(t)
	require.True(t, c.fit.Traits().Compact())
	c.settings = c.m.DefaultSettings()
	c.settings.MaxIter = iterations
	c.settings.Backend = must.Of(backends.Open("native"))(t)
	c.conic = c.m.Program()
	c.conic.H0 = radii
	c.quick = c.conic
	c.quick.Fit = c.fit
	c.want = must.Of(dca.LowerLevel(context.Background(), c.conic, c.settings))(t)
	c.got = must.Of(dca.LowerLevel(context.Background(), c.quick, c.settings))(t)
	require.False(t, math.IsNaN(c.got.Gap))
	c.conic.PathRise, c.quick.PathRise = 1, 1
	return c
}

// solve runs the method by conic programs and by the fit.
func (c comparison) solve(t *testing.T) (a, b *dca.Result) {
	a = must.Of(dca.Solve(context.Background(), c.conic, c.settings))(t)
	b = must.Of(dca.Solve(context.Background(), c.quick, c.settings))(t)
	return a, b
}

// The lower level and the whole method by factors are those by conic programs.
func TestFactoredAgainstConic(t *testing.T) {
	of := compare(t, large(), []float64{35}, 2)
	require.InEpsilon(t, of.want.Value, of.got.Value, 1e-5)
	require.InEpsilon(t, of.want.Lambda[0], of.got.Lambda[0], 1e-4)

	a, b := of.solve(t)
	require.Equal(t, a.Iterations, b.Iterations)
	require.Equal(t, a.StartWeights, b.StartWeights, "also where loose fits say that the path has risen")
	for k, it := range a.Trace {
		require.InEpsilon(t, it.Objective, b.Trace[k].Objective, 1e-4, "%d", k)
		require.InEpsilon(t, it.UpperValue, b.Trace[k].UpperValue, 1e-4)
		require.InEpsilon(t, it.H[0], b.Trace[k].H[0], 1e-4)
		require.Equal(t, "fit", b.Trace[k].SubEngine)
		require.InDelta(t, it.Step, b.Trace[k].Step, 1e-3*it.Step+1e-6)
	}
	require.InEpsilon(t, a.RefitValue, b.RefitValue, 1e-4)

	// the same bytes again, with other numbers of workers
	of.settings.Workers = 2
	of.quick.Fit = of.fit
	c := must.Of(dca.Solve(context.Background(), of.quick, of.settings))(t)
	require.Equal(t, b.X, c.X)
	require.Equal(t, b.H, c.H)
}

// The final training on all entries is the lower level at the radius with these entries.
func TestFactoredRetrain(t *testing.T) {
	d := large()
	m := newModel(t, d, matcomp.Options{})
	backend := must.Of(backends.Open("native"))(t)
	fit, test := must.Both(m.Advice().Retrain(context.Background(), problems.Solver{Backend: backend, Fits: true},
		[]float64{50}))(t)
	all := *d
	all.Train = append(append([]matcomp.Entry{}, d.Train...), d.Val...)
	p := newModel(t, &matcomp.Data{Rows: d.Rows, Cols: d.Cols, Train: all.Train, Val: d.Test[:5], Test: d.Test[5:]},
		matcomp.Options{}).Program()
	p.H0 = []float64{50}
	want := must.Of(dca.LowerLevel(context.Background(), p, dca.Settings{Backend: backend}))(t)
	sum := 0.0
	for _, e := range d.Test {
		r := e.Value - want.X[1][e.Row*d.Cols+e.Col]
		require.InDelta(t, want.X[1][e.Row*d.Cols+e.Col], fit.Matrix.At(e.Row, e.Col), 1e-3)
		sum += r * r
	}
	require.InEpsilon(t, sum/float64(2*len(d.Test)), *test, 1e-4)
}

// With the paper's settings the iterates of a matrix most of whose entries are known nearly interpolate them; VF-iDCA
// ends all the same.
func TestDense(t *testing.T) {
	d := must.Of(matcomp.Generate(matcomp.Config{Rows: 60, Cols: 60, Train: 12, Val: 4}, 1))(t)
	m := newModel(t, d, matcomp.Options{})
	s := m.PaperSettings()
	s.Backend = native.Backend{}
	p := m.Program()
	fit := must.Of(m.Penalised())(t)
	p.Fit = fit
	r := must.Of(dca.Solve(context.Background(), p, s))(t)
	require.Equal(t, outcome.Converged, r.Status, r.Message)
}

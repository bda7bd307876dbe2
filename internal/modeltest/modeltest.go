// Package modeltest has what the tests of the models in problems share: data and runs.
package modeltest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native" // what the runs are on
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// program is that of a model which begins at these radii, the last of which repeats; at its own for none.
func program(m problems.Model, radii []float64) dca.Program {
	p := m.Program()
	if radii != nil {
		p.H0 = p.StartAt(append(radii, slices.Repeat(radii[len(radii)-1:], p.Radii-len(radii))...), nil)
	}
	return p
}

// Solve runs VF-iDCA with the settings on the native backend, from these radii, or for none the model's.
func Solve(t testing.TB, m problems.Model, s dca.Settings, radii ...float64) *dca.Result {
	t.Helper()
	s.Backend = must.Of(backends.Open(backends.Default))(t)
	return must.Of(dca.Solve(context.Background(), program(m, radii), s))(t)
}

// lowerEps is the gap to which LowerLevel solves.
const lowerEps = 1e-11

// LowerLevel solves the lower level at these radii, or for none the model's start, and returns its multipliers too.
func LowerLevel(t testing.TB, m problems.Model, radii ...float64) (x [][]float64, lambda []float64) {
	t.Helper()
	s := m.PaperSettings()
	s.Backend = must.Of(backends.Open(backends.Default))(t)
	p := program(m, radii)
	// The tightest bounds leave h where it is, so that one iteration reports the multipliers there.
	p.Lo, p.Hi = p.H0, p.H0
	s.MaxIter, s.Solver.Eps = 1, lowerEps
	res := must.Of(dca.Solve(context.Background(), p, s))(t)
	require.InDeltaSlice(t, p.H0, res.H, 1e-9)
	require.False(t, res.LeastNorm, "the lower level interpolates")
	return res.Refit, res.Lambda
}

// Split draws rows of independent normal features with the coefficients b and normal errors of
// standard deviation noise: rows of each set.
func Split(seed uint64, train, val, test int, b []float64, noise float64) *dataset.Split {
	rng := rand.New(rand.NewPCG(seed, 77))
	part := func(n int) *dataset.Data {
		d := &dataset.Data{X: mat.NewDense(n, len(b), nil), Y: make([]float64, n), Target: "y"}
		for j := range b {
			d.Features = append(d.Features, "x"+strconv.Itoa(j+1))
		}
		for i := range n {
			row := d.Dense().RawRowView(i)
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			d.Y[i] = floats.Dot(row, b) + noise*rng.NormFloat64()
		}
		return d
	}
	return &dataset.Split{Train: part(train), Val: part(val), Test: part(test)}
}

// Within are the differences from the runs of another implementation, relative ones but for multipliers and steps.
type Within struct{ Errors, Radii, Lambda, Trace, Step float64 }

// AgainstPython compares with so many runs of an independent implementation in Python, see README.md beside their
// folder, of a model.
func AgainstPython(t *testing.T, folder string, runs int, within Within, m problems.Model) {
	raw := must.Of(os.ReadFile(folder + "/vfidca_cvxpy.json"))(t)
	type errors struct {
		Validation float64 `json:"validation_error"`
		Test       float64 `json:"test_error"`
	}
	var list []struct {
		errors
		R0         float64     `json:"r0"`
		Tol        float64     `json:"tol"`
		Iterations int         `json:"iterations"`
		Radii      []float64   `json:"radii"`
		Lambda     []float64   `json:"lambda"`
		Refit      errors      `json:"refit"`
		Trace      [][]float64 `json:"trace"`
	}
	require.NoError(t, json.Unmarshal(raw, &list))
	require.Len(t, list, runs)
	for _, run := range list {
		s := m.PaperSettings()
		s.Tol = run.Tol
		var start []float64
		if run.R0 > 0 {
			start = []float64{run.R0}
		}
		res := Solve(t, m, s, start...)
		require.Equal(t, outcome.Converged, res.Status)
		require.Equal(t, run.Iterations, res.Iterations)
		require.InEpsilon(t, run.Validation, res.UpperValue, within.Errors)
		for _, c := range []struct {
			want errors
			got  problems.Errors
		}{{run.errors, m.Evaluate(res.X)}, {run.Refit, m.Evaluate(res.Refit)}} {
			require.InEpsilon(t, c.want.Validation, c.got.Validation, within.Errors)
			require.InEpsilon(t, c.want.Test, *c.got.Test, within.Errors)
		}
		for j := range run.Radii {
			require.InEpsilon(t, run.Radii[j], res.H[j], within.Radii)
			require.InDelta(t, run.Lambda[j], res.Lambda[j], within.Lambda)
		}
		for k, want := range run.Trace {
			it := res.Trace[k]
			require.Less(t, it.Residual, 1e-7)
			require.InEpsilon(t, want[0], it.UpperValue, within.Trace)
			require.Equal(t, want[2], it.Alpha)
			require.InDelta(t, want[3], it.Step, within.Step)
			require.InDelta(t, want[4], it.T, within.Trace)
			if k > 0 { // theirs is the lower value at the start of the iteration
				require.InEpsilon(t, want[1], res.Trace[k-1].LowerValue, within.Trace)
			}
		}
	}
}

// Residuals are X b - y.
func Residuals(d *dataset.Data, b []float64) []float64 {
	n, _ := d.Dims()
	r := make([]float64, n)
	for i := range n {
		r[i] = d.Dot(i, b) - d.Y[i]
	}
	return r
}

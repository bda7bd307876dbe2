package backends_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/must"
)

// max sum -x log x with a'x = 3, and rows that rounding has left of 0'x = 0: two of them, which as equations have x =
// 0 as their only common solution with x >= 0. Without them x_i = exp(-1 - nu a_i), where nu is by bisection.
func TestUnheardEquations(t *testing.T) {
	a := []float64{8.4, 8.1, 2.7}
	low, high := -10., 10.
	for range 200 {
		nu, sum := (low+high)/2, 0.
		for _, v := range a {
			sum += v * math.Exp(-1-nu*v)
		}
		if sum > 3 {
			low = nu
		} else {
			high = nu
		}
	}
	const n = 3
	for _, scale := range []float64{1, 30, 0.03} {
		entries := backends.NewTriplets(20)
		p := &backends.Problem{Q: make([]float64, 2*n), B: []float64{3 * scale, 0, 0},
			Cones: []backends.Cone{backends.Zero(3)}}
		for i, v := range a {
			p.Q[i] = -1
			entries.Add(0, n+i, v*scale)
			entries.Add(1, n+i, 1e-16*float64(i+1)*scale)
			entries.Add(2, n+i, 2e-16*float64(1-i)*scale)
			// (u, x, 1) in the cone: x exp(u/x) <= 1, u <= -x log x
			row := len(p.B)
			entries.Add(row, i, -1)
			entries.Add(row+1, n+i, -1)
			p.B = append(p.B, 0, 0, 1)
			p.Cones = append(p.Cones, backends.Exponential())
		}
		p.A = must.Of(entries.CSC(len(p.B), 2*n))(t)
		s := backendtest.Setup(t, backendtest.Open(t, "native"), p, backends.Options{})
		for range 2 { // the second time after an update of all numbers
			r := backendtest.Answer(t, s)
			require.Equal(t, backends.Optimal, r.Status, r.Message)
			for i, v := range a {
				require.InDelta(t, math.Exp(-1-low*v), r.X[n+i], 1e-4)
			}
			require.True(t, strings.Contains(r.Message, "2 equations are left out, row 1 first"), r.Message)
			found, _, _ := backends.Recheck(p, r.X, r.S, r.Z)
			require.LessOrEqual(t, found.Max(), 1e-8)
			require.NoError(t, s.Update(backends.Update{A: p.A, B: p.B}))
		}
		b := append([]float64(nil), p.B...)
		b[2] = scale // 2e-16 (x_0 - x_2) = 1 is heard, and fits no x with a'x = 3
		require.NoError(t, s.Update(backends.Update{B: b}))
		r := backendtest.Answer(t, s)
		require.NotEqual(t, backends.Optimal, r.Status)
		require.NotContains(t, r.Message, "2 equations")
		require.NoError(t, s.Update(backends.Update{B: p.B}))
		r = backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, r.Status, r.Message)
	}

	// In units of their own, rows are heard as long as their columns have no larger entries: x - y = 0 beside nothing
	// but x + y = 2e-18.
	entries := backends.NewTriplets(4)
	entries.Add(0, 0, 1e-18)
	entries.Add(0, 1, -1e-18)
	entries.Add(1, 0, 1e-18)
	entries.Add(1, 1, 1e-18)
	small := &backends.Problem{Q: []float64{1, 2}, B: []float64{0, 2e-18}, Cones: []backends.Cone{backends.Zero(2)}}
	small.A = must.Of(entries.CSC(2, 2))(t)
	r := backendtest.Solve(t, backendtest.Open(t, "native"), small, backends.Options{})
	require.InDeltaSlice(t, []float64{1, 1}, r.X, 1e-6, "%v %s", r.Status, r.Message)
}

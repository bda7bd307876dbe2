package backends_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/clarabel"
	"github.com/conetune/conetune/backends/highs"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/conetune/conetune/backends/scs"
	"github.com/conetune/conetune/internal/must"
)

// What the calls of the table answer, by name.
func TestMisuseNamed(t *testing.T) {
	var none context.Context
	p := &backends.Problem{Q: []float64{1}, B: []float64{1, 2}, Cones: []backends.Cone{backends.Zero(1)}}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"backends: the problem is nil", func() { backends.Recheck(nil, nil, nil, nil) }},
		{"backends: the parts of the problem do not fit together; Problem.Validate says where",
			func() { backends.NewJudge(p) }},
		{"backends: a vector does not have the length that the problem asks for",
			func() { backends.CheckDualInfeasible(new(backends.Problem), []float64{1}) }},
		{"backends: a vector does not have the dimension of its cone", func() { backends.Zero(2).Distance([]float64{1}) }},
		{"backends: a cone has no known kind", func() { backends.Cone{Kind: 99}.DualDistance(nil) }},
		{"backends: a Judge is zero; NewJudge makes one", func() { new(backends.Judge).Optimal(nil, nil, nil, 1) }},
		{"backends: Checked: the backend is nil", func() { backends.Checked(nil) }},
		{"backends: EndedBy: the context is nil", func() { backends.EndedBy(none) }},
	} {
		require.PanicsWithValue(t, c.want, c.f)
	}
	require.Zero(t, backends.PSDOrder(-1))
	be := backendtest.Open(t, "native")
	_, err := be.Setup(nil, backends.Options{})
	require.EqualError(t, err, "backends: Problem: is nil")
	require.EqualError(t, backends.Capabilities{}.Unsupported("x", nil), "backends: Problem: is nil")
	_, err = backendtest.Setup(t, be, &backends.Problem{Q: []float64{0}}, backends.Options{}).Solve(none)
	require.EqualError(t, err, "backends: Context: is nil")
}

// TestMissing: a build without the C library of a backend has its settings and knows its name, and asking for it says
// how to get it. With it the version is the pinned one.
func TestMissing(t *testing.T) {
	_ = []any{clarabel.Settings{}, highs.Settings{}, osqp.Settings{}, scs.Settings{}}
	for name, version := range map[string]string{"clarabel": "0.11.1", "highs": "1.15.0", "osqp": "1.0.0", "scs": "3.3.1"} {
		require.Contains(t, backends.Known(), name)
		b, err := backends.Open(name)
		if backends.Missing(name) == "" {
			require.NoError(t, err)
			require.Equal(t, version, b.Capabilities().Version)
			continue
		}
		require.Error(t, err)
		for _, want := range []string{`this build lacks "` + name + `"`, "make deps", "-tags " + name} {
			assert.True(t, strings.Contains(err.Error(), want), "%v", err)
		}
	}
}

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

package cbf

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

// again is the model that is read from what another one is written as.
func again(t *testing.T, m *Model) *Model {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, m.Encode(&text))
	return must.Of(Decode("again.cbf", &text))(t)
}

// What is written is read as the same model, of public instances, too.
func TestEncode(t *testing.T) {
	files := must.Of(filepath.Glob("testdata/*.cbf"))(t)
	if dir := os.Getenv("CONETUNE_INSTANCES"); dir != "" {
		files = append(files, must.Of(filepath.Glob(filepath.Join(dir, "conic", "*.cbf.gz")))(t)...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		m := must.Of(Read(file))(t)
		require.Equal(t, m, again(t, m), file)
	}
}

// Programs of known optimum have it as models of this format, too, with the constant of their objective.
func TestFromConic(t *testing.T) {
	for file, optimum := range map[string]float64{"small": 6 - 2*math.Sqrt2, "cones": math.E + 1} {
		m := must.Of(Read("testdata/" + file + ".cbf"))(t)
		p := must.Of(m.Conic())(t)
		sign := 1.0
		if m.Maximize {
			sign = -1
		}
		copied := again(t, must.Of(FromConic(p.Problem, sign*m.Constant))(t))
		s, got := solve(t, copied)
		require.Equal(t, backends.Optimal, s.Status)
		require.InDelta(t, optimum, sign*got.Objective, 1e-6, file)
	}

	// Boxes, and a quadratic objective: see the file of package qps for the optimum.
	q := must.Of(qps.Read("../qps/testdata/small.qps"))(t)
	p := q.Conic()
	s, got := solve(t, again(t, must.Of(FromConic(p.Problem, q.Constant))(t)))
	require.Equal(t, backends.Optimal, s.Status)
	require.InDeltaSlice(t, []float64{1, 1.5}, got.X[:2], 1e-5)
	require.InDelta(t, 1.5+1.5*1.5-2-3+1, got.Objective, 1e-6)

	// min (x + y)^2 - 3 (x + y) + z^2/2 - 2 z + 3 has the value -5/4 at x + y = 3/2, z = 2, where x = y is in the cones
	// x^0.3 y^0.7 >= |z - 2|, the dual of that, and x^0.5 y^0.5 >= |z - 2|.
	dense := func(r, c int, v ...float64) *sparse.CSC { return matrices.Compress(mat.NewDense(r, c, v)) }
	problem := &backends.Problem{
		P: dense(3, 3, 2, 2, 0, 0, 2, 0, 0, 0, 1),
		Q: []float64{-3, -3, -2},
		A: dense(9, 3, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, 1),
		B: []float64{0, 0, 2, 0, 0, 2, 0, 0, 2},
		Cones: []backends.Cone{backends.Power(0.3), backends.DualPower(0.3),
			backends.GeneralizedPower([]float64{0.5, 0.5}, 1)},
	}
	s, got = solve(t, again(t, must.Of(FromConic(problem, 3))(t)))
	require.Equal(t, backends.Optimal, s.Status)
	require.InDelta(t, -1.25, got.Objective, 1e-6)
	require.InDelta(t, 1.5, got.X[0]+got.X[1], 1e-4)
	require.InDelta(t, 2, got.X[2], 1e-4)

	problem.P = dense(3, 3, 0, 1, 0, 0, 0, 0, 0, 0, 1)
	_, err := FromConic(problem, 0)
	require.ErrorContains(t, err, "not positive semidefinite")
	_, err = FromConic(&backends.Problem{Q: []float64{1}, A: dense(3, 1, 1, 1, 1), B: make([]float64, 3),
		Cones: []backends.Cone{backends.NuclearNorm(1, 2)}}, 0)
	require.ErrorContains(t, err, "nuclear")
	_, err = FromConic(&backends.Problem{Q: []float64{math.NaN()}}, 0)
	require.Error(t, err)
}

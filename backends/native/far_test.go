package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/planted"
)

// rowsOf returns the matrix with the given rows.
func rowsOf(n int, rows ...[]float64) *triplets {
	t := &triplets{}
	for i, r := range rows {
		for j, v := range r {
			if v != 0 {
				t.add(i, j, v)
			}
		}
	}
	return t
}

// TestFarSolutions: min 1e-8 x, x - y >= 1, x <= (1 + d) y, x, y >= 0 has the solution y = 1/d, x = y + 1, and is
// infeasible for all points nearer than that.
func TestFarSolutions(t *testing.T) {
	for _, d := range []float64{1e-4, 1e-6, 5e-7, 1e-7, 1e-8, 1e-9} {
		p := &backends.Problem{
			Q: []float64{1e-8, 0}, B: []float64{-1, 0, 0, 0}, Cones: []backends.Cone{backends.Nonnegative(4)},
			A: rowsOf(2, []float64{-1, 1}, []float64{1, -(1 + d)}, []float64{-1, 0}, []float64{0, -1}).csc(4, 2),
		}
		sol := solveChecked(t, p)
		require.Equal(t, backends.Optimal, sol.Status, "d = %g: %s", d, sol.Message)
		exact := 1/(1+d-1) + 1 // with the d that 1 + d has
		assert.InEpsilon(t, 1e-8*exact, sol.Objective, 1e-5, "d = %g", d)
	}
}

// TestFarCones: min w with v exp(u/v) <= w, u = e, v = 1 is exp(e), and max u with w = exp(-e) is -e: sides that are up
// to e^50 apart.
func TestFarCones(t *testing.T) {
	for e := 5.0; e <= 22; e += 0.0625 {
		p := &backends.Problem{
			Q: []float64{0, 0, 1}, B: []float64{1, e, 0, 0, 0}, Cones: []backends.Cone{backends.Zero(2), backends.Exponential()},
			A: rowsOf(3, []float64{0, 1, 0}, []float64{1, 0, 0}, []float64{-1, 0, 0}, []float64{0, -1, 0},
				[]float64{0, 0, -1}).csc(5, 3),
		}
		sol := solveChecked(t, p)
		require.Equal(t, backends.Optimal, sol.Status, "exp(%g): %s", e, sol.Message)
		assert.InEpsilon(t, math.Exp(e), sol.Objective, 1e-6, "exp(%g)", e)
	}
	for _, e := range []float64{-20, -10, 5, 10, 20, 30, 50} {
		p := &backends.Problem{
			Q: []float64{-1}, B: []float64{0, 1, math.Exp(-e)}, Cones: []backends.Cone{backends.Exponential()},
			A: rowsOf(1, []float64{-1}).csc(3, 1),
		}
		sol := solveChecked(t, p)
		require.Equal(t, backends.Optimal, sol.Status, "log %g: %s", e, sol.Message)
		assert.InEpsilon(t, e, sol.Objective, 1e-6, "log %g", e)
	}
}

// TestFarSides: max w with |w| <= u^a v^(1-a) and given u and v.
func TestFarSides(t *testing.T) {
	for _, a := range []float64{1e-6, 0.3, 0.5, 0.7, 1 - 1e-6} {
		for _, sides := range [][2]float64{{4e6, 9e-6}, {9e-6, 4e6}, {4, 9}} {
			p := &backends.Problem{
				Q: []float64{0, 0, -1}, B: []float64{sides[0], sides[1], 0, 0, 0}, Cones: []backends.Cone{backends.Zero(2),
					backends.Power(a)},
				A: rowsOf(3, []float64{1, 0, 0}, []float64{0, 1, 0}, []float64{-1, 0, 0}, []float64{0, -1, 0},
					[]float64{0, 0, -1}).csc(5, 3),
			}
			sol := solveChecked(t, p)
			name := fmt.Sprintf("%g^%g %g^%g", sides[0], a, sides[1], 1-a)
			require.Equal(t, backends.Optimal, sol.Status, "%s: %s", name, sol.Message)
			exact := math.Pow(sides[0], a) * math.Pow(sides[1], 1-a)
			assert.InDelta(t, exact, sol.Objective*-1, 1e-6*max(1, exact), name)
		}
	}
}

// TestFarMultipliers: programs whose multipliers are 1e9 times as large as their data. Points that miss a constraint by
// 1e-10 meet the tolerance, with an objective that is off by as much as the sizes of the data. The values follow from x
// and z with s'z = 0 and q + Px + A'z = 0, to the last bit.
func TestFarMultipliers(t *testing.T) {
	for _, c := range []struct {
		p    *backends.Problem
		want float64
	}{
		{ // x = 0, z = (7.04643072e8, 5.36870912e8, 0)
			&backends.Problem{
				Q: []float64{-0.625, 0.5}, B: []float64{0, 0, 2.125}, Cones: []backends.Cone{backends.Nonnegative(3)},
				A: rowsOf(2, []float64{-0.375, -0.625}, []float64{0.4921875011641532, 0.8203124990686774},
					[]float64{2.875, -2.875}).csc(3, 2),
			}, 0,
		},
		{ // x = (1, 0, -1), z = (5.36870912e8, 2.68435456e8)
			&backends.Problem{
				P: rowsOf(3, []float64{6, 5, 5}, []float64{0, 17, -7}, []float64{0, 0, 22}).csc(3, 3),
				Q: []float64{-1, -9, 17}, B: []float64{0, 0}, Cones: []backends.Cone{backends.PSD(1), backends.Nonnegative(1)},
				A: rowsOf(3, []float64{-1, 0, -1}, []float64{2, -1.1175870895385742e-08, 2}).csc(2, 3),
			}, -9,
		},
		{ // x = (1, 0, 1), z = (0, 0, 0, 0, 8.05306368e8, 5.36870912e8)
			&backends.Problem{
				Q: []float64{1, 2, 2}, B: []float64{-2, -6, 5, -2, 0, -5.587935447692871e-09},
				A: rowsOf(3, []float64{3, -1, -2}, []float64{-1, -2, -1}, []float64{2, -1, -1}, []float64{-2, 2, -1},
					[]float64{-1, 3, 1},
					[]float64{1.4999999981373549, -4.50000000372529, -1.5000000037252903}).csc(6, 3),
				Cones: []backends.Cone{
					backends.Box([]float64{-3, math.Inf(-1), 1, -1}, []float64{-2, -1, math.Inf(1), 1}), backends.PSD(1),
					backends.Zero(1),
				},
			}, 3,
		},
	} {
		sol := solveChecked(t, c.p)
		require.Equal(t, backends.Optimal, sol.Status, sol.Message)
		assert.InDelta(t, c.want, sol.Objective, 1e-6)
	}
}

// TestCertificateReach: a certificate that reaches 1e7 times as far as the data is none at the default tolerance, and
// one that is asked for no more is told.
func TestCertificateReach(t *testing.T) {
	const d = 1e-13
	p := &backends.Problem{
		Q: []float64{1e-8, 0}, B: []float64{-1, 0, 0, 0}, Cones: []backends.Cone{backends.Nonnegative(4)},
		A: rowsOf(2, []float64{-1, 1}, []float64{1, -(1 + d)}, []float64{-1, 0}, []float64{0, -1}).csc(4, 2),
	}
	for _, c := range []struct {
		eps       float64
		told, not backends.Status
	}{{1e-8, backends.PrimalInfeasible, backends.Optimal}, {1e-15, backends.Inaccurate, backends.PrimalInfeasible}} {
		sol := backendtest.Solve(t, backendtest.Open(t, "native"), p, backends.Options{Eps: c.eps})
		assert.NotEqual(t, c.not, sol.Status, "eps %g", c.eps)
		if c.told == backends.PrimalInfeasible {
			assert.Equal(t, c.told, sol.Status, sol.Message)
			assert.Greater(t, sol.Radius, 1e10)
		}
	}
}

// TestNothingToMove: where A and the right-hand side of the rows in dense blocks are zero, so is the solution of the
// first Newton system.
func TestNothingToMove(t *testing.T) {
	p := &backends.Problem{
		P: rowsOf(4, nil, nil, []float64{0, 0, 9, 0}, nil).csc(4, 4), Q: make([]float64, 4), A: rowsOf(4).csc(4, 4),
		B:     []float64{1, 0, 0, 0},
		Cones: []backends.Cone{backends.Nonnegative(1), backends.DualGeneralizedPower([]float64{1}, 2)},
	}
	sol := solveChecked(t, p)
	require.Equal(t, backends.Optimal, sol.Status, sol.Message)
	assert.InDelta(t, 0, sol.Objective, 1e-8)
}

// triplets collects the entries of a sparse matrix; entries of one place add up.
type triplets struct{ entries []triplet }

type triplet struct {
	i, j int
	v    float64
}

func (t *triplets) add(i, j int, v float64) { t.entries = append(t.entries, triplet{i, j, v}) }

func (t *triplets) csc(m, n int) *sparse.CSC {
	var all backends.Triplets
	for _, e := range t.entries {
		all.Add(e.i, e.j, e.v)
	}
	out, err := all.CSC(m, n)
	if err != nil {
		panic(err)
	}
	return out
}

// Programs of tens of variables with all that planted programs have: rows, columns and objectives of many sizes, rows
// and columns that are there twice, no interior, directions that cost nothing, proofs. None is answered wrongly, and
// most are answered.
func TestHardProblems(t *testing.T) {
	run := planted.Run{Backends: []backends.ConicBackend{backendtest.Open(t, "native")}, Mode: planted.Large,
		Scales: []int{0, 3, 5}, First: 1, N: 50}
	for _, fault := range run.Do(t.Context()).Faults(0.93, run.N) {
		t.Error(fault)
	}
}

func solveChecked(t *testing.T, p *backends.Problem) *backends.Solution {
	t.Helper()
	return backendtest.Solve(t, backendtest.Open(t, "native"), p, backends.Options{})
}

// normals are n normally distributed numbers.
func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range n {
		v[i] = rng.NormFloat64()
	}
	return v
}

func solved(t *testing.T, p *backends.Problem) *backends.Solution {
	sol := solveChecked(t, p)
	require.Equal(t, backends.Optimal, sol.Status, sol.Message)
	return sol
}

// The largest prod x_i^w_i of numbers of sum 1 is prod w_i^w_i, at x = w.
func TestWeightedMeansOfMany(t *testing.T) {
	for _, k := range []int{1, 2, 10, 50, 200} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			w, sum, most := make([]float64, k), 0.0, 0.0
			for i := range w {
				w[i] = float64(1 + i*i%7)
				sum += w[i]
			}
			ptr, ind, val := []int{0}, []int{}, []float64{}
			entry := func(row int, v float64) { ind, val = append(ind, row), append(val, v) }
			for i := range w {
				w[i] /= sum
				most += w[i] * math.Log(w[i])
				entry(0, 1)
				entry(1+i, -1)
				ptr = append(ptr, len(ind))
			}
			entry(1+k, -1)
			p := &backends.Problem{
				Q: append(make([]float64, k), -1), A: sparse.NewCSC(2+k, k+1, append(ptr, len(ind)), ind, val),
				B:     append([]float64{1}, make([]float64, k+1)...),
				Cones: []backends.Cone{backends.Zero(1), backends.GeneralizedPower(w, 1)},
			}
			sol := solved(t, p)
			require.InDelta(t, -math.Exp(most), sol.Objective, 1e-7)
			require.InDeltaSlice(t, w, sol.X[:k], 1e-4)
		})
	}
}

// What backendtest draws is solved with many weights and long vectors under the norm, too.
func TestLargeGeneralizedPowers(t *testing.T) {
	weights := slices.Repeat([]float64{1. / 60, 2. / 60, 3. / 60}, 10)
	skew := []float64{1e-6, 0.3, 0.7 - 1e-6}
	for name, cones := range map[string][]backends.Cone{
		"many weights": {backends.GeneralizedPower(weights, 5), backends.DualGeneralizedPower(weights, 5)},
		"long vector":  {backends.GeneralizedPower([]float64{0.4, 0.6}, 100)},
		"tiny weight":  {backends.GeneralizedPower(skew, 2), backends.DualGeneralizedPower(skew, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{4, 40} {
				for seed := range uint64(8) {
					c := backendtest.NewCase(planted.Shape{Name: name, N: n, Rank: n - 4, Density: 0.8, Cones: cones}, seed)
					sol := solved(t, c.Problem)
					require.InDelta(t, c.Objective, sol.Objective, 1e-6*(1+math.Abs(c.Objective)))
					require.Less(t, sol.Iterations, 60)
				}
			}
		})
	}
}

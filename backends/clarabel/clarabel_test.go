//go:build clarabel && cgo

package clarabel_test

import (
	"math"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/clarabel"
	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t testing.TB) backends.ConicBackend { return backendtest.Open(t, "clarabel") }

func setup(t testing.TB, p *backends.Problem, o backends.Options) backends.Solver {
	t.Helper()
	return backendtest.Setup(t, open(t), p, o)
}

func solve(t testing.TB, p *backends.Problem, o backends.Options) *backends.Solution {
	t.Helper()
	return backendtest.Solve(t, open(t), p, o)
}

// TestConformance is the promise of the package: residuals of 1e-8, also where rows, columns and
// the objective are a million times apart.
func TestConformance(t *testing.T) {
	backendtest.Run(t, open(t), backendtest.Options{Answers: 0.99, NoIterationLog: true, SingleRun: true})
}

func TestSettings(t *testing.T) {
	backendtest.Settings(t, open(t), backendtest.BoxedSquares(8), map[string]any{
		"Options.Settings": 7, "Settings.EpsFeasible": clarabel.Settings{EpsFeasible: -1},
		"Settings.EpsGap":              clarabel.Settings{EpsGap: math.Inf(1)},
		"Settings.EpsInfeasible":       clarabel.Settings{EpsInfeasible: math.NaN()},
		"Settings.LinearSolver":        clarabel.Settings{LinearSolver: "mkl"},
		"Settings.EquilibrationRounds": clarabel.Settings{EquilibrationRounds: -1},
		"Settings.Merge":               clarabel.Settings{Merge: "all"}, "Settings.MaxStep": clarabel.Settings{MaxStep: 1},
		"Settings.StaticRegularization": clarabel.Settings{StaticRegularization: -1},
		"Settings.Refinements":          clarabel.Settings{Refinements: -1},
	},
		clarabel.Settings{EpsFeasible: 1e-10, EpsGap: 1e-10}, clarabel.Settings{EpsInfeasible: 1e-10},
		clarabel.Settings{LinearSolver: "qdldl"}, clarabel.Settings{LinearSolver: "faer"},
		clarabel.Settings{NoEquilibration: true}, clarabel.Settings{EquilibrationRounds: 2},
		clarabel.Settings{NoChordal: true}, clarabel.Settings{Merge: "none"},
		clarabel.Settings{Merge: "parent_child"}, clarabel.Settings{MaxStep: 0.9},
		clarabel.Settings{StaticRegularization: 1e-9}, clarabel.Settings{Refinements: 3},
		clarabel.Settings{NoRescaling: true}, clarabel.Settings{Retries: -1},
	)
}

// TestThreads has the same bytes from the supernodal factorisation, whatever the number of threads.
func TestThreads(t *testing.T) {
	p := backendtest.Projection(12)
	set := clarabel.Settings{LinearSolver: "faer"}
	one, two := solve(t, p, backends.Options{Settings: set}), solve(t, p, backends.Options{Settings: set, Threads: 2})
	assert.Equal(t, backends.Optimal, one.Status)
	assert.Equal(t, one.X, two.X)
}

// TestChordal has PSD cones with a band of entries, which Clarabel takes apart: the answers with and
// without are the same, also after an update of q, for which it is set up again.
func TestChordal(t *testing.T) {
	p := band(12)
	for _, merge := range []string{"", "none", "parent_child"} {
		with := setup(t, p, backends.Options{Settings: clarabel.Settings{Merge: merge}})
		whole := setup(t, p, backends.Options{Settings: clarabel.Settings{NoChordal: true}})
		for _, by := range []float64{1, 1.5} {
			u := backends.Update{Q: make([]float64, len(p.Q))}
			for j, v := range p.Q {
				u.Q[j] = by * v
			}
			var objective [2]float64
			for i, s := range []backends.Solver{with, whole} {
				require.NoError(t, s.Update(u))
				sol := backendtest.Answer(t, s)
				assert.Equal(t, backends.Optimal, sol.Status, sol.Message)
				objective[i] = sol.Objective
			}
			assert.InDelta(t, objective[1], objective[0], 1e-6, "%s %g", merge, by)
		}
	}
}

func TestCancel(t *testing.T) {
	s := setup(t, backendtest.BoxedSquares(300), backends.Options{
		Eps: 1e-300, Settings: clarabel.Settings{Retries: 1 << 30},
	})
	assert.Less(t, backendtest.CancelDelay(t, s), 100*time.Millisecond)
}

// TestTimeLimit leaves the point of the last iteration.
func TestTimeLimit(t *testing.T) {
	s := setup(t, backendtest.Projection(40), backends.Options{Eps: 1e-300, TimeLimit: 20 * time.Millisecond})
	for range 2 {
		sol := backendtest.Answer(t, s)
		assert.Equal(t, backends.TimeLimit, sol.Status)
		assert.Len(t, sol.X, 40*41/2)
	}
}

// band is the least sum of a diagonal that makes a matrix of order n with given entries beside the
// diagonal, and zeros elsewhere, positive semidefinite.
func band(n int) *backends.Problem {
	c := backends.PSD(n)
	ptr, ind, val := []int{0}, []int{}, []float64{}
	q := []float64{}
	b := make([]float64, c.Dim)
	at := 0
	for j := range n {
		for i := j; i < n; i++ {
			switch i - j {
			case 0:
				ind, val, q = append(ind, at), append(val, -1), append(q, 1)
				ptr = append(ptr, len(ind))
			case 1:
				b[at] = math.Sqrt2 * (1 + float64(j%3))
			}
			at++
		}
	}
	return &backends.Problem{Q: q, A: sparse.NewCSC(c.Dim, n, ptr, ind, val), B: b, Cones: []backends.Cone{c}}
}

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, open(t)) }

func TestProcess(t *testing.T) {
	backendtest.Process(t, open(t), func() backends.Solver {
		s, err := open(t).Setup(backendtest.Projection(30), backends.Options{Eps: 1e-300, TimeLimit: 200 * time.Millisecond})
		require.NoError(t, err)
		return s
	}, backendtest.BoxedSquares(8), backendtest.Projection(3))
}

package augmented_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/augmented"
	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/matrices"
)

// TestConformance is the suite of all backends with second-order and exponential cones by quadratic programs of native.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs over osqp where that is built")
	}
	backendtest.Run(t, augmented.Over(backendtest.Lines(native.Backend{})), backendtest.Options{NoIterationLog: true})
}

// Problems without such cones are the backend's own.
func TestOwn(t *testing.T) {
	b := augmented.Over(backendtest.Lines(native.Backend{}))
	require.Equal(t, "native", b.Name())
	require.True(t, b.Capabilities().Supports(backends.SecondOrderCone))
	require.False(t, b.Capabilities().Supports(backends.PSDCone))
	p := &backends.Problem{Q: []float64{1}, A: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{-1}), B: []float64{-2},
		Cones: []backends.Cone{backends.Nonnegative(1)}}
	own := backendtest.Setup(t, native.Backend{}, p, backends.Options{})
	require.IsType(t, own, backendtest.Setup(t, b, p, backends.Options{}))
}

// refusing takes no quadratic programs, as OSQP does not where numbers are too far apart for its factors.
type refusing struct{ backends.ConicBackend }

func (refusing) Setup(*backends.Problem, backends.Options) (backends.Solver, error) {
	return nil, &backends.ProblemError{Field: "P", Reason: "cannot be factored"}
}

// A quadratic program of the sequence that is refused is no error of the caller's.
func TestRefused(t *testing.T) {
	p := &backends.Problem{ // min w with (1, 1, w) in the cone
		Q: []float64{1}, A: sparse.NewCSC(3, 1, []int{0, 1}, []int{2}, []float64{-1}), B: []float64{1, 1, 0},
		Cones: []backends.Cone{backends.Exponential()},
	}
	out := backendtest.Solve(t, augmented.Over(refusing{backendtest.Lines(native.Backend{})}), p, backends.Options{})
	require.Equal(t, backends.NumericalError, out.Status)
	require.Contains(t, out.Message, "cannot be factored")
}

// watched counts the quadratic programs and may change what is said of them.
type watched struct {
	backends.ConicBackend
	solves *int
	change func(*backends.Solution)
}

func (w watched) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s, err := w.ConicBackend.Setup(p, o)
	return &watchedSolver{s, w}, err
}

type watchedSolver struct {
	backends.Solver
	w watched
}

func (s *watchedSolver) Solve(ctx context.Context) (*backends.Solution, error) {
	*s.w.solves++
	out, err := s.Solver.Solve(ctx)
	if err == nil && s.w.change != nil {
		s.w.change(out)
	}
	return out, err
}

// watch sets a problem up with its quadratic programs watched.
func watch(t *testing.T, p *backends.Problem, o backends.Options, change func(*backends.Solution)) (backends.Solver,
	*int) {
	t.Helper()
	solves := new(int)
	return backendtest.Setup(t, augmented.Over(watched{backendtest.Lines(native.Backend{}), solves, change}), p, o), solves
}

// grouped is min |Ax - b|^2 / 2 + sum_g |x_g| over six groups of three, the rows of A in squares and those of the norms
// in second-order cones.
func grouped(shift float64) *backends.Problem {
	const rows, groups, each = 40, 6, 3
	const n = groups * each
	random := rand.New(rand.NewPCG(3, 4))
	p, q := sparse.NewDOK(n+groups, n+groups), make([]float64, n+groups)
	for range rows {
		a, b := make([]float64, n), shift
		for j := range a {
			a[j] = random.NormFloat64()
			if j < 2*each {
				b += a[j]
			}
		}
		b += random.NormFloat64()
		for i := range n {
			q[i] -= a[i] * b
			for j := i; j < n; j++ {
				p.Set(i, j, p.At(i, j)+a[i]*a[j])
			}
		}
	}
	a := sparse.NewDOK(n+groups, n+groups)
	var cones []backends.Cone
	for g := range groups {
		q[n+g] = 20
		a.Set(g*(each+1), n+g, -1)
		for k := range each {
			a.Set(g*(each+1)+1+k, g*each+k, -1)
		}
		cones = append(cones, backends.SecondOrder(each+1))
	}
	return &backends.Problem{P: matrices.Compress(p), Q: q, A: matrices.Compress(a), B: make([]float64, n+groups),
		Cones: cones}
}

// A solve of numbers near those before goes on with what the multipliers and sigma are, and takes fewer quadratic
// programs; the answers are those of the native solver, which has these cones itself.
func TestAfterUpdate(t *testing.T) {
	o := backends.Options{Eps: 1e-7}
	s, solves := watch(t, grouped(0), o, nil)
	var counts []int
	var last *backends.Solution
	for _, shift := range []float64{0, 0.01, 0.02} {
		p := grouped(shift)
		if last != nil {
			require.NoError(t, s.Update(backends.Update{Q: p.Q}))
			require.NoError(t, s.WarmStart(backends.Point{X: last.X, Z: last.Z}))
		}
		*solves = 0
		out := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, out.Status)
		counts, last = append(counts, *solves), out

		want := backendtest.Solve(t, native.Backend{}, p, backends.Options{Eps: 1e-10})
		require.InDeltaSlice(t, want.X, out.X, 1e-4)
	}
	require.Less(t, counts[1], counts[0])
	require.Less(t, counts[2], counts[0])
}

// Where the quadratic programs are not solved well enough for the tolerance, the solve ends with the best point after
// steps that are no better, not after all that it may take.
func TestNothingBetter(t *testing.T) {
	s, solves := watch(t, grouped(0), backends.Options{Eps: 1e-9}, func(out *backends.Solution) {
		for j, x := range out.X {
			out.X[j] = math.Round(x*1e4) / 1e4
		}
	})
	out := backendtest.Answer(t, s)
	require.Equal(t, backends.Inaccurate, out.Status)
	require.Less(t, *solves, 450)

	want := backendtest.Solve(t, native.Backend{}, grouped(0), backends.Options{Eps: 1e-10})
	require.InDeltaSlice(t, want.X, out.X, 1e-2)
}

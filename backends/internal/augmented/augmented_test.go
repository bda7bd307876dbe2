package augmented_test

import (
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/augmented"
	"github.com/conetune/conetune/backends/native"
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

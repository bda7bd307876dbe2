package augmented_test

import (
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/augmented"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/native"
)

// lines is the native solver without its cones.
type lines struct{ backends.ConicBackend }

func (l lines) Capabilities() backends.Capabilities {
	c := l.ConicBackend.Capabilities()
	c.Cones = []backends.ConeKind{backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone}
	return c
}

// TestConformance is the suite of all backends with second-order cones by quadratic programs of the native solver, rows, columns and objectives up to a
// thousand times apart.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs over osqp where that is built")
	}
	backendtest.Run(t, augmented.Over(lines{native.Backend{}}), backendtest.Options{NoIterationLog: true, Scale: 1000})
}

// Problems without such cones are the backend's own.
func TestOwn(t *testing.T) {
	b := augmented.Over(lines{native.Backend{}})
	require.Equal(t, "native", b.Name())
	require.True(t, b.Capabilities().Supports(backends.SecondOrderCone))
	require.False(t, b.Capabilities().Supports(backends.PSDCone))
	p := &backends.Problem{Q: []float64{1}, A: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{-1}), B: []float64{-2}, Cones: []backends.Cone{backends.Nonnegative(1)}}
	own, err := native.Backend{}.Setup(p, backends.Options{})
	require.NoError(t, err)
	over, err := b.Setup(p, backends.Options{})
	require.NoError(t, err)
	require.IsType(t, own, over)
	require.NoError(t, own.Close())
	require.NoError(t, over.Close())
}

package native_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

// TestCancelDelay has a linear program whose iterations take some milliseconds.
func TestCancelDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("a test of time, which the race detector distorts")
	}
	const n = 500
	c := backendtest.Shape{Name: "lp", N: n, Cones: []backends.Cone{backends.Nonnegative(2 * n)}, Density: 0.2, Vertex: true}.NewCase(1)
	b, err := backends.Open("native")
	require.NoError(t, err)
	s, err := b.Setup(c.Problem, backends.Options{})
	require.NoError(t, err)
	defer s.Close()
	assert.Less(t, backendtest.CancelDelay(t, s), 100*time.Millisecond)
}

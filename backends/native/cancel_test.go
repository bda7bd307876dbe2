package native_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/internal/planted"
)

// TestCancelDelay has a linear program whose iterations take some milliseconds.
func TestCancelDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("a test of time, which the race detector distorts")
	}
	const n = 500
	c := backendtest.NewCase(planted.Shape{Name: "lp", N: n, Cones: []backends.Cone{backends.Nonnegative(2 * n)},
		Density: 0.2, Vertex: true}, 1)
	assert.Less(t, backendtest.CancelDelay(t, opened(t, c.Problem)), 100*time.Millisecond)
}

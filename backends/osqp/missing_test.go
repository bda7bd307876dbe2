//go:build !osqp || !cgo

package osqp_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/stretchr/testify/assert"
)

// TestMissing is a build without the C library: the name is known, and asking for
// it says how to get it.
func TestMissing(t *testing.T) {
	_ = backends.Options{Settings: osqp.Settings{}} // the type is there all the same
	assert.NotContains(t, backends.Names(), "osqp")
	assert.Contains(t, backends.Known(), "osqp")
	_, err := backends.Open("osqp")
	assert.ErrorContains(t, err, `this build lacks "osqp"`)
	assert.ErrorContains(t, err, "make deps")
	assert.ErrorContains(t, err, "-tags osqp")
}

//go:build !scs || !cgo

package scs_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/scs"
	"github.com/stretchr/testify/assert"
)

// TestMissing is a build without the C library: the name is known, and asking for
// it says how to get it.
func TestMissing(t *testing.T) {
	_ = backends.Options{Settings: scs.Settings{}} // the type is there all the same
	assert.NotContains(t, backends.Names(), "scs")
	assert.Contains(t, backends.Known(), "scs")
	_, err := backends.Open("scs")
	assert.ErrorContains(t, err, `this build lacks "scs"`)
	assert.ErrorContains(t, err, "make deps")
	assert.ErrorContains(t, err, "-tags scs")
}

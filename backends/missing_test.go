package backends_test

import (
	"strings"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/clarabel"
	"github.com/conetune/conetune/backends/highs"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/conetune/conetune/backends/scs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMissing: a build without the C library of a backend has its settings and knows its name, and asking for it says
// how to get it.
func TestMissing(t *testing.T) {
	_ = []any{clarabel.Settings{}, highs.Settings{}, osqp.Settings{}, scs.Settings{}}
	for _, name := range []string{"clarabel", "highs", "osqp", "scs"} {
		require.Contains(t, backends.Known(), name)
		_, err := backends.Open(name)
		if backends.Missing(name) == "" {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err)
		for _, want := range []string{`this build lacks "` + name + `"`, "make deps", "-tags " + name} {
			assert.True(t, strings.Contains(err.Error(), want), "%v", err)
		}
	}
}

//go:build !amd64 || noasm

package dense

import "testing"

// eachLevel runs f with the portable kernels, the only ones of this build.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("go", f)
}

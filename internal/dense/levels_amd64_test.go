//go:build !noasm

package dense

import "testing"

// eachLevel runs f with every set of kernels that this CPU has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	best := bestLevel()
	t.Cleanup(func() { level = best })
	for l, name := range []string{"go", "avx2", "avx512"} {
		if l > best {
			t.Logf("%s: this CPU has no such kernels", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			level = l
			defer func() { level = best }()
			f(t)
		})
	}
}

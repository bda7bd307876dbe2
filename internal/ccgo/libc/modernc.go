//go:build (scs_go || osqp_go) && (linux || darwin || windows || freebsd) && (amd64 || arm64)

package libc

import "modernc.org/libc"

// thread has the stack.
type thread struct{ *libc.TLS }

func newThread() thread { return thread{libc.NewTLS()} }

// Xmalloc returns n bytes, 0 if there is no memory.
func Xmalloc(t *TLS, n uint64) uintptr { return libc.Xmalloc(t.TLS, n) }

// Xcalloc returns n times size bytes that are zero, 0 if there is no memory.
func Xcalloc(t *TLS, n, size uint64) uintptr { return libc.Xcalloc(t.TLS, n, size) }

// Xrealloc moves what is at p, nothing if that is 0, to a place of n bytes.
func Xrealloc(t *TLS, p uintptr, n uint64) uintptr { return libc.Xrealloc(t.TLS, p, n) }

// Xfree frees what is at p, if that is not 0.
func Xfree(t *TLS, p uintptr) {
	if p != 0 {
		libc.Xfree(t.TLS, p)
	}
}

// Xexp is e to the x.
func Xexp(t *TLS, x float64) float64 { return libc.Xexp(t.TLS, x) }

// Xlog is the natural logarithm.
func Xlog(t *TLS, x float64) float64 { return libc.Xlog(t.TLS, x) }

// Xpow is x to the y.
func Xpow(t *TLS, x, y float64) float64 { return libc.Xpow(t.TLS, x, y) }

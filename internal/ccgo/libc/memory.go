//go:build scs_go || osqp_go

package libc

import (
	"sort"
	"time"
	"unsafe"

	"modernc.org/libc"
)

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

// Xmemcpy copies n bytes.
func Xmemcpy(_ *TLS, to, from uintptr, n uint64) uintptr { return Xmemmove(nil, to, from, n) }

// Xmemmove copies n bytes, also where the two places overlap.
func Xmemmove(_ *TLS, to, from uintptr, n uint64) uintptr {
	if n > 0 {
		copy(bytes(to, n), bytes(from, n))
	}
	return to
}

// Xmemset sets n bytes to c.
func Xmemset(_ *TLS, to uintptr, c int32, n uint64) uintptr {
	if n == 0 {
		return to
	}
	b := bytes(to, n)
	if c == 0 {
		clear(b)
		return to
	}
	for i := range b {
		b[i] = byte(c)
	}
	return to
}

// Xstrlen returns the length of a text.
func Xstrlen(_ *TLS, s uintptr) uint64 {
	n := uint64(0)
	for *(*byte)(Pointer(s + uintptr(n))) != 0 {
		n++
	}
	return n
}

// Xstrcpy copies a text with its end.
func Xstrcpy(_ *TLS, to, from uintptr) uintptr { return Xmemmove(nil, to, from, Xstrlen(nil, from)+1) }

// Xstrcat copies a text to the end of another.
func Xstrcat(_ *TLS, to, from uintptr) uintptr {
	Xstrcpy(nil, to+uintptr(Xstrlen(nil, to)), from)
	return to
}

// Text returns the text of C at an address.
func Text(s uintptr) string { return string(bytes(s, Xstrlen(nil, s))) }

// Xqsort sorts n things of so many bytes; equal ones stay in their order.
func Xqsort(t *TLS, base uintptr, n, size uint64, compare uintptr) {
	if n < 2 {
		return
	}
	sort.Stable(&things{
		tls: t, base: base, n: int(n), size: size, spare: make([]byte, size),
		compare: *(*func(*TLS, uintptr, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{compare})),
	})
}

// things is an array of C as a [sort.Interface].
type things struct {
	tls     *TLS
	base    uintptr
	n       int
	size    uint64
	spare   []byte
	compare func(*TLS, uintptr, uintptr) int32
}

func (a *things) at(i int) uintptr   { return a.base + uintptr(i)*uintptr(a.size) }
func (a *things) Len() int           { return a.n }
func (a *things) Less(i, j int) bool { return a.compare(a.tls, a.at(i), a.at(j)) < 0 }

func (a *things) Swap(i, j int) {
	x, y := bytes(a.at(i), a.size), bytes(a.at(j), a.size)
	copy(a.spare, x)
	copy(x, y)
	copy(y, a.spare)
}

// start is the zero of the clock.
var start = time.Now()

// Xclock_gettime writes a time that only grows, in seconds and nanoseconds, for either clock.
func Xclock_gettime(_ *TLS, _ int32, to uintptr) int32 {
	ns := int64(time.Since(start))
	*(*[2]int64)(Pointer(to)) = [2]int64{ns / 1e9, ns % 1e9}
	return 0
}

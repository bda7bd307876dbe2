//go:build scs_go || osqp_go

package libc

import "unsafe"

// Arena is memory of C that is freed at once: what is given to C is copied there, since C's pointers do not keep Go's
// memory alive or in its place. After a failed allocation, which leaves an address 0, Failed says so.
type Arena struct {
	tls    *TLS
	blocks []uintptr
	failed bool
}

// NewArena returns an empty one.
func NewArena(t *TLS) *Arena { return &Arena{tls: t} }

// Free frees all of it.
func (a *Arena) Free() {
	for _, p := range a.blocks {
		Xfree(a.tls, p)
	}
	a.blocks = nil
}

// Failed says whether memory was lacking.
func (a *Arena) Failed() bool { return a.failed }

// Bytes returns the address of n bytes that are zero, at least one.
func (a *Arena) Bytes(n int) uintptr {
	p := Xcalloc(a.tls, uint64(max(1, n)), 1)
	if p == 0 {
		a.failed = true
		return 0
	}
	a.blocks = append(a.blocks, p)
	return p
}

// Floats returns the address of a copy, which is not 0 if v is empty.
func (a *Arena) Floats(v []float64) uintptr {
	p := a.Bytes(8 * len(v))
	if p != 0 && len(v) > 0 {
		copy(Floats(p, len(v)), v)
	}
	return p
}

// Optional is Floats, but 0 for nil.
func (a *Arena) Optional(v []float64) uintptr {
	if v == nil {
		return 0
	}
	return a.Floats(v)
}

// Integers returns the address of a copy with 32 bits a number, which is not 0 if v is empty.
func (a *Arena) Integers(v []int) uintptr {
	p := a.Bytes(4 * len(v))
	if p == 0 {
		return 0
	}
	to := unsafe.Slice((*int32)(Pointer(p)), len(v))
	for i, x := range v {
		to[i] = int32(x)
	}
	return p
}

// Floats are n numbers of C.
func Floats(p uintptr, n int) []float64 { return unsafe.Slice((*float64)(Pointer(p)), n) }

// Address is that of a variable in the memory of C, where it must be.
func Address[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }

// NewIn returns a T in the arena that is zero, nil if memory is lacking.
func NewIn[T any](a *Arena) *T {
	var zero T
	return (*T)(Pointer(a.Bytes(int(unsafe.Sizeof(zero)))))
}

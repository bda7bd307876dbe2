// Package pin gives C the addresses of numbers of Go, which stay where they are until the pinner lets them go. Types T
// are those of C for the same numbers.
package pin

import (
	"runtime"
	"unsafe"

	"github.com/conetune/conetune/internal/mirror"
)

// Floats returns the address of the numbers, which is never nil.
func Floats[T ~float64](pins *runtime.Pinner, v []float64) *T { return (*T)(first(pins, v)) }

// Optional is Floats, but nil for nil.
func Optional[T ~float64](pins *runtime.Pinner, v []float64) *T {
	if v == nil {
		return nil
	}
	return Floats[T](pins, v)
}

// Integers returns the address of a copy, which is never nil.
func Integers[T ~int32 | ~int64 | ~uint32 | ~uint64](pins *runtime.Pinner, v []int) *T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return (*T)(first(pins, out))
}

// Places returns the address of numbers that C writes, which is never nil.
func Places[T ~int32](pins *runtime.Pinner, v []int32) *T { return (*T)(first(pins, v)) }

// Flag returns the address of the flag of i, nil without one.
func Flag[T ~int32](pins *runtime.Pinner, i *mirror.Interrupt) *T {
	if i == nil {
		return nil
	}
	pins.Pin(&i.Flag)
	return (*T)(unsafe.Pointer(&i.Flag))
}

// first returns the address of the first element, or of some room where there is none.
func first[T any](pins *runtime.Pinner, v []T) unsafe.Pointer {
	if len(v) == 0 {
		v = make([]T, 1)
	}
	pins.Pin(&v[0])
	return unsafe.Pointer(&v[0])
}

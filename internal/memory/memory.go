// Package memory says how much memory this process may use, and what share of it an
// input may take before it is refused.
//
// # Units
//
// Sizes are in bytes. In text they are a number with a unit: 500MB and 4GB are powers of
// 1000, 512MiB and 4GiB powers of 1024 (see [Parse]).
//
// # The budget
//
// [Default] is the budget of everything whose size an input decides: tables, the rows of a
// conic program, the entries of a factor. It is the memory limit of the Go runtime where one
// is set, by the environment variable GOMEMLIMIT or by [runtime/debug.SetMemoryLimit],
// as conetune --memory does; otherwise it is half of [Available]. The other half is for
// what is made out of the input, and for other programs.
package memory

import (
	"math"
	"math/bits"
	"runtime/debug"
)

// Fallback is what [Available] takes for the memory of the machine on systems other than
// Linux and macOS, and where the system does not tell: 4 GB.
const Fallback int64 = 4e9

// addressSpace is what a process of 32 bits can count on, 2 GiB.
const addressSpace int64 = 1 << 31

// Available returns the bytes that this process may use: the smallest of the physical
// memory, the limit of its control group (versions 1 and 2, the groups above it too), its limit of
// address space (ulimit -v), and, on a system of 32 bits, 2 GiB.
func Available() int64 {
	n := system()
	if bits.UintSize == 32 {
		n = min(n, addressSpace)
	}
	return n
}

// More says how to get more memory, in the sentences of errors.
const More = "GOMEMLIMIT gives more"

// Default returns the budget: the memory limit of the Go runtime where one is set,
// otherwise half of [Available].
func Default() int64 {
	if n := debug.SetMemoryLimit(-1); n != math.MaxInt64 {
		return n
	}
	return Available() / 2
}

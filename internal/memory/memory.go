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
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// Fallback is what [Available] takes for the memory of the machine on systems other than
// Linux and macOS, and where the system does not tell: 4 GB.
const Fallback int64 = 4e9

// addressSpace is what a process of 32 bits can count on, 2 GiB.
const addressSpace int64 = 1 << 31

// Available returns the bytes that this process may use: the smallest of the physical
// memory, the limit of its control group (versions 1 and 2, the groups above it too), its limit of
// address space (ulimit -v), and, on a system of 32 bits, 2 GiB. The system is asked once.
func Available() int64 {
	n := ofSystem()
	if bits.UintSize == 32 {
		n = min(n, addressSpace)
	}
	return n
}

// More says how to get more memory, in the sentences of errors.
const More = "GOMEMLIMIT gives more"

var ofSystem = sync.OnceValue(system)

// Default returns the budget: the memory limit of the Go runtime where one is set,
// otherwise half of [Available].
func Default() int64 {
	if n := debug.SetMemoryLimit(-1); n != math.MaxInt64 {
		return n
	}
	return Available() / 2
}

// units are the units of a size and their bytes.
var units = map[string]float64{
	"": 1, "B": 1,
	"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
}

// Parse reads a positive size: a decimal number, and perhaps a unit in any case, with or without
// a blank before it. B is bytes; K, M, G, T, or KB, MB, GB, TB, are powers of 1000;
// KiB, MiB, GiB, TiB are powers of 1024. No unit means bytes.
func Parse(s string) (int64, error) {
	fail := fmt.Errorf("%q found, expected a size such as 500MB, 4GB or 1.5GiB", s)
	end := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if end < 0 {
		end = len(s)
	}
	unit, known := units[strings.ToUpper(strings.TrimPrefix(s[end:], " "))]
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || !known {
		return 0, fail
	}
	// The largest float64 below 2^63 is the bound of what converts.
	if v *= unit; v < 1 || v >= math.MaxInt64 {
		return 0, fmt.Errorf("%q found, expected a size from 1 byte to 9e18 bytes", s)
	}
	return int64(v), nil
}

// Format writes a size for a message, with three digits and a unit: 950 B, 1.5 MB, 6.9 GB.
func Format(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n)
	for _, unit := range []string{"kB", "MB", "GB"} {
		if v /= 1000; v < 999.5 {
			return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit
		}
	}
	return strconv.FormatFloat(v/1000, 'f', 1, 64) + " TB"
}

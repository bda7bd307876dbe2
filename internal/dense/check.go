package dense

import "fmt"

// checkMatrix panics unless a holds a rows x cols matrix with leading dimension ld.
func checkMatrix(name string, rows, cols int, a []float64, ld int) {
	if ld < rows || len(a) < rows+(cols-1)*ld {
		badMatrix(name, rows, cols, len(a), ld)
	}
}

// badMatrix is apart, and not inlined, so that checkMatrix is.
//
//go:noinline
func badMatrix(name string, rows, cols, length, ld int) {
	panic(fmt.Sprintf("dense: %s is %d x %d, but its leading dimension is %d and its length %d", name, rows, cols, ld,
		length))
}

// checkVector panics unless x has at least n entries.
func checkVector(name string, n int, x []float64) {
	if len(x) < n {
		panic(fmt.Sprintf("dense: %s needs %d entries and has %d", name, n, len(x)))
	}
}

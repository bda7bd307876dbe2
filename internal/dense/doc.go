// Package dense holds the dense kernels of a supernodal LDL' factorisation and of
// its triangular solves: matrix products, rank-k updates of a lower triangle,
// triangular solves with a unit lower triangle, and LDL' itself.
//
// # Storage
//
// Matrices are column-major slices: element (i, j) of a matrix a with leading
// dimension lda is a[i+j*lda], lda >= max(1, rows), and len(a) must be at least
// rows + (columns-1)*lda. Rows between the last one and lda are never read or
// written, so a matrix may be a window of a larger one. Lower triangles have
// their upper part neither read nor written, unit lower ones their diagonal too.
// An output may not overlap an input unless the function says so.
// Sizes of zero are no-ops. A slice that is too short, or a leading dimension
// below the number of rows, is a programmer's mistake and panics.
//
// # Kernels
//
// Every product runs through one micro-kernel, a strip: C (m x nr) -= A B' for a
// few columns nr of C, all rows of it. A column of A is contiguous, and so are
// the nr entries of B that multiply it, so the strip needs no packing; packing is
// for operands that outgrow the caches (see gemm.go). The triangular solve is
// the same strip with a solve in the registers at its end (trsm.go), as in
// Goto and van de Geijn, "High-performance implementation of the level-3 BLAS",
// ACM TOMS 35 (2008).
//
// The strips exist three times: in portable Go, in AVX2 with FMA and in AVX-512
// assembly, chosen once by the features of the CPU. The build tag noasm, or an
// architecture other than amd64, leaves the portable ones. All three give the same
// bits: the terms of an entry are added one by one in order, with one rounding each
// (FMA), in blocks of the same depth, and products of vectors by the same 16 sums.
// Portable ones round twice on processors of 32 bits and in WebAssembly, where math.FMA is a long calculation.
package dense

//go:build scs_go

package libblas

import (
	"math"
	"unsafe"

	"github.com/conetune/conetune/internal/ccgo/libc"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

var impl gonum.Implementation

// integer is what is at the address of an integer of C.
func integer(p uintptr) int { return int(*(*int32)(libc.Pointer(p))) }

func set(p uintptr, n int) { *(*int32)(libc.Pointer(p)) = int32(n) }

func float(p uintptr) *float64 { return (*float64)(libc.Pointer(p)) }

// floats are n numbers of C, none where n is not positive.
func floats(p uintptr, n int) []float64 {
	if n <= 0 {
		return nil
	}
	return unsafe.Slice(float(p), n)
}

func integers(p uintptr, n int) []int32 { return unsafe.Slice((*int32)(libc.Pointer(p)), n) }

// letter is the first letter of an option, in capitals.
func letter(p uintptr) byte { return *(*byte)(libc.Pointer(p)) &^ 0x20 }

// vector is a vector of n numbers that lie inc >= 0 apart.
func vector(p uintptr, n, inc int) []float64 {
	if n <= 0 {
		return nil
	}
	return floats(p, (n-1)*inc+1)
}

// matrix is a matrix by columns, its transpose by rows.
func matrix(p uintptr, rows, cols, ld int) []float64 {
	if rows <= 0 {
		return nil
	}
	return floats(p, (cols-1)*ld+rows)
}

// flipped is how the transpose is transposed.
func flipped(p uintptr) blas.Transpose {
	if letter(p) == 'N' {
		return blas.Trans
	}
	return blas.NoTrans
}

func same(p uintptr) blas.Transpose {
	if letter(p) == 'N' {
		return blas.NoTrans
	}
	return blas.Trans
}

// other is the triangle of the transpose.
func other(p uintptr) blas.Uplo {
	if letter(p) == 'U' {
		return blas.Lower
	}
	return blas.Upper
}

func diagonal(p uintptr) blas.Diag {
	if letter(p) == 'U' {
		return blas.Unit
	}
	return blas.NonUnit
}

// Xddot_ returns x'y.
func Xddot_(_ *libc.TLS, n, x, incx, y, incy uintptr) float64 {
	k, ix, iy := integer(n), integer(incx), integer(incy)
	v, w := vector(x, k, ix), vector(y, k, iy)
	if ix != 0 && iy != 0 {
		return impl.Ddot(k, v, ix, w, iy)
	}
	sum := 0.0 // with one number for a vector, by which SCS adds up, and which gonum refuses
	for i := range k {
		sum += v[i*ix] * w[i*iy]
	}
	return sum
}

// Xdnrm2_ returns the Euclidean norm of x.
func Xdnrm2_(_ *libc.TLS, n, x, incx uintptr) float64 {
	k, ix := integer(n), integer(incx)
	return impl.Dnrm2(k, vector(x, k, ix), ix)
}

// Xidamax_ returns the place, from 1, of the largest absolute value in x, 0 if x is empty.
func Xidamax_(_ *libc.TLS, n, x, incx uintptr) int32 {
	k, ix := integer(n), integer(incx)
	return int32(impl.Idamax(k, vector(x, k, ix), ix) + 1)
}

// Xdaxpy_ adds alpha x to y.
func Xdaxpy_(_ *libc.TLS, n, alpha, x, incx, y, incy uintptr) {
	k, ix, iy := integer(n), integer(incx), integer(incy)
	impl.Daxpy(k, *float(alpha), vector(x, k, ix), ix, vector(y, k, iy), iy)
}

// Xdscal_ multiplies x by alpha; unlike gonum's, 0 times what is no number is none.
func Xdscal_(_ *libc.TLS, n, alpha, x, incx uintptr) {
	k, ix, by := integer(n), integer(incx), *float(alpha)
	v := vector(x, k, ix)
	if by != 0 {
		impl.Dscal(k, by, v, ix)
		return
	}
	for i := range k {
		v[i*ix] *= 0
	}
}

// Xdgemv_ makes y alpha op(A) x + beta y.
func Xdgemv_(_ *libc.TLS, trans, m, n, alpha, a, lda, x, incx, beta, y, incy uintptr) {
	rows, cols, ld, ix, iy := integer(m), integer(n), integer(lda), integer(incx), integer(incy)
	long, high := cols, rows // of x and of y
	if letter(trans) != 'N' {
		long, high = rows, cols
	}
	impl.Dgemv(flipped(trans), cols, rows, *float(alpha), matrix(a, rows, cols, ld), ld, vector(x, long, ix), ix,
		*float(beta), vector(y, high, iy), iy)
}

// Xdgemm_ makes C alpha op(A) op(B) + beta C.
func Xdgemm_(_ *libc.TLS, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc uintptr) {
	rows, cols, inner := integer(m), integer(n), integer(k)
	la, lb, lc := integer(lda), integer(ldb), integer(ldc)
	ra, ca, rb, cb := rows, inner, inner, cols
	if letter(transa) != 'N' {
		ra, ca = ca, ra
	}
	if letter(transb) != 'N' {
		rb, cb = cb, rb
	}
	impl.Dgemm(same(transb), same(transa), cols, rows, inner, *float(alpha), matrix(b, rb, cb, lb), lb,
		matrix(a, ra, ca, la), la,
		*float(beta), matrix(c, rows, cols, lc), lc)
}

// Xdsyrk_ makes a triangle of C that of alpha op(A) op(A)' + beta C.
func Xdsyrk_(_ *libc.TLS, uplo, trans, n, k, alpha, a, lda, beta, c, ldc uintptr) {
	order, inner, la, lc := integer(n), integer(k), integer(lda), integer(ldc)
	rows, cols := order, inner
	if letter(trans) != 'N' {
		rows, cols = cols, rows
	}
	impl.Dsyrk(other(uplo), flipped(trans), order, inner, *float(alpha), matrix(a, rows, cols, la), la, *float(beta),
		matrix(c, order, order, lc), lc)
}

// Xdtrmv_ makes x op(A) x for a triangle A.
func Xdtrmv_(_ *libc.TLS, uplo, trans, diag, n, a, lda, x, incx uintptr) {
	order, ld, ix := integer(n), integer(lda), integer(incx)
	impl.Dtrmv(other(uplo), flipped(trans), diagonal(diag), order, matrix(a, order, order, ld), ld, vector(x, order, ix),
		ix)
}

// Xdtrsv_ solves op(A) x = b for a triangle A; x takes the place of b.
func Xdtrsv_(_ *libc.TLS, uplo, trans, diag, n, a, lda, x, incx uintptr) {
	order, ld, ix := integer(n), integer(lda), integer(incx)
	impl.Dtrsv(other(uplo), flipped(trans), diagonal(diag), order, matrix(a, order, order, ld), ld, vector(x, order, ix),
		ix)
}

// finite says whether all numbers are.
func finite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x - x) {
			return false
		}
	}
	return true
}

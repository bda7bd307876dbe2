//go:build scs_go

package libblas

import (
	"github.com/conetune/conetune/internal/ccgo/libc"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackimpl "gonum.org/v1/gonum/lapack/gonum"
)

var factor lapackimpl.Implementation

// A call with -1 for the length of the workspace asks for the best length, which is answered in its first number. What
// functions report in info is 0, or positive where there is no result: also where the numbers are not finite, for which
// gonum has no answer.
const noResult = 1

// byRows copies a matrix by columns that are ld numbers apart to one by rows, and byColumns copies it back.
func byRows(to, from []float64, rows, cols, ld int) {
	for j := range cols {
		for i, x := range from[j*ld:][:rows] {
			to[i*cols+j] = x
		}
	}
}

func byColumns(to, from []float64, rows, cols, ld int) {
	for j := range cols {
		col := to[j*ld:][:rows]
		for i := range col {
			col[i] = from[i*cols+j]
		}
	}
}

// Xdsyev_ overwrites a symmetric matrix, of which a triangle is given, with its eigenvectors; w are the eigenvalues,
// increasing.
func Xdsyev_(_ *libc.TLS, jobz, uplo, n, a, lda, w, work, lwork, info uintptr) {
	order, ld, length := integer(n), integer(lda), integer(lwork)
	job := lapack.EVNone
	if letter(jobz) == 'V' {
		job = lapack.EVCompute
	}
	set(info, 0)
	if length == -1 {
		factor.Dsyev(job, other(uplo), order, nil, max(1, order), nil, floats(work, 1), -1)
		return
	}
	at := matrix(a, order, order, ld)
	if !finiteTriangle(at, order, ld, letter(uplo)) || !factor.Dsyev(job, other(uplo), order, at, ld, floats(w, order),
		floats(work, length), length) {
		set(info, noResult)
		return
	}
	// Eigenvectors are the columns, of the matrix by rows.
	for i := range order {
		for j := range i {
			at[i*ld+j], at[j*ld+i] = at[j*ld+i], at[i*ld+j]
		}
	}
}

// finiteTriangle says whether all numbers of a triangle of a matrix by columns are finite.
func finiteTriangle(a []float64, n, ld int, uplo byte) bool {
	for j := range n {
		first, last := j, n
		if uplo == 'U' {
			first, last = 0, j+1
		}
		if !finite(a[j*ld+first : j*ld+last]) {
			return false
		}
	}
	return true
}

// Xdsyevr_ is dsyev with the eigenvectors in z, for all eigenvalues. It goes through dsyev: gonum has no other method.
func Xdsyevr_(t *libc.TLS, jobz, _, uplo, n, a, lda, _, _, _, _, _, m, w, z, ldz, _, work, lwork, iwork, _,
	info uintptr) {
	Xdsyev_(t, jobz, uplo, n, a, lda, w, work, lwork, info)
	if integer(lwork) == -1 {
		set(iwork, 1)
		return
	}
	order, ld, to := integer(n), integer(lda), integer(ldz)
	set(m, order)
	from, into := matrix(a, order, order, ld), matrix(z, order, order, to)
	for j := range order {
		copy(into[j*to:][:order], from[j*ld:][:order])
	}
}

// Xdgesvd_ is the singular value decomposition A = U S V' with jobu and jobvt of A (all) and S (as many as singular
// values).
func Xdgesvd_(_ *libc.TLS, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info uintptr) {
	rows, cols, ld, length := integer(m), integer(n), integer(lda), integer(lwork)
	lu, lv := integer(ldu), integer(ldvt)
	set(info, 0)
	// A' = V S U'
	left, right := vectors(jobvt), vectors(jobu)
	least := min(rows, cols)
	at := matrix(a, rows, cols, ld)
	if length == -1 { // gonum looks at A all the same
		factor.Dgesvd(left, right, cols, rows, at, ld, nil, nil, lv, nil, lu, floats(work, 1), -1)
		return
	}
	for j := range cols {
		if !finite(at[j*ld:][:rows]) {
			set(info, noResult)
			return
		}
	}
	if !factor.Dgesvd(left, right, cols, rows, at, ld, floats(s, least), matrix(vt, cols, cols, lv), lv,
		matrix(u, rows, least, lu), lu,
		floats(work, length), length) {
		set(info, noResult)
	}
}

func vectors(p uintptr) lapack.SVDJob {
	if letter(p) == 'A' {
		return lapack.SVDAll
	}
	return lapack.SVDStore
}

// Xdgeqp3_ is the QR factorisation with column pivoting.
func Xdgeqp3_(_ *libc.TLS, m, n, a, lda, jpvt, tau, work, lwork, info uintptr) {
	rows, cols, ld, length := integer(m), integer(n), integer(lda), integer(lwork)
	set(info, 0)
	size := rows * cols // of the copy by rows, which is in the workspace
	if length == -1 {
		factor.Dgeqp3(rows, cols, nil, max(1, cols), nil, nil, floats(work, 1), -1)
		*float(work) += float64(size)
		return
	}
	from, all := matrix(a, rows, cols, ld), floats(work, length)
	pivots, order := integers(jpvt, cols), make([]int, cols)
	for j, p := range pivots {
		order[j] = int(p) - 1
	}
	byRows(all[:size], from, rows, cols, ld)
	factor.Dgeqp3(rows, cols, all[:size], max(1, cols), order, floats(tau, min(rows, cols)), all[size:], length-size)
	byColumns(from, all[:size], rows, cols, ld)
	for j, p := range order {
		pivots[j] = int32(p) + 1
	}
}

// Xdormqr_ multiplies C by the Q of dgeqp3 or its transpose. By rows the reflectors are those of an LQ factorisation,
// whose Q is the transpose.
func Xdormqr_(_ *libc.TLS, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info uintptr) {
	rows, cols, count, la, lc, length := integer(m), integer(n), integer(k), integer(lda), integer(ldc), integer(lwork)
	set(info, 0)
	on, order := blas.Right, rows
	if letter(side) != 'L' {
		on, order = blas.Left, cols
	}
	if length == -1 {
		factor.Dormlq(on, same(trans), cols, rows, count, nil, la, nil, nil, lc, floats(work, 1), -1)
		return
	}
	factor.Dormlq(on, same(trans), cols, rows, count, matrix(a, order, count, la), la, floats(tau, count),
		matrix(c, rows, cols, lc), lc,
		floats(work, length), length)
}

// Xdgesv_ solves AX = B; A becomes its factors, and X takes the place of B.
func Xdgesv_(t *libc.TLS, n, nrhs, a, lda, ipiv, b, ldb, info uintptr) {
	order, ld := integer(n), integer(lda)
	set(info, 0)
	at, lu, swaps := matrix(a, order, order, ld), make([]float64, order*order), make([]int, order)
	byRows(lu, at, order, order, ld)
	if ok := factor.Dgetrf(order, order, lu, max(1, order), swaps); !ok {
		set(info, noResult)
	}
	byColumns(at, lu, order, order, ld)
	for i, p := range swaps {
		integers(ipiv, order)[i] = int32(p) + 1
	}
	if integer(info) == 0 {
		solve(blas.NoTrans, lu, swaps, integer(nrhs), b, integer(ldb))
	}
}

// Xdgetrs_ solves op(A) X = B with the factors of dgesv.
func Xdgetrs_(_ *libc.TLS, trans, n, nrhs, a, lda, ipiv, b, ldb, info uintptr) {
	order, ld := integer(n), integer(lda)
	set(info, 0)
	lu, swaps := make([]float64, order*order), make([]int, order)
	byRows(lu, matrix(a, order, order, ld), order, order, ld)
	for i, p := range integers(ipiv, order) {
		swaps[i] = int(p) - 1
	}
	solve(same(trans), lu, swaps, integer(nrhs), b, integer(ldb))
}

// solve takes one right-hand side after another.
func solve(trans blas.Transpose, lu []float64, swaps []int, count int, b uintptr, ld int) {
	n := len(swaps)
	right := matrix(b, n, count, ld)
	for j := range count {
		factor.Dgetrs(trans, n, 1, lu, max(1, n), swaps, right[j*ld:][:n], 1)
	}
}

const complexMatrices = "libblas: complex matrices are not supported"

// Xzheevr_ is not there.
func Xzheevr_(_ *libc.TLS, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ uintptr) {
	panic(complexMatrices)
}

// Xzherk_ is not there.
func Xzherk_(_ *libc.TLS, _, _, _, _, _, _, _, _, _, _ uintptr) { panic(complexMatrices) }

// Xzscal_ is not there.
func Xzscal_(_ *libc.TLS, _, _, _, _ uintptr) { panic(complexMatrices) }

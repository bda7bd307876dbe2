package convex

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Matrices are vectors of their entries, row by row, as mat.NewDense takes them. What is said of symmetric matrices
// holds for the symmetric part of others.

// Symmetric returns the entries of a symmetric matrix of order n, of whose lower triangle a has the n(n+1)/2 entries by
// columns, as a variable would.
func Symmetric(a Affine) Affine {
	n := int(math.Sqrt(2 * float64(a.e.N)))
	if a.err == nil && n*(n+1)/2 != a.e.N {
		return a.fail(n*n, "Symmetric: %v is not the triangle of a matrix", a)
	}
	return a.Pick(triangular(n))
}

// triangular are the places of the entries of a symmetric matrix of order n in its lower triangle by columns.
func triangular(n int) (index []int) {
	for i := range n {
		for j := range n {
			low, high := min(i, j), max(i, j)
			index = append(index, low*n-low*(low-1)/2+high-low)
		}
	}
	return index
}

// Transpose returns the entries of the transpose of a matrix of rows x cols.
func Transpose(a Affine, rows, cols int) Affine {
	if a.err == nil && (rows < 0 || cols < 0 || rows*cols != a.e.N) {
		return a.fail(a.e.N, "Transpose: %v is not a matrix of %d x %d", a, rows, cols)
	}
	var index []int
	for j := range cols {
		for i := range rows {
			index = append(index, i*cols+j)
		}
	}
	return a.Pick(index)
}

// Trace returns the sum of the diagonal of a square matrix.
func Trace(a Affine) Affine {
	n, err := order("Trace", a)
	if err != nil {
		return Affine{e: affine.Expr{N: 1}, m: a.m, err: err}
	}
	return Affine{e: a.e.Pick(diagonal(n)).Sum(), m: a.m}
}

// diagonal are the places of the diagonal of a matrix of order n.
func diagonal(n int) (index []int) {
	for i := range n {
		index = append(index, i*(n+1))
	}
	return index
}

// order is that of a square matrix.
func order(op string, a Affine) (n int, err error) {
	n = int(math.Round(math.Sqrt(float64(a.e.N))))
	if a.err != nil {
		return n, a.err
	}
	if n == 0 || n*n != a.e.N {
		return n, fmt.Errorf("convex: %s: %v is not a square matrix", op, a)
	}
	return n, nil
}

// triangle is the symmetric part of a matrix of order n as a [backends.PSDCone] has it.
func triangle(a affine.Expr, n int) affine.Expr {
	var lower, upper []int
	var scale []float64
	for j := range n {
		for i := j; i < n; i++ {
			lower, upper = append(lower, i*n+j), append(upper, j*n+i)
			if i == j {
				scale = append(scale, 0.5)
			} else {
				scale = append(scale, math.Sqrt2/2)
			}
		}
	}
	return a.Pick(lower).Plus(a.Pick(upper)).MulMat(mat.NewDiagDense(len(scale), scale))
}

// blocks is the matrix [a b; b' c] of symmetric a and c of order n and m.
func blocks(a, b, c affine.Expr, n, m int) affine.Expr {
	var parts []affine.Expr
	for i := range n {
		parts = append(parts, a.Slice(i*n, (i+1)*n), b.Slice(i*m, (i+1)*m))
	}
	for j := range m {
		var column []int
		for i := range n {
			column = append(column, i*m+j)
		}
		parts = append(parts, b.Pick(column), c.Slice(j*m, (j+1)*m))
	}
	return affine.Stack(parts...)
}

// scaledIdentity is u times the identity of order n.
func scaledIdentity(u affine.Expr, n int) affine.Expr {
	var parts []affine.Expr
	for i := range n {
		if i > 0 {
			parts = append(parts, affine.Expr{N: n})
		}
		parts = append(parts, u)
	}
	return affine.Stack(parts...)
}

// psd adds that a matrix of order n is positive semidefinite.
func psd(b compile.Rows, a affine.Expr, n int) { b.In(backends.PSD(n), triangle(a, n)) }

// symmetricPart is that of a matrix of order n.
func symmetricPart(x []float64, n int) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, (x[i*n+j]+x[j*n+i])/2)
		}
	}
	return s
}

// overPositive is the sum of a function over eigenvalues, +Inf where one is not positive.
func overPositive(f func(v float64) float64) func(eigenvalues []float64) float64 {
	return func(eigenvalues []float64) (sum float64) {
		for _, v := range eigenvalues {
			if !(v > 0) {
				return math.Inf(1)
			}
			sum += f(v)
		}
		return sum
	}
}

// ofMatrix is a scalar atom of a symmetric matrix, with its value by the eigenvalues, in increasing order.
func ofMatrix(a Affine, name string, value func(eigenvalues []float64) float64,
	below func(b compile.Rows, a, u affine.Expr, n int)) Convex {
	n, err := order(name, a)
	if err != nil {
		return broken(1, a.m, err)
	}
	return graph(a, 1, compile.Graph{
		Name: name,
		Value: func(x []float64) []float64 {
			var eigen mat.EigenSym
			if !eigen.Factorize(symmetricPart(x, n), false) {
				return []float64{math.NaN()}
			}
			return []float64{value(eigen.Values(nil))}
		},
		Below: func(b compile.Rows, a, u affine.Expr) { below(b, a, u, n) },
	})
}

// LambdaMax returns the largest eigenvalue of a symmetric matrix; that of -A is minus the least one of A.
func LambdaMax(a Affine) Convex {
	return ofMatrix(a, "LambdaMax", floats.Max, func(b compile.Rows, a, u affine.Expr, n int) {
		psd(b, scaledIdentity(u, n).Minus(a), n)
	})
}

// NegLogDet returns minus the logarithm of the determinant of a positive definite matrix.
func NegLogDet(a Affine) Convex {
	value := overPositive(func(v float64) float64 { return -math.Log(v) })
	return ofMatrix(a, "NegLogDet", value, func(b compile.Rows, a, u affine.Expr, n int) {
		// [A Z; Z' diag(Z)] is semidefinite for a lower triangular Z if and only if log det A >= sum log z_ii.
		entries, diag := b.New(n*(n+1)/2), affine.Expr{}
		var rows, square []affine.Expr
		for i, at := 0, 0; i < n; i, at = i+1, at+i+1 {
			rows = append(rows, entries.Slice(at, at+i+1), affine.Expr{N: n - 1 - i})
			square = append(square, affine.Expr{N: i}, entries.At(at+i), affine.Expr{N: n - 1 - i})
			diag = affine.Stack(diag, entries.At(at+i))
		}
		psd(b, blocks(a, affine.Stack(rows...), affine.Stack(square...), n, n), 2*n)
		w := b.New(n)
		for i := range n {
			b.In(backends.Exponential(), w.At(i), one, diag.At(i))
		}
		b.Nonnegative(u.Plus(w.Sum()))
	})
}

// TraceInverse returns the trace of the inverse of a positive definite matrix.
func TraceInverse(a Affine) Convex {
	value := overPositive(func(v float64) float64 { return 1 / v })
	return ofMatrix(a, "TraceInverse", value, func(b compile.Rows, a, u affine.Expr, n int) {
		inverse := b.New(n * (n + 1) / 2).Pick(triangular(n))
		psd(b, blocks(a, scaledIdentity(one, n), inverse, n, n), 2*n)
		b.Nonnegative(u.Minus(inverse.Pick(diagonal(n)).Sum()))
	})
}

// MatrixFrac returns the scalar a'P^-1 a of a vector and a positive definite matrix of its order.
func MatrixFrac(a, p Affine) Convex {
	n := a.e.N
	both := Stack(a, p)
	if both.err == nil && (n == 0 || p.e.N != n*n) {
		return failed(1, both.m, "MatrixFrac of %v and %v, expected a matrix of its order", a, p)
	}
	return graph(both, 1, compile.Graph{
		Name: "MatrixFrac",
		Value: func(x []float64) []float64 {
			var factor mat.Cholesky
			var y mat.VecDense
			if !factor.Factorize(symmetricPart(x[n:], n)) || factor.SolveVecTo(&y, mat.NewVecDense(n, x[:n])) != nil {
				return []float64{math.Inf(1)}
			}
			return []float64{mat.Dot(mat.NewVecDense(n, x[:n]), &y)}
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			psd(b, blocks(a.Slice(n, n+n*n), a.Slice(0, n), u, n, 1), n+1)
		},
	})
}

// SpectralNorm returns the largest singular value of a matrix of rows x cols.
func SpectralNorm(a Affine, rows, cols int) Convex {
	switch {
	case a.err != nil:
		return broken(1, a.m, a.err)
	case rows < 1 || cols < 1 || rows*cols != a.e.N:
		return failed(1, a.m, "SpectralNorm: %v is not a matrix of %d x %d", a, rows, cols)
	}
	return graph(a, 1, compile.Graph{
		Name: "SpectralNorm",
		Value: func(x []float64) []float64 {
			var svd mat.SVD
			if !svd.Factorize(mat.NewDense(rows, cols, x), mat.SVDNone) {
				return []float64{math.NaN()}
			}
			return svd.Values(nil)[:1]
		},
		Below: func(b compile.Rows, a, u affine.Expr) {
			psd(b, blocks(scaledIdentity(u, rows), a, scaledIdentity(u, cols), rows, cols), rows+cols)
		},
	})
}

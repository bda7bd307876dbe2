package convex

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// What is said of symmetric matrices holds for the symmetric part of others.

// lowerTriangle are the places of the lower triangle, by columns, of a symmetric matrix of order n, and for each entry
// of the matrix the one in the triangle.
func lowerTriangle(n, _ int) (places, index []int) {
	for i := range n {
		for j := range n {
			low, high := min(i, j), max(i, j)
			index = append(index, low*n-low*(low-1)/2+high-low)
			if j >= i {
				places = append(places, j*n+i)
			}
		}
	}
	return places, index
}

// diagonal are the places of the diagonal of a matrix of order n.
func diagonal(n int) (index []int) {
	for i := range n {
		index = append(index, i*(n+1))
	}
	return index
}

// square is a square matrix, or an error.
func square(op string, e *expression) *expression {
	if e.err == nil && (e.rows == 0 || e.rows != e.cols) {
		return failed(e.rows, e.cols, e.m, "%s: %v, which is %d x %d, is not a square matrix", op, e, e.rows, e.cols)
	}
	return e
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
func ofMatrix(a Operand, name string, sign int, value func(eigenvalues []float64) float64,
	below func(b compile.Rows, a, u affine.Expr, n int)) *expression {
	e := square(name, argument(name, a, neither))
	n := e.rows
	if e.err != nil {
		return broken(1, 1, e.m, e.err)
	}
	return graph(e, 1, compile.Graph{
		Name: name, Sign: sign,
		Value: func(x []float64) []float64 {
			var eigen mat.EigenSym
			if !eigen.Factorize(symmetricPart(x, n), false) {
				return []float64{math.NaN()}
			}
			return []float64{value(eigen.Values(nil))}
		},
		Below: func(b compile.Rows, a, u affine.Expr) { below(b, a, u, n) },
	}).shaped(1, 1)
}

// LambdaMax returns the largest eigenvalue of a symmetric matrix.
func LambdaMax(a Operand) Expr {
	return ofMatrix(a, "LambdaMax", 0, floats.Max, func(b compile.Rows, a, u affine.Expr, n int) {
		psd(b, scaledIdentity(u, n).Minus(a), n)
	})
}

// LambdaMin returns the least eigenvalue of a symmetric matrix, concave.
func LambdaMin(a Operand) Expr { return Neg(LambdaMax(Neg(a))) }

// LogDet returns the logarithm of the determinant of a positive definite matrix, concave.
func LogDet(a Operand) Expr {
	value := overPositive(func(v float64) float64 { return -math.Log(v) })
	return Neg(ofMatrix(a, "LogDet", 0, value, func(b compile.Rows, a, u affine.Expr, n int) {
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
	}))
}

// TraceInverse returns the trace of the inverse of a positive definite matrix.
func TraceInverse(a Operand) Expr {
	value := overPositive(func(v float64) float64 { return 1 / v })
	return ofMatrix(a, "TraceInverse", 1, value, func(b compile.Rows, a, u affine.Expr, n int) {
		_, index := lowerTriangle(n, n)
		inverse := b.New(n * (n + 1) / 2).Pick(index)
		psd(b, blocks(a, scaledIdentity(one, n), inverse, n, n), 2*n)
		b.Nonnegative(u.Minus(inverse.Pick(diagonal(n)).Sum()))
	})
}

// MatrixFrac returns the scalar a'P^-1 a of a vector and a positive definite matrix of its order.
func MatrixFrac(a, p Operand) Expr {
	x, of := argument("MatrixFrac", a, neither).vectorized(), square("MatrixFrac", argument("MatrixFrac", p, neither))
	n := x.Len()
	both := Stack(x, of.vectorized()).of()
	if both.err == nil && (n == 0 || of.rows != n) {
		return failed(1, 1, both.m, "MatrixFrac of %v and %v, expected a matrix of its order", x, of)
	}
	return graph(both, 1, compile.Graph{
		Name: "MatrixFrac", Sign: 1,
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

// SpectralNorm returns the largest singular value of a matrix.
func SpectralNorm(a Operand) Expr {
	e := argument("SpectralNorm", a, neither)
	rows, cols := e.rows, e.cols
	if e.err == nil && e.Len() == 0 {
		return failed(1, 1, e.m, "SpectralNorm of no entries")
	}
	return graph(e, 1, compile.Graph{
		Name: "SpectralNorm", Sign: 1,
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

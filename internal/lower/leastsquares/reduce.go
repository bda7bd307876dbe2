package leastsquares

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
)

const (
	// reduceEntries is the size of a table from which on [Reduce] is worth its time, and reduceRows the rows for each of
	// its columns.
	reduceEntries, reduceRows = 100_000, 8
	// reduceColumns bounds the order of the matrix.
	reduceColumns = 1000
	// dependent is a pivot, relative to the column's square, that is rounding for each of the columns, and independent one
	// that is none. In between a column is known too badly by its products.
	dependent, independent = 1e-15, 1e-9
	// fitted is the least share of the targets' square that no coefficients may explain: where more is explained, too few
	// digits of the residual are left.
	fitted = 1e-6
)

// Reduce returns m = p+2 rows that stand for the n rows of a dense table, where n is much larger: for all coefficients
// b and constants b0
//
//	1/m |y~ - X~ b - b0|^2 = 1/n |y - X b - b0|^2
//
// up to the rounding error of |y|^2 (and more of it where coefficients cancel). All functions of squares, their
// multipliers and derivatives are the same then, and cost what p columns of length p do. ok is false where there is
// nothing to gain, the table is not dense by rows, numbers are not finite, or digits would be lost: features that
// nearly depend on others, and targets that they explain to a millionth.
//
// With the means mu of Z = [X y], the Cholesky factor R of its centred products C = R'R, and the reflection H that
// takes sqrt(m) e_1 to ones,
//
//	[X~ y~] = 1 mu' + H [0; sqrt(m/n) R].
//
// Products are sums over parts of the rows that do not depend on the threads, so that neither do the results.
func Reduce(x mat.Matrix, y []float64, threads int) (small *design.Matrix, targets []float64, ok bool) {
	fill := fillOf(x)
	n, p := x.Dims()
	if fill == nil || len(y) != n || !Reducible(n, p) {
		return nil, nil, false
	}
	q := p + 1
	z := centredProducts(n, q, threads, func(to []float64, i int) {
		fill(to[:p], i)
		to[p] = y[i]
	})
	r := z.factor()
	if r == nil {
		return nil, nil, false
	}
	m := p + 2
	data := make([]float64, m*q)
	reflect(data, m, z.mean, r, math.Sqrt(float64(m)/z.n))
	return design.FromColumns(m, p, data[:m*p:m*p]), data[m*p:], true
}

// fillOf is what copies a row of a matrix that is dense by rows; nil for others.
func fillOf(x mat.Matrix) func(to []float64, i int) {
	switch x := x.(type) {
	case interface{ FillRow(to []float64, i int) }:
		return x.FillRow
	case mat.RawRowViewer:
		return func(to []float64, i int) { copy(to, x.RawRowView(i)) }
	}
	return nil
}

// Reducible says that a table has so many more rows than columns.
func Reducible(n, p int) bool {
	return p <= reduceColumns && n >= reduceRows*(p+2) && n*p >= reduceEntries
}

// reflect sets the columns of length m to mu_j + H [0; scale r_j], with H = I - v v' / (m - sqrt m), v = 1 - sqrt(m)
// e_1.
func reflect(to []float64, m int, mean []float64, r [][]float64, scale float64) {
	root := math.Sqrt(float64(m))
	for j, mu := range mean {
		column := to[j*m : (j+1)*m]
		for k := range r {
			column[1+k] = scale * r[k][j]
		}
		over := floats.Sum(column) / (float64(m) - root) // v't with t_1 = 0
		column[0] = mu - over*(1-root)
		for i := 1; i < m; i++ {
			column[i] += mu - over
		}
	}
}

// factor returns the rows of R with R'R = C, in the order of the columns, by pivots that are the largest left among the
// features, and then the targets. It is nil where digits would be lost.
func (z *moments) factor() [][]float64 {
	q := len(z.mean)
	// Columns of square 1; those without a spread are zero.
	unit := make([]float64, q)
	s := make([][]float64, q)
	for i := range s {
		v := z.products[i+i*q]
		if !(v >= 0) || math.IsInf(v, 1) || math.IsInf(z.mean[i]*z.mean[i]*z.n, 1) {
			return nil
		}
		if v > 1e-13*(v+z.n*z.mean[i]*z.mean[i]) {
			unit[i] = math.Sqrt(v)
		}
		s[i] = make([]float64, q)
	}
	if unit[q-1] == 0 {
		return nil
	}
	for i := range q {
		for j := range i + 1 {
			if unit[i] > 0 && unit[j] > 0 {
				v := z.products[i+j*q] / (unit[i] * unit[j])
				s[i][j], s[j][i] = v, v
			}
		}
	}
	least := dependent * float64(q)
	used := make([]bool, q)
	var r [][]float64
	for range q - 1 {
		k := -1
		for j := range q - 1 {
			if !used[j] && (k < 0 || s[j][j] > s[k][k]) {
				k = j
			}
		}
		switch {
		case s[k][k] > independent:
			r = append(r, eliminate(s, used, k, unit))
		case s[k][k] > least || math.IsNaN(s[k][k]):
			return nil
		}
	}
	if !(s[q-1][q-1] > fitted) {
		return nil
	}
	return append(r, eliminate(s, used, q-1, unit))
}

// eliminate is a step of Cholesky's method with pivot k, and returns the row of R.
func eliminate(s [][]float64, used []bool, k int, unit []float64) []float64 {
	row := make([]float64, len(s))
	root := math.Sqrt(s[k][k])
	used[k] = true
	for j := range row {
		if !used[j] {
			row[j] = s[k][j] / root
		}
	}
	for i, v := range row {
		if v != 0 {
			floats.AddScaled(s[i], -v, row)
		}
	}
	row[k] = root
	floats.Mul(row, unit)
	return row
}

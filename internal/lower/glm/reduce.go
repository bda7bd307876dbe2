package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

const (
	// reduceEntries is the size of a table from which on [Reduce] is worth its time, and reduceRows the rows for each of
	// its columns.
	reduceEntries, reduceRows = 100_000, 8
	// reduceColumns bounds the order of the matrix.
	reduceColumns = 1000
	// reducePart is the least number of rows whose products are summed apart, reduceParts the most parts.
	reducePart, reduceParts = 4096, 64
	// reduceRounding is a pivot, relative to the column's square, that is rounding for each of the columns, and
	// independent one that is none. In between a column is known too badly by its products.
	reduceRounding, independent = 1e-15, 1e-9
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
	n, p := x.Dims()
	switch x.(type) {
	case design.RowFiller, mat.RawRowViewer:
	default:
		return nil, nil, false
	}
	if len(y) != n || p > reduceColumns || n < reduceRows*(p+2) || n*p < reduceEntries {
		return nil, nil, false
	}
	ofTargets := floats.Sum(y) / float64(n)
	y = slices.Clone(y)
	floats.AddConst(-ofTargets, y)
	d := &Data{x: x, y: [][]float64{y}, n: n, p: p, q: 1, intercept: true, center: make([]float64, p),
		threads: max(1, threads)}
	d.center = d.someMeans()
	each := max(reducePart, (n+reduceParts-1)/reduceParts)
	parts := make([]*sums, (n+each-1)/each)
	crew.Each(len(parts), threads, func(k int) {
		parts[k] = d.sums(context.Background(), indices.Range(k*each, min(n, (k+1)*each)))
	})
	all := parts[0]
	d.add(context.Background(), all, parts[1:])
	of, products := d.part(all, nil), all.less
	dense.Scale(products, -1)
	if !finite.All(of.mean...) || !finite.All(of.c...) || !finite.All(products...) {
		return nil, nil, false
	}
	of.centre(products, p)
	r := of.factor(products)
	if r == nil {
		return nil, nil, false
	}
	m := p + 2
	data := make([]float64, m*(p+1))
	mean := append(of.mean, ofTargets+of.target[0])
	floats.Add(mean[:p], d.center)
	reflect(data, m, mean, r, math.Sqrt(float64(m)))
	return design.FromColumns(m, p, data[:m*p:m*p]), data[m*p:], true
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

// factor returns the rows of R with R'R = C, the mean products of features and then the targets about their means, h
// those of the features: with pivots that are the largest left, as far as these are not rounding, and then the targets.
// It is nil where digits would be lost.
func (p *part) factor(h []float64) [][]float64 {
	n := len(p.mean)
	unit, a := make([]float64, n), mat.NewSymDense(n, nil) // columns of square 1; those without a spread are zero
	for i := range n {
		unit[i] = math.Sqrt(h[i*n+i])
		for j := range i + 1 {
			if unit[i] > 0 && unit[j] > 0 {
				a.SetSym(i, j, h[j*n+i]/(unit[i]*unit[j]))
			}
		}
	}
	if !(p.yy > constant*(p.yy+p.target[0]*p.target[0])) || math.IsInf(p.yy, 1) {
		return nil
	}
	var cholesky mat.PivotedCholesky
	cholesky.Factorize(a, reduceRounding*float64(n+1))
	u, pivots, rank := cholesky.RawU(), cholesky.ColumnPivots(nil), cholesky.Rank()
	root, left := math.Sqrt(p.yy), 1.0 // share of the targets' square
	var r [][]float64
	for k := range rank {
		pivot, row := u.At(k, k), make([]float64, n+1)
		if !(pivot*pivot > independent) {
			return nil
		}
		j := pivots[k]
		of := p.c[j] / (unit[j] * root)
		for i, above := range r { // less what the rows before have of both
			of -= u.At(i, k) * above[n] / root
		}
		of /= pivot
		left -= of * of
		for i := k; i < n; i++ {
			row[pivots[i]] = u.At(k, i) * unit[pivots[i]]
		}
		row[n] = of * root
		r = append(r, row)
	}
	if !(left > fitted) {
		return nil
	}
	last := make([]float64, n+1)
	last[n] = math.Sqrt(left) * root
	return append(r, last)
}

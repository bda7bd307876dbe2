package backends

import (
	"math"

	"github.com/james-bowman/sparse/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/conetune/conetune/internal/dense"
)

// products computes ax = Ax, px = Px and atz = A'z in one pass over the matrices.
func (c *checker) products(p *Problem, x, z []float64) {
	c.reset(p)
	if p.A != nil {
		bothProducts(p.A.RawMatrix(), x, z, c.ax, c.atz)
	}
	stored(p.P, func(_, i, j int, v float64) {
		if c.px[i] += v * x[j]; i != j {
			c.px[j] += v * x[i]
		}
	})
}

// exactProducts is products with sums in twice the precision.
func (c *checker) exactProducts(p *Problem, x, z []float64) {
	c.reset(p)
	for i, sum := range timesA(nil, p, x) {
		c.ax[i] = sum.value()
	}
	for j, sum := range timesP(nil, p, x) {
		c.px[j] = sum.value()
	}
	for j := range c.atz {
		sum := timesColumn(p, j, z)
		c.atz[j] = sum.value()
	}
}

// timesP returns P times the sum of the vectors, of which nil ones are zero, in twice the precision, in the memory of
// other sums, which may be nil.
func timesP(room []exactSum, p *Problem, parts ...[]float64) []exactSum {
	out := dense.Cleared(room, len(p.Q))
	for _, x := range parts {
		if x != nil {
			entries(p.P, func(i, j int, v float64) {
				if out[i].addProduct(v, x[j]); i != j {
					out[j].addProduct(v, x[i])
				}
			})
		}
	}
	return out
}

// timesA returns A times the sum of the vectors, as timesP does.
func timesA(room []exactSum, p *Problem, parts ...[]float64) []exactSum {
	out := dense.Cleared(room, len(p.B))
	for _, x := range parts {
		if x != nil {
			entries(p.A, func(i, j int, v float64) { out[i].addProduct(v, x[j]) })
		}
	}
	return out
}

// timesColumn returns the product of column j of A with the sum of the vectors.
func timesColumn(p *Problem, j int, parts ...[]float64) (sum exactSum) {
	if p.A == nil {
		return sum
	}
	a := p.A.RawMatrix()
	for k := a.Indptr[j]; k < a.Indptr[j+1]; k++ {
		for _, z := range parts {
			if z != nil {
				sum.addProduct(a.Data[k], z[a.Ind[k]])
			}
		}
	}
	return sum
}

// bothProducts adds Ax to ax and sets atz = A'z. Columns of data matrices are long runs of
// consecutive rows, which go through the dense kernels.
func bothProducts(a *blas.SparseMatrix, x, z, ax, atz []float64) {
	var dense gonum.Implementation
	for j, xj := range x {
		lo, hi := a.Indptr[j], a.Indptr[j+1]
		rows, vals := a.Ind[lo:hi], a.Data[lo:hi]
		dot := 0.0
		for len(rows) > 0 {
			n := run(rows)
			if n < shortRun {
				for k, i := range rows[:n] {
					dot += vals[k] * z[i]
					ax[i] += vals[k] * xj
				}
			} else {
				i := rows[0]
				dot += dense.Ddot(n, vals, 1, z[i:], 1)
				dense.Daxpy(n, xj, vals, 1, ax[i:], 1)
			}
			rows, vals = rows[n:], vals[n:]
		}
		atz[j] = dot
	}
}

// shortRun is the length below which the call of a kernel costs more than it saves.
const shortRun = 16

// run returns the number of entries at the start of the increasing rows that
// are consecutive, or a number below shortRun of entries to take one by one.
func run(rows []int) int {
	if len(rows) < shortRun || rows[shortRun-1]-rows[0] != shortRun-1 {
		return min(len(rows), shortRun-1)
	}
	lo, hi := shortRun, len(rows)
	if rows[hi-1]-rows[0] == hi-1 {
		return hi
	}
	for lo+1 < hi { // lo entries are consecutive, hi are not
		if mid := (lo + hi) / 2; rows[mid-1]-rows[0] == mid-1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// exactSum adds products as if in twice the working precision, and bounds what is lost all the same (Ogita, Rump
// and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, with a running bound
// in place of their a-priori one, so that sums of few digits come out as exact). The zero value is an empty sum.
type exactSum struct {
	high, low float64 // the sum, and the sum of the rounding errors of high
	lost      float64 // the sum of the absolute rounding errors of low
	size      float64 // the sum of the absolute values of all terms
}

const (
	unitRoundoff = 0x1p-53
	// Products below tinyProduct have a rounding error that is no multiple of the smallest number, and less than
	// smallestNormal.
	tinyProduct, smallestNormal = 0x1p-960, 0x1p-1022
)

// twoSum returns a + b and its rounding error.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

// add adds a number.
func (s *exactSum) add(v float64) {
	var err float64
	s.high, err = twoSum(s.high, v)
	s.size += math.Abs(v)
	s.addLow(err)
}

func (s *exactSum) addLow(v float64) {
	if v != 0 {
		var err float64
		s.low, err = twoSum(s.low, v)
		s.lost += math.Abs(err)
	}
}

// addProduct adds a b.
func (s *exactSum) addProduct(a, b float64) {
	if a == 0 || b == 0 {
		s.high += 0 * a * b // NaN, where one is not finite
		return
	}
	v := a * b
	s.addLow(math.FMA(a, b, -v))
	if math.Abs(v) < tinyProduct {
		s.lost += smallestNormal
	}
	s.add(v)
}

// addTriple adds a b c.
func (s *exactSum) addTriple(a, b, c float64) {
	ab := a * b
	if math.Abs(ab) < tinyProduct && ab != 0 {
		s.lost += smallestNormal * math.Abs(c)
	}
	s.addProduct(math.FMA(a, b, -ab), c)
	s.addProduct(ab, c)
}

// value returns the sum, to the working precision.
func (s *exactSum) value() float64 { return s.high + s.low }

// bound returns a number that the error of value does not exceed, zero where it is exact. It is infinite or NaN where
// the sum is not finite.
func (s *exactSum) bound() float64 {
	sum, err := twoSum(s.high, s.low)
	return 1.01*s.lost + math.Abs(err) + 0*sum
}

// most returns a number that the absolute value of the sum does not exceed.
func (s *exactSum) most() float64 {
	v, b := math.Abs(s.value()), s.bound()
	if b == 0 {
		return v
	}
	return (v + b) * (1 + 2*unitRoundoff)
}

// addSum adds what another sum comes to, times v.
func (s *exactSum) addSum(of exactSum, v float64) {
	s.addProduct(of.high, v)
	s.addProduct(of.low, v)
}

package backends

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/backends/internal/ldl"
	"github.com/james-bowman/sparse"
)

// NonconvexError says that P is not positive semidefinite, and proves it: along Direction
// the objective curves downwards. Setup and Update return it for every backend.
type NonconvexError struct {
	// Direction is a d of length n, its largest entry 1 in absolute value, with d'Pd = Curvature < 0.
	Direction []float64
	Curvature float64
	// Variable is the index of the largest entry of Direction.
	Variable int
}

func (e *NonconvexError) Error() string {
	return fmt.Sprintf("backends: P is not positive semidefinite, so the problem is not convex: d'Pd = %.3g for a direction d that is largest in variable %d", e.Curvature, e.Variable)
}

// Unwrap returns a [*ProblemError] for P.
func (e *NonconvexError) Unwrap() error {
	return &ProblemError{Field: "P", Reason: "is not positive semidefinite"}
}

// The smallest eigenvalue of P, scaled to a diagonal near one, decides. Above -indefinite it counts as rounding: P = B'B
// computed in doubles, or written to a file with 12 digits, stays there. Below -doubtful P is not convex. What lies between may be data
// of few digits, and is solved, but judged with the bounds of the variables (see judgeDoubtful).
const (
	indefinite = 1e-11
	doubtful   = 1e-4
	// How far apart the bounds of the smallest eigenvalue between them may stay.
	doubtfulRatio = 1.02
)

// convexity decides whether P is positive semidefinite, to rounding. It scales P to a diagonal between 1/2 and 2 by
// powers of two, adds indefinite of it to the diagonal, and factors it as LDL' (Higham, Accuracy and Stability of
// Numerical Algorithms, section 10.3: with positive pivots the smallest eigenvalue is above -indefinite, but
// for the rounding of the factorisation). At the first pivot d_k <= 0, v = L^-T e_k has v'(P + E)v = d_k, and proves
// with its d'Pd < 0 that P is indefinite.
//
// P without entries off its diagonal, and P whose diagonal dominates, cost a look at the entries.
type convexity struct {
	factor   *ldl.Factor
	n        int
	ptr, ind []int32   // the upper triangle with a whole diagonal
	from     []int32   // entry k is entry from[k] of P, none if negative
	values   []float64 // scaled
	shifted  []float64
	scale    []float64
	// shift is what must be added to the diagonal for P to be convex, relative to it: zero where P is.
	shift float64
}

// check returns nil or a NonconvexError, and sets shift. The pattern must be that of the calls before.
func (c *convexity) check(p *sparse.CSC) error {
	c.shift = 0
	if p == nil {
		return nil
	}
	n, _ := p.Dims()
	raw := p.RawMatrix()
	diagonal, beside := make([]float64, n), make([]float64, n) // p_jj, the sum of |p_ij| over i != j
	for j := range n {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if i, v := raw.Ind[k], raw.Data[k]; i == j {
				diagonal[j] = v
			} else {
				beside[i] += math.Abs(v)
				beside[j] += math.Abs(v)
			}
		}
	}
	dominant := true
	for j, d := range diagonal {
		if d < 0 {
			direction := make([]float64, n)
			direction[j] = 1
			return &NonconvexError{direction, d, j}
		}
		dominant = dominant && beside[j] <= d
	}
	if dominant {
		return nil
	}
	for j, d := range diagonal {
		if d == 0 && beside[j] > 0 {
			return besideZero(p, diagonal, j)
		}
	}
	for j := range n {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			// p_ij^2 > p_ii p_jj: (e_i/sqrt p_ii -+ e_j/sqrt p_jj)'P(..) < 0
			i, v := raw.Ind[k], raw.Data[k]
			si, sj := math.Sqrt(diagonal[i]), math.Sqrt(diagonal[j])
			if i != j && math.Abs(v)/si > (1+doubtful)*sj {
				direction := make([]float64, n)
				direction[i], direction[j] = 1, -math.Copysign(si/sj, v)
				return proven(p, direction)
			}
		}
	}
	c.scale = zeros(c.scale, n)
	for j, d := range diagonal {
		c.scale[j] = 1
		if d > 0 {
			_, exponent := math.Frexp(d)
			c.scale[j] = math.Ldexp(1, -(exponent-1)>>1)
		}
	}
	if c.factor == nil {
		if err := c.analyze(p); err != nil {
			return err
		}
	}
	for j := range n {
		for k := c.ptr[j]; k < c.ptr[j+1]; k++ {
			c.values[k] = 0
			if c.from[k] >= 0 {
				c.values[k] = raw.Data[c.from[k]] * c.scale[c.ind[k]] * c.scale[j]
			}
			if int(c.ind[k]) == j && c.values[k] == 0 {
				c.values[k] = 1 // an empty row and column
			}
		}
	}
	if c.convexWith(indefinite) {
		return nil
	}
	direction := c.factor.NegativeDirection()
	for j := range direction {
		direction[j] *= c.scale[j]
	}
	err := proven(p, direction)
	if err == nil || !c.convexWith(doubtful) {
		return err
	}
	low, high := indefinite, doubtful
	for high > doubtfulRatio*low {
		if middle := math.Sqrt(low * high); c.convexWith(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	c.shift = high
	return nil
}

// convexWith says whether the scaled matrix with that part of its diagonal added has positive pivots.
func (c *convexity) convexWith(shift float64) bool {
	c.shifted = append(c.shifted[:0], c.values...)
	for j := range c.n {
		c.shifted[c.ptr[j+1]-1] *= 1 + shift // the diagonal is the last of its column
	}
	return c.factor.Factorize(c.shifted, nil, 0, ldl.Marked) == 0
}

// analyze lays out the upper triangle with its diagonal and analyses it.
func (c *convexity) analyze(p *sparse.CSC) error {
	n, _ := p.Dims()
	raw := p.RawMatrix()
	c.n, c.ptr, c.ind, c.from = n, make([]int32, 1, n+1), nil, nil
	for j := range n {
		whole := false
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			c.ind, c.from = append(c.ind, int32(raw.Ind[k])), append(c.from, int32(k))
			whole = raw.Ind[k] == j // the last one, as rows increase
		}
		if !whole {
			c.ind, c.from = append(c.ind, int32(j)), append(c.from, -1)
		}
		c.ptr = append(c.ptr, int32(len(c.ind)))
	}
	c.values = make([]float64, len(c.ind))
	sign := make([]int8, n)
	for j := range sign {
		sign[j] = 1
	}
	factor, err := ldl.Analyze(n, c.ptr, c.ind, sign)
	if err != nil {
		return fmt.Errorf("backends: P is too large for a proof that it is positive semidefinite: %w", err)
	}
	c.factor = factor
	return nil
}

// besideZero is the error for p_jj = 0 with an entry p_ij beside it: with t of the sign of -p_ij,
// (e_i + t e_j)'P(e_i + t e_j) = p_ii - 2 |t| |p_ij| < 0 from |t| > p_ii / (2 |p_ij|) on.
func besideZero(p *sparse.CSC, diagonal []float64, j int) error {
	n, _ := p.Dims()
	raw := p.RawMatrix()
	at, largest := -1, 0.0 // the row of the largest entry beside p_jj
	for col := range n {
		for k := raw.Indptr[col]; k < raw.Indptr[col+1]; k++ {
			row, v := raw.Ind[k], raw.Data[k]
			if row != col && (row == j || col == j) && math.Abs(v) > math.Abs(largest) {
				at, largest = row+col-j, v
			}
		}
	}
	direction := make([]float64, n)
	direction[at] = 1
	direction[j] = -math.Copysign(max(1, diagonal[at]/math.Abs(largest)), largest)
	return proven(p, direction)
}

// proven returns the error for a direction whose curvature is negative beyond
// rounding, and nil if it is not.
func proven(p *sparse.CSC, direction []float64) error {
	size, at := 0.0, 0
	for j, v := range direction {
		if a := math.Abs(v); a > size {
			size, at = a, j
		}
	}
	if !(size > 0 && size <= math.MaxFloat64) {
		return nil
	}
	for j := range direction {
		direction[j] /= size
	}
	var curvature exactSum
	raw := p.RawMatrix()
	for j, dj := range direction {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			v := raw.Data[k]
			if raw.Ind[k] != j {
				v *= 2
			}
			curvature.addTriple(v, direction[raw.Ind[k]], dj)
		}
	}
	if value, err := curvature.value(), curvature.bound(); value+err < 0 {
		return &NonconvexError{direction, value, at}
	}
	return nil
}

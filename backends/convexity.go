package backends

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends/internal/ldl"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
)

// nonconvex says that d'Pd, along a direction d that is largest in a variable, is a curvature below zero.
func nonconvex(direction []float64, curvature float64, variable int) error {
	return &ProblemError{Field: "P", Reason: fmt.Sprintf("is not positive semidefinite, so the problem is not convex: "+
		"d'Pd = %.3g for a direction d that is largest in variable %d", curvature, variable), Direction: direction,
		Curvature: curvature}
}

// The smallest eigenvalue of P, scaled to a diagonal near one, decides. Above -eigenvalueRounding it counts as
// rounding: P = B'B computed in doubles, or written to a file with 12 digits, stays there. Below -eigenvalueDoubtful P
// is not convex. What lies between may be data of few digits, and is solved, but judged with the bounds of the
// variables (see judgeDoubtful).
const (
	eigenvalueRounding = 1e-11
	eigenvalueDoubtful = 1e-4
	// How far apart the bounds of the smallest eigenvalue between them may stay.
	doubtfulRatio = 1.02
)

// convexity decides whether P is positive semidefinite, to rounding. It scales P to a diagonal between 1/2 and 2 by
// powers of two, adds eigenvalueRounding of it to the diagonal, and factors it as LDL' (Higham, Accuracy and Stability
// of Numerical Algorithms, section 10.3: with positive pivots the smallest eigenvalue is above -eigenvalueRounding, but
// for the rounding of the factorisation). At the first pivot d_k <= 0, v = L^-T e_k has v'(P + E)v = d_k, and proves
// with its d'Pd < 0 that P is indefinite.
//
// P without entries off its diagonal, and P whose diagonal dominates, cost a look at the entries.
type convexity struct {
	factor   *ldl.Factor
	vars     []int32   // the variables with entries off the diagonal, which alone are looked at
	ptr, ind []int32   // of their rows and columns the upper triangle, with a whole diagonal
	values   []float64 // scaled
	shifted  []float64
	scale    []float64
	// work space of looked
	diagonal, beside []float64
	// shift is what must be added to the diagonal for P to be convex, relative to it: zero where P is.
	shift float64
}

// looked returns the diagonal of P and whether a look at the entries decides: they dominate on the diagonal, so that P
// is convex, or show a direction that curves downwards, by a negative entry of the diagonal, a zero beside others, or
// two variables.
func (c *convexity) looked(p *sparse.CSC) (diagonal []float64, decided bool, err error) {
	n, _ := p.Dims()
	c.diagonal, c.beside = dense.Cleared(c.diagonal, n), dense.Cleared(c.beside, n)
	diagonal, beside := c.diagonal, c.beside // the sum of |p_ij| over i != j
	entries(p, func(i, j int, v float64) {
		if i == j {
			diagonal[j] = v
		} else {
			beside[i] += math.Abs(v)
			beside[j] += math.Abs(v)
		}
	})
	dominant := true
	for j, d := range diagonal {
		if d < 0 {
			direction := make([]float64, n)
			direction[j] = 1
			return nil, true, nonconvex(direction, d, j)
		}
		dominant = dominant && beside[j] <= d
	}
	if dominant {
		return diagonal, true, nil
	}
	for j, d := range diagonal {
		if d == 0 && beside[j] > 0 {
			return nil, true, besideZero(p, diagonal, j)
		}
	}
	root := beside // of the diagonal
	for j, d := range diagonal {
		root[j] = math.Sqrt(d)
	}
	raw := p.RawMatrix()
	for j, sj := range root {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			// p_ij^2 > p_ii p_jj: (e_i/sqrt p_ii -+ e_j/sqrt p_jj)'P(..) < 0
			i, v := raw.Ind[k], raw.Data[k]
			if i != j && math.Abs(v)/root[i] > (1+eigenvalueDoubtful)*sj {
				direction := make([]float64, n)
				direction[i], direction[j] = 1, -math.Copysign(root[i]/sj, v)
				return nil, true, proven(p, direction)
			}
		}
	}
	return diagonal, false, nil
}

// load puts the scaled entries in their places.
func (c *convexity) load(p *sparse.CSC, diagonal []float64) {
	raw := p.RawMatrix()
	c.scale = dense.Cleared(c.scale, len(c.vars))
	for j, of := range c.vars {
		c.scale[j] = 1
		if d := diagonal[of]; d > 0 {
			_, exponent := math.Frexp(d)
			c.scale[j] = math.Ldexp(1, -(exponent-1)>>1)
		}
	}
	clear(c.values)
	for j, of := range c.vars {
		at := c.ptr[j]
		for _, v := range raw.Data[raw.Indptr[of]:raw.Indptr[of+1]] {
			c.values[at] = v * c.scale[c.ind[at]] * c.scale[j]
			at++
		}
		if own := &c.values[c.ptr[j+1]-1]; *own == 0 { // the last of its column
			*own = 1 // an empty row and column
		}
	}
}

// check returns nil or a ProblemError with a direction, and sets shift. The pattern must be that of the calls before.
func (c *convexity) check(p *sparse.CSC) error {
	c.shift = 0
	if p == nil {
		return nil
	}
	diagonal, decided, err := c.looked(p)
	if decided {
		return err
	}
	if c.factor == nil {
		if err := c.analyze(p); err != nil {
			return err
		}
	}
	c.load(p, diagonal)
	if c.convexWith(eigenvalueRounding) {
		return nil
	}
	found := c.factor.NegativeDirection()
	direction := make([]float64, len(diagonal))
	for j, of := range c.vars {
		direction[of] = found[j] * c.scale[j]
	}
	err = proven(p, direction)
	if err == nil || !c.convexWith(eigenvalueDoubtful) {
		return err
	}
	low := eigenvalueRounding
	for c.shift = eigenvalueDoubtful; c.shift > doubtfulRatio*low; {
		if middle := math.Sqrt(low * c.shift); c.convexWith(middle) {
			c.shift = middle
		} else {
			low = middle
		}
	}
	return nil
}

// convexWith says whether the scaled matrix with that part of its diagonal added has positive pivots.
func (c *convexity) convexWith(shift float64) bool {
	c.shifted = append(c.shifted[:0], c.values...)
	for j := range c.vars {
		c.shifted[c.ptr[j+1]-1] *= 1 + shift // the diagonal is the last of its column
	}
	return c.factor.Factorize(c.shifted, nil, 0, ldl.Marked) == 0
}

// analyze lays out the upper triangle with its diagonal and analyses it.
func (c *convexity) analyze(p *sparse.CSC) error {
	n, _ := p.Dims()
	raw := p.RawMatrix()
	at := make([]int32, n) // of a variable in vars, counted from one
	stored(p, func(_, i, j int, _ float64) {
		if i != j {
			at[i], at[j] = 1, 1
		}
	})
	for j := range at {
		if at[j] > 0 {
			c.vars = append(c.vars, int32(j))
			at[j] = int32(len(c.vars))
		}
	}
	n = len(c.vars)
	room := len(raw.Ind) + n
	c.ptr, c.ind = make([]int32, 1, n+1), make([]int32, 0, room)
	for j, of := range c.vars {
		whole := false
		for _, i := range raw.Ind[raw.Indptr[of]:raw.Indptr[of+1]] {
			c.ind = append(c.ind, at[i]-1)
			whole = i == int(of) // the last one, as rows increase
		}
		if !whole {
			c.ind = append(c.ind, int32(j))
		}
		c.ptr = append(c.ptr, int32(len(c.ind)))
	}
	c.values = make([]float64, len(c.ind))
	var err error
	if c.factor, err = ldl.Analyze(n, c.ptr, c.ind, slices.Repeat([]int8{1}, n)); err != nil {
		return fmt.Errorf("backends: P is too large for a proof that it is positive semidefinite: %w", err)
	}
	return nil
}

// besideZero is the error for p_jj = 0 with an entry p_ij beside it: with t of the sign of -p_ij,
// (e_i + t e_j)'P(e_i + t e_j) = p_ii - 2 |t| |p_ij| < 0 from |t| > p_ii / (2 |p_ij|) on.
func besideZero(p *sparse.CSC, diagonal []float64, j int) error {
	n, _ := p.Dims()
	at, largest := -1, 0.0 // the row of the largest entry beside p_jj
	entries(p, func(row, col int, v float64) {
		if row != col && (row == j || col == j) && math.Abs(v) > math.Abs(largest) {
			at, largest = row+col-j, v
		}
	})
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
	entries(p, func(i, j int, v float64) {
		if i != j {
			v *= 2
		}
		curvature.addTriple(v, direction[i], direction[j])
	})
	if value, err := curvature.value(), curvature.bound(); value+err < 0 {
		return nonconvex(direction, value, at)
	}
	return nil
}

// definiteFrom is the order from which factors are asked; below, eigenvalues cost nothing.
const definiteFrom = 64

// factorOf factors A = L D L', the matrix whose scaled lower triangle is s, and shift times the unit, all divided by
// size, and says whether A is positive definite as far as that tells, in a hundredth of the time of the eigenvalues:
// with all of D positive, A + E is definite for some |E| <= c n u |A|, u the unit roundoff (Higham, Accuracy and
// Stability of Numerical Algorithms, 2002, theorem 10.7), an error as small as that of an eigenvalue. False says
// nothing.
func factorOf(s []float64, shift, size float64, f *factor.Definite) bool {
	n := PSDOrder(len(s))
	return f.Factor(n, func(j int, column []float64) {
		own := s[:n-j]
		s = s[n-j:]
		column[j] = own[0]/size + shift/size
		for i, v := range own[1:] {
			column[j+1+i] = v / size * (1 / math.Sqrt2)
		}
	})
}

// Package activeset goes from one solution of a small convex program to that of the next one, whose numbers are a little
// different, by exchanging constraints that hold with equality. The program is
//
//	minimize   1/2 sum_j D_j x_j^2 + q'x + sum_k c_k max(0, a_k'x - b_k)
//	subject to g_i'x + sum_k w_ik max(0, a_k'x - b_k) <= d_i       (limits)
//	           1/2 sum_j kappa_bj x_j^2 + h_b'x <= e_b              (balls)
//
// with D, c, w, kappa >= 0. The multipliers are lambda_i, nu_b >= 0 and, for each hinge, y_k in [0, H_k] with
// H_k = c_k + sum_i w_ik lambda_i; the gradient of the Lagrangian is
//
//	D x + q + sum_i lambda_i g_i + sum_k y_k a_k + sum_b nu_b (kappa_b x + h_b).
//
// # Method
//
// A hinge is below its kink (y = 0), above (y = H) or held at it; limits and balls are held (with equality) or not. From any
// point and multipliers within their bounds a path leads to the solution, as in parametric active-set
// methods for quadratic programs (Ferreau, Bock, Diehl 2008): with the gradient of the Lagrangian r there and the
// violations sigma of the rows, the point is the solution of the program whose objective has -r'x more and whose
// right sides are larger by sigma. Both go to zero along the path, x and the multipliers are piecewise linear on it, and
// where a row reaches its right side or a multiplier its bound a constraint is held or let go.
//
// Each step of the path solves, with N the normals of the constraints held,
//
//	M dx + N dm = -r,   N'dx - delta dm = -sigma          through   N'M^-1 N + delta = L L',
//
// by Cholesky factors that change with each exchange: one for all of N, or, for blocks of variables that only a few links
// connect, as the folds of a cross-validation, one for each block and one for the links; see arrow.go and factor.go. M is diagonal: D, the curvature nu kappa of the balls, and a small proximal term
// for variables that have neither. The small diagonal delta is a proximal term for the multipliers: where more constraints hold with
// equality than there are dimensions, all of them are held, and of all multipliers the nearest ones are taken. M and the normals of the balls
// may be those of an older point. For all these reasons the end of the path is only near the solution, and another path goes
// on from there; the errors are measured at the true program before each path.
//
// Nothing is certain about the number of exchanges, nor in degenerate cases about the end: the caller
// bounds it, checks the answer, and has another method for the case that there is none.
package activeset

import "gonum.org/v1/gonum/floats"

// Problem is a program of the package comment. Its slices are shared with the caller.
type Problem struct {
	// D and Q have an entry for each variable.
	D, Q []float64
	// Rows are all vectors g, a and h, compressed by rows, with the right sides d, b and e. Columns increase in each row,
	// and a row
	// belongs to one constraint.
	Ptr, Ind []int
	Val      []float64
	Right    []float64
	Limits   []Limit
	Hinges   []Hinge
	Balls    []Ball
	// Whole says that one factor of everything takes less time than one for each block, see arrow.go.
	Whole bool

	first []int // see prepare
}

// Limit is a constraint on row Row, with hinges on its left side; a hinge stands in one limit at most.
type Limit struct {
	Row  int
	Uses []Use
}

// Use is a hinge with a weight w > 0.
type Use struct {
	Hinge  int
	Weight float64
}

// Hinge is max(0, a'x - b) of row Row, with the weight Cost in the objective.
type Hinge struct {
	Row  int
	Cost float64
}

// Ball has its linear part in row Row.
type Ball struct {
	Row   int
	Index []int
	Kappa []float64
}

// Point holds values and multipliers.
type Point struct {
	X                  []float64
	Limit, Hinge, Ball []float64
}

// prepare notes for each row the first column, if the others follow it without a gap and are enough for it to matter.
func (p *Problem) prepare() {
	p.first = make([]int, len(p.Right))
	for r := range p.first {
		from, to := p.Ptr[r], p.Ptr[r+1]
		p.first[r] = -1
		if to-from > 3 && p.Ind[to-1]-p.Ind[from] == to-from-1 {
			p.first[r] = p.Ind[from]
		}
	}
}

// dot returns row r times x.
func (p *Problem) dot(r int, x []float64) float64 {
	from, to := p.Ptr[r], p.Ptr[r+1]
	if j := p.first[r]; j >= 0 {
		return floats.Dot(p.Val[from:to], x[j:j+to-from])
	}
	ind, val := p.Ind[from:to], p.Val[from:to]
	val = val[:len(ind)]
	even, odd, k := 0.0, 0.0, 1
	for ; k < len(ind); k += 2 {
		even += val[k-1] * x[ind[k-1]]
		odd += val[k] * x[ind[k]]
	}
	if k == len(ind) {
		even += val[k-1] * x[ind[k-1]]
	}
	return even + odd
}

// add adds c times row r to x.
func (p *Problem) add(r int, c float64, x []float64) {
	from, to := p.Ptr[r], p.Ptr[r+1]
	if j := p.first[r]; j >= 0 {
		floats.AddScaled(x[j:j+to-from], c, p.Val[from:to])
		return
	}
	val := p.Val[from:to]
	for k, j := range p.Ind[from:to] {
		x[j] += c * val[k]
	}
}

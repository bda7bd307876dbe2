package descent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Completion is a regression over known entries of an m x n matrix whose model has a matrix G of low rank,
//
//	minimize over b, G (and b0)   1/(2N) |y - X b - G_known - b0|^2 + w_0 |G|_* + sum_g w_g |b^(g)|_2,
//
// with |G|_* the sum of the singular values, and a row of X and of y for each of the N known entries.
//
// # Method
//
// With at most 2000 known entries in at most 500 rows, or columns, a primal-dual interior-point method solves the dual, which has an
// unknown for each known entry, in some ten iterations whatever the rank of G and the weights. What is zero in the limit is then
// left out. The dual point, always feasible, gives a lower bound.
//
// Larger ones, and tolerances below 1e-10, take proximal steps (a singular value decomposition of G plus the residual, the values
// above a threshold kept; and an epoch of block coordinate descent) that find the rank and the groups in use. Between them, Newton's
// method goes to the solution of that rank: with G = A B' the objective is smooth and has
//
//	|G|_* = min { (|A|^2 + |B|^2) / 2 : A B' = G }.
//
// Its systems are solved by conjugate gradients, whose products cost one pass over the known entries. Here the residual,
// scaled so that its matrix over the known entries has a spectral norm of at most N w_0, gives the bound.
type Completion struct {
	groups   *Groups
	m, n     int
	row, col []int
	copies   float64 // the most times that an entry is known
	interior *interiorData
}

// CompletionWeights are those of the penalties, all positive.
type CompletionWeights struct {
	// Nuclear is w_0; Norm holds w_g, one for each group or one for all.
	Nuclear float64
	Norm    []float64
}

// CompletionSolution is a point with its matrix G = Left Right', where Left is m x k and Right n x k;
// both are nil where G is zero.
type CompletionSolution struct {
	Solution
	Left, Right *mat.Dense
}

// NewCompletion takes the linear part of the model: row k of its regression, which may have no features, belongs
// to the entry (row[k], col[k]). The slices are kept.
func NewCompletion(groups *Groups, m, n int, row, col []int) (*Completion, error) {
	c := &Completion{groups: groups, m: m, n: n, row: row, col: col}
	if N := groups.x.n; len(row) != N || len(col) != N {
		return nil, fmt.Errorf("descent: %d row and %d column indices of known entries for %d rows of the regression", len(row), len(col), N)
	}
	times := map[[2]int]float64{}
	for k := range row {
		if row[k] < 0 || row[k] >= m || col[k] < 0 || col[k] >= n {
			return nil, fmt.Errorf("descent: known entry %d is (%d, %d), outside of a matrix of %d x %d", k, row[k], col[k], m, n)
		}
		at := [2]int{row[k], col[k]}
		times[at]++
		c.copies = math.Max(c.copies, times[at])
	}
	if len(row) <= interiorMost && min(m, n) <= interiorOrder {
		c.interior = newInteriorData(c)
	}
	return c, nil
}

// Small says whether the known entries, at most 2000, and the lesser dimension, at most 500, are few enough for the
// interior-point method.
func (c *Completion) Small() bool { return c.interior != nil }

// LambdaMax is the smallest weight that, common to all penalties, makes G and b zero.
func (c *Completion) LambdaMax() float64 {
	top := c.spectral(c.groups.y) / float64(len(c.row))
	for _, group := range c.groups.members {
		sum := 0.0
		for _, j := range group {
			sum += c.groups.xty[j] * c.groups.xty[j]
		}
		top = math.Max(top, math.Sqrt(sum)/float64(len(c.row)))
	}
	return top
}

// Relative is a gap in units of the objective at zero, that of [Options.Tol].
func (c *Completion) Relative(gap float64) float64 { return c.groups.Relative(gap) }

// scatter adds a v at the known entries to a matrix.
func (c *Completion) scatter(to *mat.Dense, a float64, v []float64) {
	raw := to.RawMatrix()
	for k, x := range v {
		raw.Data[c.row[k]*raw.Stride+c.col[k]] += a * x
	}
}

// spectral is the largest singular value of the matrix that has v at the known entries and zeros elsewhere.
func (c *Completion) spectral(v []float64) float64 {
	if c.m == 0 || c.n == 0 {
		return 0
	}
	full := mat.NewDense(c.m, c.n, nil)
	c.scatter(full, 1, v)
	var svd mat.SVD
	if !svd.Factorize(full, mat.SVDNone) {
		return mat.Norm(full, 2) // Frobenius bounds it
	}
	return svd.Values(nil)[0]
}

// Solve returns a solution at the weights w; o.Start is not looked at, start may be nil.
func (c *Completion) Solve(ctx context.Context, w CompletionWeights, o Options, start *CompletionSolution) (*CompletionSolution, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !(w.Nuclear > 0) || math.IsInf(w.Nuclear, 1) {
		return nil, fmt.Errorf("descent: weight of the nuclear norm is %g, expected a positive finite number", w.Nuclear)
	}
	norm, l1, err := c.groups.weights(GroupWeights{Norm: w.Norm})
	if err != nil {
		return nil, err
	}
	g := c.groups.Regression
	s := &completionSolve{
		groupSolve: groupSolve{iterate: newIterate(g), q: c.groups, norm: norm, l1: l1, o: o, c: make([]float64, g.x.p), bound: math.Inf(-1)},
		known:      c, nuclear: w.Nuclear, gamma: make([]float64, g.x.n),
	}
	for k := range c.groups.members {
		if c.groups.lipschitz[k] > 0 {
			s.alive = append(s.alive, k)
		}
	}
	if start != nil {
		if len(start.B) != g.x.p {
			return nil, fmt.Errorf("descent: the start has %d coefficients, expected %d", len(start.B), g.x.p)
		}
		copy(s.b, start.B)
		if start.Left != nil {
			s.left, s.right = mat.DenseCopyOf(start.Left), mat.DenseCopyOf(start.Right)
		}
	}
	status := Exhausted
	if c.interior != nil {
		status = s.interiorSolve(ctx)
	}
	if status == Exhausted {
		status = s.run(ctx)
	}
	out := &CompletionSolution{Solution: *s.solution(), Left: s.left, Right: s.right}
	out.Status, out.Objective, out.Gap = status, s.objective, s.gap
	out.Outer, out.Epochs, out.Newton = s.outer, s.epochs, s.newtons
	if s.mean != nil {
		out.B0 -= floats.Sum(s.gamma) / s.n
	}
	return out, nil
}

// completionSolve is one run of [Completion.Solve]: the linear part, and the matrix.
type completionSolve struct {
	groupSolve
	known       *Completion
	nuclear     float64
	left, right *mat.Dense // nil: zero
	gamma       []float64  // G at the known entries
	near        bool       // the point is from [interior]
}

// completionLimit is a gap, relative to the objective at zero, below which rounding may keep it from falling: singular values of
// the residual are known to some 1e-12 of the largest.
const completionLimit = 1e-11

// run alternates proximal steps and Newton's method.
func (s *completionSolve) run(ctx context.Context) Status {
	const (
		proximal = 3 // steps in a row
		patience = 5 // outer iterations without a smaller gap
	)
	s.begin(ctx)
	least, idle := math.Inf(1), 0
	for {
		if s.outer > 0 && s.stop.Look() {
			return Cancelled
		}
		s.refresh()
		s.correlate(s.alive)
		s.objective = s.loss(s.r, 0) + s.penalty(s.alive) + s.nuclearNorm()
		s.bound = math.Max(s.bound, s.completionDual())
		s.gap = math.Max(0, s.objective-s.bound)
		if idle++; s.gap < 0.9*least {
			least, idle = s.gap, 0
		}
		switch {
		case s.gap <= s.o.Tol*s.scale && (!s.near || s.outer > 0): // Newton's method makes the residual as good as the gap
			return Optimal
		case idle >= patience && s.gap <= completionLimit*s.scale:
			return Exhausted
		case s.epochs >= s.o.MaxEpochs:
			return EpochLimit
		case ctx.Err() != nil:
			return Cancelled
		}
		s.outer++
		for range proximal {
			if s.stop.Look() {
				return Cancelled
			}
			s.epochs++
			s.shrink()
			s.epoch(s.alive)
			s.fold()
		}
		// The gap is of the order of the gradient, the decrease that is left of the order of its square.
		s.factorNewton(0.1 * math.Max(s.o.Tol, 0.1*s.gap/s.scale))
	}
}

// refresh computes G at the known entries and the residual, whose mean is 0 if there is an intercept.
func (s *completionSolve) refresh() {
	s.residual()
	clear(s.gamma)
	if s.left != nil {
		for k := range s.gamma {
			s.gamma[k] = floats.Dot(s.left.RawRowView(s.known.row[k]), s.right.RawRowView(s.known.col[k]))
		}
	}
	floats.Sub(s.r, s.gamma)
	if s.mean != nil {
		floats.AddConst(-floats.Sum(s.r)/s.n, s.r)
	}
}

// nuclearNorm is w_0 (|A|^2 + |B|^2) / 2, the penalty of balanced factors.
func (s *completionSolve) nuclearNorm() float64 {
	if s.left == nil {
		return 0
	}
	a, b := mat.Norm(s.left, 2), mat.Norm(s.right, 2)
	return s.nuclear * (a*a + b*b) / 2
}

// completionDual is the bound of the groups' dual point, shortened where the spectral norm asks for it.
func (s *completionSolve) completionDual() float64 {
	_, t := s.dual(s.alive)
	if top := s.known.spectral(s.r); t*top > s.n*s.nuclear {
		t = s.n * s.nuclear / top
	}
	return t*floats.Dot(s.y, s.r)/s.n - t*t*s.loss(s.r, 0)
}

// shrink is a proximal gradient step on G: with c the most times that an entry is known, the singular values of
// G + r / c fall by N w_0 / c, and those below zero are dropped.
func (s *completionSolve) shrink() {
	c := s.known
	if c.m == 0 || c.n == 0 {
		return
	}
	full := mat.NewDense(c.m, c.n, nil)
	if s.left != nil {
		full.Mul(s.left, s.right.T())
	}
	c.scatter(full, 1/c.copies, s.r)
	var svd mat.SVD
	if !svd.Factorize(full, mat.SVDThin) {
		return
	}
	values, rank := svd.Values(nil), 0
	for rank < len(values) && values[rank] > s.n*s.nuclear/c.copies {
		values[rank] -= s.n * s.nuclear / c.copies
		rank++
	}
	s.left, s.right = nil, nil
	if rank > 0 {
		var u, v mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		s.left, s.right = mat.DenseCopyOf(u.Slice(0, c.m, 0, rank)), mat.DenseCopyOf(v.Slice(0, c.n, 0, rank))
		for k := range rank {
			root := math.Sqrt(values[k])
			for i := range c.m {
				s.left.Set(i, k, s.left.At(i, k)*root)
			}
			for j := range c.n {
				s.right.Set(j, k, s.right.At(j, k)*root)
			}
		}
	}
	s.refresh()
}

// balance makes the factors those of the singular value decomposition, and drops directions of rounding size.
func (s *completionSolve) balance() {
	var qa, qb mat.QR
	var ra, rb, core mat.Dense
	qa.Factorize(s.left)
	qb.Factorize(s.right)
	_, k := s.left.Dims()
	qa.RTo(&ra)
	qb.RTo(&rb)
	ka, kb := min(s.known.m, k), min(s.known.n, k)
	core.Mul(ra.Slice(0, ka, 0, k), rb.Slice(0, kb, 0, k).T())
	var svd mat.SVD
	if !svd.Factorize(&core, mat.SVDThin) {
		return
	}
	values, rank := svd.Values(nil), 0
	for rank < len(values) && values[rank] > 1e-12*values[0] {
		rank++
	}
	if rank == 0 {
		s.left, s.right = nil, nil
		return
	}
	var u, v, q mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	scaled := func(q, u *mat.Dense, rows, inner int) *mat.Dense {
		var out mat.Dense
		out.Mul(q.Slice(0, rows, 0, inner), u.Slice(0, inner, 0, rank))
		for j := range rank {
			root := math.Sqrt(values[j])
			for i := range rows {
				out.Set(i, j, out.At(i, j)*root)
			}
		}
		return &out
	}
	qa.QTo(&q)
	s.left = scaled(&q, &u, s.known.m, ka)
	q.Reset()
	qb.QTo(&q)
	s.right = scaled(&q, &v, s.known.n, kb)
}

package completion

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// solve is one run of [Problem.Solve]: the linear part, and the matrix.
type solve struct {
	leastsquares.GroupPoint
	o     Options
	alive []int // groups

	objective, bound, gap  float64
	outer, epochs, newtons int

	known       *Problem
	nuclear     float64
	left, right *mat.Dense // nil: zero
	gamma       []float64  // G at the known entries
	near        bool       // the point is from [interior]
}

// roundingGap is a gap, relative to the objective at zero, below which rounding may keep it from falling: singular values of
// the residual are known to some 1e-12 of the largest.
const roundingGap = 1e-11

// run alternates proximal steps and Newton's method.
func (s *solve) run(ctx context.Context) lower.Status {
	const (
		proximal = 3 // steps in a row
		patience = 5 // outer iterations without a smaller gap
	)
	s.Begin(ctx)
	least, idle := math.Inf(1), 0
	for {
		if s.outer > 0 && s.Stop.Look() {
			return lower.Cancelled
		}
		s.refresh()
		s.Correlate(s.alive)
		s.objective = s.Loss(s.R, 0) + s.Penalty(s.alive) + s.nuclearNorm()
		s.bound = math.Max(s.bound, s.dual())
		s.gap = math.Max(0, s.objective-s.bound)
		if idle++; s.gap < 0.9*least {
			least, idle = s.gap, 0
		}
		switch {
		case s.gap <= s.o.Tol*s.Scale && (!s.near || s.outer > 0): // Newton's method makes the residual as good as the gap
			return lower.Optimal
		case idle >= patience && s.gap <= roundingGap*s.Scale:
			return lower.Exhausted
		case s.epochs >= s.o.MaxEpochs:
			return lower.EpochLimit
		case ctx.Err() != nil:
			return lower.Cancelled
		}
		s.outer++
		for range proximal {
			if s.Stop.Look() {
				return lower.Cancelled
			}
			s.epochs++
			s.shrink()
			s.Epoch(s.alive)
			s.Fold()
		}
		// The gap is of the order of the gradient, the decrease that is left of the order of its square.
		s.factorNewton(0.1 * math.Max(s.o.Tol, 0.1*s.gap/s.Scale))
	}
}

// refresh computes G at the known entries and the residual, whose mean is 0 if there is an intercept.
func (s *solve) refresh() {
	s.Residual()
	clear(s.gamma)
	if s.left != nil {
		for k := range s.gamma {
			s.gamma[k] = floats.Dot(s.left.RawRowView(s.known.row[k]), s.right.RawRowView(s.known.col[k]))
		}
	}
	floats.Sub(s.R, s.gamma)
	if s.Mean != nil {
		floats.AddConst(-floats.Sum(s.R)/s.N, s.R)
	}
}

// nuclearNorm is w_0 (|A|^2 + |B|^2) / 2, the penalty of balanced factors.
func (s *solve) nuclearNorm() float64 {
	if s.left == nil {
		return 0
	}
	a, b := mat.Norm(s.left, 2), mat.Norm(s.right, 2)
	return s.nuclear * (a*a + b*b) / 2
}

// dual is the bound of the groups' dual point, shortened where the spectral norm asks for it.
func (s *solve) dual() float64 {
	_, t := s.Dual(s.alive)
	if top := s.known.spectral(s.R); t*top > s.N*s.nuclear {
		t = s.N * s.nuclear / top
	}
	return t*floats.Dot(s.Y, s.R)/s.N - t*t*s.Loss(s.R, 0)
}

// shrink is a proximal gradient step on G: with c the most times that an entry is known, the singular values of
// G + r / c fall by N w_0 / c, and those below zero are dropped.
func (s *solve) shrink() {
	c := s.known
	if c.m == 0 || c.n == 0 {
		return
	}
	full := mat.NewDense(c.m, c.n, nil)
	if s.left != nil {
		full.Mul(s.left, s.right.T())
	}
	c.scatter(full, 1/c.copies, s.R)
	var svd mat.SVD
	if !svd.Factorize(full, mat.SVDThin) {
		return
	}
	values, rank := svd.Values(nil), 0
	for rank < len(values) && values[rank] > s.N*s.nuclear/c.copies {
		values[rank] -= s.N * s.nuclear / c.copies
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
func (s *solve) balance() {
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

package completion

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// broadShare bounds the largest curvature of an entry, in terms of rho, up to which proximal steps are better than Newton's.
	broadShare = 4
	// broadSteps bounds their number, and spreadShare of the gap that is wanted is a decrease with which they end.
	broadSteps, spreadShare = 40, 0.01
)

// steepest is the largest curvature of an entry of G, if none is in both sets or there more than once.
func (f *factored) steepest() float64 { return f.rho + math.Max(f.w[0], f.w[1]) }

// broad says whether the proximal term is so much of the curvature that a few proximal steps in G solve the problem.
func (f *factored) broad() bool {
	return f.rho > 0 && f.k > 0 && len(f.set) == 0 && !f.j.intercept && f.steepest() <= broadShare*f.rho && 2*f.k <= min(f.j.m, f.j.n)
}

// spread takes proximal steps G <- prox(G + T / c) in the span of the singular vectors of G and of their images under T, until one of them promises less
// than last: the objective falls by a factor of about 1 - rho / c in each.
func (f *factored) spread(last float64) {
	for range broadSteps {
		if !f.broad() || f.over() || !(f.spreadStep() > last) {
			return
		}
	}
}

// spreadStep takes one step, and returns by how much the objective fell.
func (f *factored) spreadStep() (fell float64) {
	vectors, values, scaled := f.decompose()
	if math.IsNaN(values[0]) {
		return 0
	}
	f.takeFactors(scaled)
	f.refresh()
	before := f.objective()
	left, right, core := f.images(vectors)
	n := 2 * len(values)
	for c := f.steepest(); c < f.steepest()*(1<<coreHalvings); c *= 2 {
		moved := mat.NewDense(n, n, nil)
		moved.Scale(1/c, core)
		for i, x := range values {
			moved.Set(i, i, moved.At(i, i)+x)
		}
		u, after, v := singular(moved)
		if u == nil {
			return 0
		}
		rank := 0
		for rank < n && after[rank] > f.nuclear/c {
			after[rank] -= f.nuclear / c
			rank++
		}
		if rank == 0 {
			f.setFactors(0, nil)
		} else {
			f.takeFactors([2]*mat.Dense{
				scaledColumns(turned(left, leading(u, n, rank)), after[:rank]), scaledColumns(turned(right, leading(v, n, rank)), after[:rank]),
			})
		}
		f.refresh()
		if fell = before - f.objective(); fell >= 0 {
			return fell
		}
	}
	f.takeFactors(scaled)
	f.refresh()
	return 0
}

// images are orthonormal bases of the spans of (Q, TP) and of (P, T'Q), and T in them.
func (f *factored) images(vectors [2]*mat.Dense) (left, right, core *mat.Dense) {
	_, k := vectors[0].Dims()
	q, p := vectors[0].RawMatrix().Data, vectors[1].RawMatrix().Data
	tp, tq := f.times(p, k, false), f.times(q, k, true)
	inside := gram(q, k, tp, k)
	turnedInside := make([]float64, k*k)
	transpose(turnedInside, inside, k, k)
	var more [2]*mat.Dense
	for s, side := range [2]struct{ basis, image, along []float64 }{{q, tp, inside}, {p, tq, turnedInside}} {
		addProduct(side.image, -1, side.basis, k, side.along, k)
		more[s], _ = orthonormal(side.image, k)
		again := more[s].RawMatrix().Data // orthogonal to rounding
		addProduct(again, -1, side.basis, k, gram(side.basis, k, again, k), k)
		more[s], _ = orthonormal(again, k)
	}
	left, right = beside(vectors[0], more[0]), beside(vectors[1], more[1])
	n := 2 * k
	core = mat.NewDense(n, n, gram(left.RawMatrix().Data, n, f.times(right.RawMatrix().Data, n, false), n))
	return left, right, core
}

// beside is (A, B).
func beside(a, b *mat.Dense) *mat.Dense {
	rows, k := a.Dims()
	_, l := b.Dims()
	out := mat.NewDense(rows, k+l, nil)
	for i := range rows {
		copy(out.RawRowView(i), slices.Concat(a.RawRowView(i), b.RawRowView(i)))
	}
	return out
}

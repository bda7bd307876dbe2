package completion

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/stop"
)

// factored is a point of a [Joint] with the weights of an objective, which on the factors and on the groups in use, S,
// is smooth:
//
//	F = sum over sets of w/2 |r|^2 + rho/2 (|A B' - C|^2 + |b - c|^2 + (b0 - c0)^2)
//	    + m_0 (|A|^2 + |B|^2) / 2 + sum_g m_g |b_g|.
//
// Tangents have b0 as the last entry of S. F does not change when A and B are turned by the same rotation, so
// that its Hessian has a kernel; gradients of functions of A B' are orthogonal to it, up to rounding. Where the
// gradient of F is not quite zero, the kernel is not quite one and rounding in it would grow without bound: the
// Hessian gets a term that holds the rotation, see [factored.conjugate].
type factored struct {
	j    *Joint
	end  stop.Stop
	k    int       // columns
	a, b []float64 // m x k and n x k by rows
	x    []float64
	b0   float64
	r    [2][]float64 // y - X b - G - b0 of the sets with a weight

	w       [2]float64 // of an entry
	rho     float64
	nuclear float64
	norm    []float64
	kc      int // columns of C
	ca, cb  []float64
	cx      []float64
	c0      float64

	set    []int   // S
	active []int   // its groups
	shift  float64 // of the Hessian, see descend
	// how negative the curvature was in a direction of the last system with such a one, else 0: columns are missing
	bent   float64
	blocks *blocks
	holds  []float64
	svd    *decomposition // of the factors as they are, where it is known
	work   [2][]float64

	left, right []float64 // memory for products with the Hessian, see pairs
}

func newFactored(j *Joint) *factored {
	f := &factored{j: j, x: make([]float64, j.p), cx: make([]float64, j.p), norm: make([]float64, len(j.members))}
	for s, of := range j.sides {
		f.r[s], f.work[s] = make([]float64, len(of.y)), make([]float64, len(of.y))
	}
	return f
}

func (f *factored) side(s int) *side { return f.j.sides[s] }

// take goes to a point.
func (f *factored) take(x [][]float64) {
	copy(f.x, x[0])
	f.setFactors(f.j.columns(x), slices.Clone(x[1]))
	if f.j.intercept {
		f.b0 = x[2][0]
	}
}

// setFactors takes A and B, one after the other.
func (f *factored) setFactors(k int, both []float64) {
	cut := f.j.m * k
	f.k, f.a, f.b, f.blocks, f.svd = k, both[:cut:cut], both[cut:], nil, nil
}

// point is the point, in new slices.
func (f *factored) point() [][]float64 {
	out := [][]float64{slices.Clone(f.x), f.j.join(f.k, f.a, f.b)}
	if f.j.intercept {
		out = append(out, []float64{f.b0})
	}
	return out
}

// weigh takes the weights of an objective.
func (f *factored) weigh(w *bilevel.JointWeights) {
	for s, v := range [2]float64{w.Validation, w.Train} {
		f.w[s] = 0
		if n := len(f.side(s).y); n > 0 {
			f.w[s] = v / float64(n)
		}
	}
	f.nuclear, f.rho = w.Penalties[0], w.Rho
	copy(f.norm, w.Penalties[1:])
	f.kc, f.ca, f.cb, f.c0 = 0, nil, nil, 0
	if f.rho > 0 {
		f.centre(w.Centre)
	}
}

// centre takes (c, C, c0).
func (f *factored) centre(c [][]float64) {
	copy(f.cx, c[0])
	f.kc = f.j.columns(c)
	f.ca, f.cb = c[1][:f.j.m*f.kc], c[1][f.j.m*f.kc:]
	if f.j.intercept {
		f.c0 = c[2][0]
	}
}

// size is |b_g|_2.
func (f *factored) size(g int) float64 {
	sum := 0.0
	for _, l := range f.j.members[g] {
		sum += f.x[l] * f.x[l]
	}
	return math.Sqrt(sum)
}

// use finds S.
func (f *factored) use() {
	f.set, f.active = f.set[:0], f.active[:0]
	for g, group := range f.j.members {
		if f.size(g) == 0 {
			continue
		}
		f.active = append(f.active, g)
		for _, l := range group {
			if f.rho > 0 || f.side(training).norm2[l] > 0 {
				f.set = append(f.set, l)
			}
		}
	}
}

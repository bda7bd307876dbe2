package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// Squared is the machine of the same rows with the squared hinge, max(0, 1 - y_i (x_i'w - c))^2, in the place of the
// hinge. It has no [Subproblem].
func (g *Problem) Squared() *Problem {
	out := *g
	if !g.squared {
		out.squared, out.many = true, true
		out.scale = g.scale * (2 - g.scale) // of the shares q and 1 - q of the labels 4 q (1 - q), for 2 q
	}
	return &out
}

// squaredWidth is the width of the squared hinge in the method of multipliers, see [hinges].
const squaredWidth = 0.5

// lossOf is the loss of a margin above 0.
func lossOf(s float64, squared bool) float64 {
	if squared {
		return s * s
	}
	return s
}

// Derivatives of a machine with the squared hinge. With H the matrix of a Newton step at the solution, of the rows of
// positive margin, the free coordinates F, the features inside the box and c, and sign_j and bound_j as in Adjoint,
//
//	H_F dz_F = -w_F dlambda - H_FB dw_B,   dw_j = sign_j dbound_j in B.

// fewRows says whether systems are solved by rows.
func (g *Problem) fewRows() bool { return 2*g.rows.n < g.rows.p && g.rows.n <= mostStored }

// curvatureAt is H at a solution, with F in increasing order.
func (g *Problem) curvatureAt(m *Solution) (h *curvature, free []int) {
	p := g.rows.p
	h = &curvature{rows: g.rows, end: new(stop.Stop), curve: append(slices.Repeat([]float64{m.lambda}, p), 0),
		few: g.fewRows()}
	for i, u := range g.rows.u {
		if 1-g.rows.product(i, m.W)+g.rows.y[i]*m.C > 0 {
			h.band, h.weight = append(h.band, i), append(h.weight, u/squaredWidth)
		}
	}
	h.set()
	for j, w := range m.W {
		if math.Abs(w) < m.bound[j] {
			free = append(free, j)
		}
	}
	return h, append(free, p)
}

// squaredAdjoint solves H_F v_F = (w, c)_F.
func (g *Problem) squaredAdjoint(m *Solution, w []float64, c float64) (lambda float64, bound []float64) {
	h, free := g.curvatureAt(m)
	v, image := make([]float64, len(w)+1), make([]float64, len(w)+1)
	h.solve(free, append(slices.Clone(w), c), v, tightest)
	h.times(image, v)
	bound = make([]float64, len(w))
	for j, x := range m.W {
		if math.Abs(x) >= m.bound[j] {
			bound[j] = math.Copysign(1, x) * (w[j] - image[j])
		}
	}
	return -floats.Dot(v[:len(w)], m.W), bound
}

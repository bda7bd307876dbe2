package singular

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/affine"
)

const (
	// turning is the share of the largest singular value from which on the vectors of one are turned by a
	// Newton step. Those of smaller ones are better found anew, as they are singular vectors of the
	// gradient.
	turning = 1e-4
	// leastShare is the share below which a matrix has no part of a pair.
	leastShare = 1e-7
	// nearNorm is the share of the multiplier of the norm from which on a singular
	// vector of the gradient counts as about to enter.
	nearNorm = 0.9
	// firstPairs bounds the pairs that each part of the objective puts into
	// the first guess, and newPairs those that enter in one round on top of half of what is there.
	firstPairs, newPairs = 4, 6
	// sizePairs is the step in which the number of pairs grows.
	sizePairs = 8
	// facePairs bounds those that enter in a round with a semidefinite C.
	facePairs = 3
	// The conjugate gradients end at the share forced of what was missed last, between leastForcing and mostForcing.
	forced, leastForcing, mostForcing = 0.1, 1e-6, 0.01
	// Singular values of N that would make the Newton system indefinite are cut to below the multiplier by rough times what
	// was missed, between leastRough and mostRough of it.
	rough, leastRough, mostRough = 3, 1e-3, 0.1
)

// move is how the pairs of a matrix go on.
type move struct {
	n        *tangent // nil for the zero matrix
	gradient []float64
	forcing  float64
	step     vector
	entering triplets
	rest     triplets // of X, which a step that was too long must keep
}

// guess makes the first pairs from the gradients at zero of what depends on the matrices.
func (w *Sets) guess() {
	for _, s := range w.pairs {
		part := make([]float64, s.mv.V.N)
		add := func(a *affine.Expr, z []float64) {
			a.Adjoint(1, z, func(v *affine.Variable) []float64 {
				if v == s.mv.V {
					return part
				}
				return nil
			})
			if norm := floats.Norm(part, 2); norm > 0 {
				s.join(leading(part, s.mv.Rows, norm/10, firstPairs), true)
			}
			clear(part)
		}
		for i := range w.p.Curves {
			a := &w.p.Curves[i].Arg
			add(a, a.Constant())
		}
		add(&w.p.Objective, []float64{1})
	}
}

// centre puts the pairs of A first where the objective has a square |X - A|^2 whose A is not in their span.
func (w *Sets) centre() {
	for i := range w.p.Squares {
		arg := &w.p.Squares[i].Arg
		if !arg.Whole() {
			continue
		}
		for _, s := range w.pairs {
			if arg.Vars[0].V != s.mv.V {
				continue
			}
			a := arg.Constant()
			norm := floats.Norm(a, 2)
			c := s.along(a) // without face, as always between solves
			if inside := floats.Norm(c, 2); norm*norm-inside*inside <= 1e-6*norm*norm {
				continue
			}
			old := *s
			s.u, s.v = nil, nil
			s.join(leading(a, s.mv.Rows, 1e-3*norm, old.size()+2*firstPairs), arg.Vars[0].Scale > 0)
			if n := old.size(); n > 0 {
				s.join(triplets{make([]float64, n), old.u, old.v}, false)
			}
		}
	}
}

// nonzero returns the pairs of X. At a solution either c_a = 0 or u_a'G v_a = -g; near one, the larger of c_a/max c and 1 + u_a'G
// v_a/g tells which. inner is the accuracy of G. The others that X still has a part of are the rest.
func (w *Sets) nonzero(s *pairs, part *matrixPart, inner float64) (t, rest triplets) {
	if len(part.t.s) == 0 {
		return t, rest
	}
	top := slices.Max(part.t.s)
	turned := pairs{mv: s.mv, u: part.t.u, v: part.t.v}
	slope := turned.along(part.gradient)
	for a, c := range part.t.s {
		to := &t
		if share := c / top; !(share > turning) || share*max(part.g, 100*inner) < part.g+slope[a] {
			if to = &rest; !(share > leastShare) {
				continue
			}
		}
		to.s = append(to.s, c)
		to.u, to.v = widen(to.u, mat.Col(nil, a, turned.u)), widen(to.v, mat.Col(nil, a, turned.v))
	}
	return t, rest
}

// aim chooses how the pairs go on: those of the matrix turn by a Newton step, and
// singular vectors of the gradient enter that are about to.
func (w *Sets) aim(f *fullPoint, inner float64) {
	w.moves = make([]move, len(w.pairs))
	weights := make([]float64, len(w.p.Curves))
	for i, c := range w.p.Curves {
		if c.Cone == nil {
			weights[i] = c.Weight(nil)
		} else {
			weights[i] = c.Weight(f.rows(f.z, c.Cone))
		}
	}
	for k, s := range w.pairs {
		part := &f.parts[k]
		t, rest := w.nonzero(s, part, inner)
		normal := mat.NewDense(s.mv.Rows, s.mv.Cols, slices.Clone(part.gradient))
		if len(t.s) > 0 { // N = (I - UU') G (I - VV')
			without(normal, t.u)
			var right mat.Dense
			right.CloneFrom(normal.T())
			without(&right, t.v)
			normal.CloneFrom(right.T())
		}
		entering := w.entering(s, normal, part, len(t.s))
		if len(t.s) > 0 {
			forcing := min(mostForcing, max(leastForcing, forced*part.over))
			below := (1 - min(mostRough, max(leastRough, rough*part.over))) * part.g
			for i, sigma := range entering.s { // they have pairs of their own
				if sigma > below {
					normal.RankOne(normal, below-sigma, entering.u.ColView(i), entering.v.ColView(i))
				}
			}
			n := newTangent(w.curves[k], t, part.g, normal, weights)
			n.damping = w.damping
			n.others = newResponse(w.p, f, w.curves[k], n, weights)
			w.moves[k] = move{n: n, gradient: part.gradient, forcing: forcing, step: n.step(part.gradient, forcing)}
		}
		w.moves[k].entering, w.moves[k].rest = entering, rest
	}
}

// entering returns the leading singular triplets of N. Those above nearNorm are wanted; more come
// along so that programs have few sizes, and with their size their pattern.
func (w *Sets) entering(s *pairs, normal *mat.Dense, part *matrixPart, rank int) triplets {
	most := min(s.mv.Rows, s.mv.Cols) - rank
	if s.face {
		return leading(normal.RawMatrix().Data, s.mv.Rows, nearNorm*part.g, min(most, facePairs))
	}
	t := leading(normal.RawMatrix().Data, s.mv.Rows, 0, min(most, newPairs+rank/2+sizePairs))
	wanted := 0
	for wanted < len(t.s) && wanted < newPairs+rank/2 && t.s[wanted] > nearNorm*part.g {
		wanted++
	}
	return t.first(min(len(t.s), (rank+wanted+sizePairs-1)/sizePairs*sizePairs-rank))
}

// again chooses a shorter step from the same point.
func (w *Sets) again() {
	for k := range w.moves {
		if m := &w.moves[k]; m.n != nil {
			m.n.damping = w.damping
			m.step = m.n.step(m.gradient, m.forcing)
		}
	}
}

// turn sets the pairs to those of the base, turned by the step, and the entering ones. With keep, the sum
// does not get worse if the step is short enough.
func (w *Sets) turn(keep bool) {
	for k, s := range w.pairs {
		m := &w.moves[k]
		s.u, s.v = nil, nil
		if m.n != nil {
			t := m.n.move(m.step)
			s.u, s.v = t.u, t.v
		}
		if keep {
			s.join(m.rest, false)
		}
		s.join(m.entering, true)
	}
}

// oppose lets pairs enter along which a certificate of infeasibility does not hold, and says whether there are any.
func (w *Sets) oppose(f *fullPoint, eps float64) bool {
	some := false
	for k, s := range w.pairs {
		part := &f.parts[k]
		if !(part.missed > eps) {
			continue
		}
		before := s.size()
		s.join(leading(part.gradient, s.mv.Rows, part.g, max(sizePairs, before)), true)
		some = some || s.size() > before
	}
	return some
}

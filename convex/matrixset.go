package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

const (
	// looseSpaceEps is the accuracy of the first round. It has to tell multipliers of
	// nuclear norms, often a hundredth, from the gradient.
	looseSpaceEps = 1e-5
	// ahead is the accuracy of a round as a share of what the last one missed in
	// the directions left out: the next one misses about that much.
	ahead = 1e-5
	// within is the share of the accuracy asked for that the last rounds are solved to.
	within = 0.005
	// turning is the share of the largest singular value from which on the vectors of one are turned by a
	// Newton step. Those of smaller ones are better found anew, as they are singular vectors of the
	// gradient.
	turning = 1e-4
	// leastShare is the share below which a matrix has no part of an atom.
	leastShare = 1e-7
	// weightless is the number of atoms that are kept where the norm has no weight: what it does
	// to the objective is less than the share slight of it.
	weightless, slight = 24, 1e-6
	// nearNorm is the share of the multiplier of the norm from which on a singular
	// vector of the gradient counts as about to enter.
	// belowNorm is the share to which those that would make the Newton system indefinite are cut.
	nearNorm, belowNorm = 0.9, 0.999
	// firstAtoms bounds the atoms that each part of the objective puts into
	// the first guess, and newAtoms those that enter in one round on top of half of what is there.
	firstAtoms, newAtoms = 4, 6
	// apart is the least part of a new atom's vectors that is orthogonal to the others.
	apart = 0.1
	// firstDamping, leastDamping and mostDamping are those of the Newton steps.
	firstDamping, leastDamping, mostDamping = 0.03, 1e-6, 1e4
	// sizeAtoms is the step in which the number of atoms grows.
	sizeAtoms = 8
	// faceAtoms bounds those that enter in a round with a full C.
	faceAtoms = 3
	// faceRounds is the number of rounds with a diagonal C.
	faceRounds = 6
	// maxRounds bounds the rounds.
	maxRounds = 40
)

// matrixSets is what a solver knows about the matrix variables.
type matrixSets struct {
	p       *Program
	full    *layout
	atoms   []*atoms
	curves  []*curvature
	started bool
	small   *Program // of the current instance
	layout  *layout  // of small
	// base is the point around which the atoms turn, moves how, and damping how much that is held back.
	base    *fullPoint
	moves   []move
	damping float64
	first   float64 // the damping with which a solve begins
	// cautious leaves small singular values out of Newton steps, where steps went too far before.
	cautious bool
	last     *fullPoint // the last point, for warm starts
}

// move is how the atoms of a matrix go on.
type move struct {
	n        *tangent // nil for the zero matrix
	gradient []float64
	forcing  float64
	step     vector
	entering triplets
	rest     triplets // of X, which a step that was too long must keep
}

func newMatrixSets(p *Program) *matrixSets {
	w := &matrixSets{p: p, full: p.newLayout(nil), first: firstDamping}
	for _, mv := range p.matrices {
		w.atoms = append(w.atoms, &atoms{mv: mv})
		w.curves = append(w.curves, newCurvature(p, mv))
	}
	return w
}

// join adds pairs of vectors to the atoms, those with which the sum moves by -u v' where
// minus is set. Pairs that are too near to what is there are left out.
func (s *atoms) join(t triplets, minus bool) {
	for k := range t.s {
		u, v := mat.Col(nil, k, t.u), mat.Col(nil, k, t.v)
		if minus {
			floats.Scale(-1, u)
		}
		if independent(u, s.u) && independent(v, s.v) {
			s.u, s.v = widen(s.u, u), widen(s.v, v)
		}
	}
}

// independent makes x a unit vector that is orthogonal to the orthonormal columns of q,
// and says whether there was enough of it.
func independent(x []float64, q *mat.Dense) bool {
	norm := floats.Norm(x, 2)
	if !(norm > 0) {
		return false
	}
	floats.Scale(1/norm, x)
	if q == nil {
		return true
	}
	rows, cols := q.Dims()
	if cols >= rows {
		return false
	}
	for range 2 {
		var c, back mat.VecDense
		v := mat.NewVecDense(rows, x)
		c.MulVec(q.T(), v)
		back.MulVec(q, &c)
		v.SubVec(v, &back)
		if norm = floats.Norm(x, 2); norm < apart {
			return false
		}
		floats.Scale(1/norm, x)
	}
	return true
}

// widen appends a column.
func widen(q *mat.Dense, x []float64) *mat.Dense {
	if q == nil {
		return mat.NewDense(len(x), 1, x)
	}
	rows, cols := q.Dims()
	out := mat.NewDense(rows, cols+1, nil)
	for i := range rows {
		row := out.RawRowView(i)
		copy(row, q.RawRowView(i))
		row[cols] = x[i]
	}
	return out
}

// guess makes the first atoms from the gradients at zero of what depends on the matrices.
func (w *matrixSets) guess() {
	for _, s := range w.atoms {
		part := make([]float64, s.mv.v.n)
		add := func() {
			if norm := floats.Norm(part, 2); norm > 0 {
				s.join(leading(part, s.mv.rows, norm/10, firstAtoms), true)
			}
			clear(part)
		}
		for i := range w.p.curves {
			a := &w.p.curves[i].arg
			for k := range a.vars {
				if t := &a.vars[k]; t.v == s.mv.v {
					t.adjoint(part, 1, a.constant())
				}
			}
			add()
		}
		one := []float64{1}
		for k := range w.p.objective.vars {
			if t := &w.p.objective.vars[k]; t.v == s.mv.v {
				t.adjoint(part, 1, one)
			}
		}
		add()
	}
}

// centre puts the atoms of A first where the objective has a square |X - A|^2 whose A
// is not in their span.
func (w *matrixSets) centre() {
	for i := range w.p.squares {
		arg := &w.p.squares[i].arg
		if !wholeVariable(*arg) {
			continue
		}
		for _, s := range w.atoms {
			if arg.vars[0].v != s.mv.v {
				continue
			}
			a := arg.constant()
			norm := floats.Norm(a, 2)
			c := s.along(a) // without face, as always between solves
			if inside := floats.Norm(c, 2); norm*norm-inside*inside <= 1e-6*norm*norm {
				continue
			}
			old := *s
			s.u, s.v = nil, nil
			s.join(leading(a, s.mv.rows, 1e-3*norm, old.size()+2*firstAtoms), arg.vars[0].scale > 0)
			if n := old.size(); n > 0 {
				s.join(triplets{make([]float64, n), old.u, old.v}, false)
			}
		}
	}
}

// solveMatrices solves restricted programs until the completed point is optimal for the full one.
func (s *Solver) solveMatrices(ctx context.Context) (*Result, error) {
	w := s.matrices
	if !w.started {
		w.guess()
		w.started = true
	}
	w.base, w.damping = nil, w.first
	rejected := false
	for _, a := range w.atoms {
		a.face = false
	}
	w.centre()
	eps := max(s.eps*within, looseSpaceEps)
	iterations, rounds := 0, 1
	defer func() {
		s.stats.Rounds += rounds
		if rejected {
			w.first = min(firstDamping, 4*w.first)
		} else {
			w.first = max(leastDamping, w.first/4)
		}
	}()
	same := false // the atoms are those of the current instance
	var best *fullPoint
	var bestSolution *backends.Solution
	for {
		sol, err := s.runSmall(ctx, w.last, eps, same)
		if err != nil {
			return nil, err
		}
		iterations += sol.Iterations
		var f *fullPoint
		if hasPoint(sol) {
			f = w.complete(sol)
		}
		if f != nil {
			w.last = f
		}
		if f != nil && (best == nil || f.residuals.Max() < best.residuals.Max()) {
			best, bestSolution = f, sol
		}
		finish := func(status backends.Status) *Result {
			r := w.result(best, cmp.Or(bestSolution, sol))
			r.Status, r.Rounds, r.Iterations = status, rounds, iterations
			return r
		}
		switch {
		case sol.Status == backends.Cancelled || sol.Status == backends.TimeLimit || sol.Status == backends.IterationLimit:
			return finish(sol.Status), nil
		case f != nil && f.residuals.Max() <= s.eps:
			w.shrink(f)
			return finish(backends.Optimal), nil
		case f != nil:
			missed, inner := w.missed(f), sol.Residuals.Max()
			last := eps <= s.eps*within
			if os.Getenv("ZZ") != "" {
				fmt.Printf("   round %d eps %.1e missed %.2e inner %.1e res %.1e k %d r %d g %.4g its %d %s F %.9g share %.2g\n", rounds, eps, missed, inner, f.residuals, w.atoms[0].size(), w.atoms[0].size(), f.parts[0].g, sol.Iterations, sol.Status, f.objective, w.damping)
			}
			switch {
			case missed <= s.eps/2 && !last:
				eps, same = s.eps*within, true
				continue
			case missed <= 3*inner && !last:
				eps, same = max(s.eps*within, min(eps, inner)*ahead), true
				continue
			case rounds >= maxRounds:
				return finish(backends.Inaccurate), nil
			}
			if w.base != nil && f.objective > w.base.objective+10*inner*max(1, math.Abs(f.objective)) && w.damping < mostDamping {
				w.damping *= 16 // the atoms have turned too far
				rejected, w.cautious = true, true
				w.again()
				w.turn(true)
			} else {
				eps = max(s.eps*within, min(eps, missed*ahead))
				faster := 8.0
				if w.base != nil {
					faster = min(1e4, max(8, w.missed(w.base)/missed))
				}
				w.base, w.damping = f, max(leastDamping, w.damping/faster)
				w.aim(f, inner)
				w.turn(false)
			}
			for _, a := range w.atoms {
				a.face = rounds >= faceRounds && s.capabilities.Supports(backends.PSDCone)
			}
		case sol.Status == backends.PrimalInfeasible:
			proof := w.expand(sol, false)
			if w.oppose(proof, s.options.Options.WithDefaults().EpsInfeasible) {
				eps = max(s.eps*within, looseSpaceEps)
				break
			}
			r := w.result(proof, sol)
			r.x, r.s, r.dual = nil, nil, nil
			r.Status, r.Rounds, r.Iterations = sol.Status, rounds, iterations
			if proved, err := s.proves(r); proved || err != nil {
				return r, err
			}
			r.Status = backends.NumericalError
			return r, nil
		default:
			return finish(sol.Status), nil
		}
		same = false
		rounds++
	}
}

// runSmall solves the restricted program to the accuracy eps.
func (s *Solver) runSmall(ctx context.Context, f *fullPoint, eps float64, same bool) (*backends.Solution, error) {
	w, old := s.matrices, s.current
	if same && old != nil && old.tightener != nil {
		if err := old.tightener.SetEps(eps); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
		old.eps = eps
		return s.attempt(ctx, old)
	}
	begin := time.Now()
	w.small = w.p.restrictTo(w.atoms)
	w.layout = w.small.newLayout(nil)
	as := w.layout.assemble()
	s.stats.SetupTime += time.Since(begin)
	in, err := s.newInstance(as, eps, old)
	if err != nil {
		return nil, err
	}
	if f != nil && s.capabilities.WarmStart && !s.options.ColdStart {
		if err := in.solver.WarmStart(w.start(f)); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	if old != nil && old.solver != in.solver {
		if err := old.solver.Close(); err != nil {
			return nil, fmt.Errorf("convex: %w", err)
		}
	}
	s.current = in
	return s.attempt(ctx, in)
}

// start is a point of the restricted program near one of the full program.
func (w *matrixSets) start(f *fullPoint) backends.Point {
	pt := backends.Point{X: make([]float64, w.layout.n), S: make([]float64, w.layout.m), Z: make([]float64, w.layout.m)}
	for i, v := range w.p.vars {
		if w.small.vars[i] == v {
			copy(pt.X[w.layout.start[i]:], f.of(f.x, v))
		}
	}
	slope := make(map[*Variable][]float64)
	for k, s := range w.atoms {
		v := w.small.vars[s.mv.v.id]
		copy(pt.X[w.layout.start[v.id]:], s.along(f.of(f.x, s.mv.v)))
		slope[v] = s.along(f.parts[k].gradient)
		trace := s.trace(f.parts[k].g)
		floats.Add(slope[v], trace)
	}
	for i, g := range w.small.groups {
		s, z := pt.S[w.layout.first[i]:][:g.expr.n], pt.Z[w.layout.first[i]:][:g.expr.n]
		switch {
		case g.from != nil:
			copy(s, f.rows(f.s, g.from))
			copy(z, f.rows(f.z, g.from))
			if g.part == headRow {
				s[0] = max(0, s[0]-f.used(w.p, g.from))
			}
		case len(g.expr.vars) == 1 && slope[g.expr.vars[0].v] != nil: // C in its cone
			v := g.expr.vars[0].v
			copy(s, pt.X[w.layout.start[v.id]:])
			copy(z, slope[v])
		}
	}
	return pt
}

// complete extends the solution of the restricted program to the full one: X = sum_a c_a u_a v_a',
// and the multiplier Y of X in the nuclear norm cone from the gradient G of
// the rest of the Lagrangian in X. Stationarity asks for Y = G, the cone for |Y|_2 <= g.
func (w *matrixSets) complete(sol *backends.Solution) *fullPoint {
	f := w.expand(sol, true)
	f.measure(w.p)
	return f
}

// expand fills a point in, from a solution or, without objective, from a certificate of infeasibility.
func (w *matrixSets) expand(sol *backends.Solution, objective bool) *fullPoint {
	f := &fullPoint{l: w.full, x: make([]float64, w.full.n), s: make([]float64, w.full.m), z: make([]float64, w.full.m), parts: make([]matrixPart, len(w.atoms))}
	if sol.X != nil {
		for i, v := range w.p.vars {
			if w.small.vars[i] == v {
				copy(f.of(f.x, v), sol.X[w.layout.start[i]:])
			}
		}
		for k, s := range w.atoms {
			t := s.diagonalize(sol.X[w.layout.start[s.mv.v.id]:][:s.length()])
			for a := range t.s {
				t.s[a] = max(0, t.s[a])
			}
			copy(f.of(f.x, s.mv.v), t.matrix(s.mv.rows, s.mv.cols))
			f.parts[k].t = t
		}
	}
	for i, g := range w.small.groups {
		if g.from == nil {
			continue
		}
		n := g.expr.n
		if sol.S != nil {
			copy(f.rows(f.s, g.from)[:n], sol.S[w.layout.first[i]:])
		}
		copy(f.rows(f.z, g.from)[:n], sol.Z[w.layout.first[i]:])
	}
	for k, s := range w.atoms {
		part := &f.parts[k]
		for _, use := range s.mv.uses {
			z := f.rows(f.z, use.g)
			z[0] = max(0, z[0])
			part.g += math.Abs(use.scale) * z[0]
			head := use.g.expr.At(0)
			h := head.constant()
			for i := range head.vars {
				head.vars[i].forward(h, f.of(f.x, head.vars[i].v))
			}
			slack := f.rows(f.s, use.g)
			slack[0] = h[0]
			floats.AddScaled(slack[1:], use.scale, f.of(f.x, s.mv.v))
			part.violated = max(part.violated, math.Abs(use.scale)*floats.Sum(part.t.s)-h[0])
		}
	}
	f.stationarity(w.p, objective)
	for k, s := range w.atoms {
		part := &f.parts[k]
		left := f.of(f.dual, s.mv.v)
		part.gradient = slices.Clone(left)
		share := 1.0
		if bound := spectralBound(part.gradient, s.mv.rows, part.g); bound > part.g {
			share = part.g / bound
			part.over = 1 - share
		}
		for _, use := range s.mv.uses {
			if part.g > 0 {
				z := f.rows(f.z, use.g)
				floats.AddScaled(z[1:], math.Copysign(z[0]/part.g*share, use.scale), part.gradient)
			}
		}
		for j, v := range left {
			left[j] = (1 - share) * v
			part.missed = max(part.missed, math.Abs(left[j]))
		}
	}
	return f
}

// missed is the part of the dual residual that is due to the restriction.
func (w *matrixSets) missed(f *fullPoint) float64 {
	worst := 0.0
	for _, part := range f.parts {
		worst = max(worst, part.missed)
	}
	return worst / f.scale
}

// nonzero returns the atoms of X. At a solution either c_a = 0 or u_a'G v_a = -g;
// near one, the larger of c_a/max c and 1 + u_a'G v_a/g tells which. inner is the accuracy of G. The
// others that X still has a part of are the rest.
func (w *matrixSets) nonzero(s *atoms, part *matrixPart, inner float64) (t, rest triplets) {
	if len(part.t.s) == 0 {
		return t, rest
	}
	top := slices.Max(part.t.s)
	least := turning
	if w.cautious {
		least = max(least, min(0.01, 0.1*math.Sqrt(part.over)))
	}
	turned := atoms{mv: s.mv, u: part.t.u, v: part.t.v}
	slope := turned.along(part.gradient)
	for a, c := range part.t.s {
		to := &t
		if share := c / top; !(share > least) || share*max(part.g, 100*inner) < part.g+slope[a] {
			if to = &rest; !(share > leastShare) {
				continue
			}
		}
		to.s = append(to.s, c)
		to.u, to.v = widen(to.u, mat.Col(nil, a, turned.u)), widen(to.v, mat.Col(nil, a, turned.v))
	}
	return t, rest
}

// aim chooses how the atoms go on: those of the matrix turn by a Newton step, and
// singular vectors of the gradient enter that are about to.
func (w *matrixSets) aim(f *fullPoint, inner float64) {
	w.moves = make([]move, len(w.atoms))
	weights := make([]float64, len(w.p.curves))
	for i := range w.p.curves {
		c := &w.p.curves[i]
		if c.cone == nil {
			weights[i] = c.weight(nil)
		} else {
			weights[i] = c.weight(f.rows(f.z, c.cone))
		}
	}
	for k, s := range w.atoms {
		part := &f.parts[k]
		t, rest := w.nonzero(s, part, inner)
		normal := mat.NewDense(s.mv.rows, s.mv.cols, slices.Clone(part.gradient))
		if len(t.s) > 0 { // N = (I - UU') G (I - VV')
			without(normal, t.u)
			var right mat.Dense
			right.CloneFrom(normal.T())
			without(&right, t.v)
			normal.CloneFrom(right.T())
		}
		entering := w.entering(s, normal, part, len(t.s))
		if len(t.s) > 0 {
			rough := min(0.1, max(1e-3, 3*part.over))
			forcing := min(0.01, max(1e-6, part.over/10))
			top := triplets{slices.Clone(entering.s), entering.u, entering.v}
			for i, sigma := range entering.s { // they have atoms of their own
				if below := (1 - rough) * part.g; sigma > below {
					normal.RankOne(normal, below-sigma, entering.u.ColView(i), entering.v.ColView(i))
					top.s[i] = below
				}
			}
			n := newTangent(w.curves[k], t, part.g, normal, top, weights)
			n.damping = w.damping
			n.others = newResponse(w.p, f, w.curves[k], n, weights)
			w.moves[k] = move{n: n, gradient: part.gradient, forcing: forcing, step: n.step(part.gradient, forcing)}
		}
		w.moves[k].entering, w.moves[k].rest = entering, rest
	}
}

// entering returns the leading singular triplets of N. Those above nearNorm are wanted; more come
// along so that programs have few sizes, and with their size their pattern.
func (w *matrixSets) entering(s *atoms, normal *mat.Dense, part *matrixPart, rank int) triplets {
	most := min(s.mv.rows, s.mv.cols) - rank
	if s.face {
		return leading(normal.RawMatrix().Data, s.mv.rows, nearNorm*part.g, min(most, faceAtoms))
	}
	t := leading(normal.RawMatrix().Data, s.mv.rows, 0, min(most, newAtoms+rank/2+sizeAtoms))
	wanted := 0
	for wanted < len(t.s) && wanted < newAtoms+rank/2 && t.s[wanted] > nearNorm*part.g {
		wanted++
	}
	return t.first(min(len(t.s), (rank+wanted+sizeAtoms-1)/sizeAtoms*sizeAtoms-rank))
}

// shrink prepares the next solve: the atoms stay, so that the program set up can be used again. Only where
// the norm has no weight, which spreads an interior point over all atoms, those of which X has the
// largest parts are kept.
func (w *matrixSets) shrink(f *fullPoint) {
	for k, s := range w.atoms {
		part := &f.parts[k]
		if s.size() <= weightless || part.g*floats.Sum(part.t.s) > slight*max(1, math.Abs(f.objective)) {
			continue
		}
		order := make([]int, len(part.t.s))
		for a := range order {
			order[a] = a
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(part.t.s[b], part.t.s[a]) })
		s.u, s.v, s.face = nil, nil, false
		for _, a := range order[:weightless] {
			s.u, s.v = widen(s.u, mat.Col(nil, a, part.t.u)), widen(s.v, mat.Col(nil, a, part.t.v))
		}
	}
}

// again chooses a shorter step from the same point.
func (w *matrixSets) again() {
	for k := range w.moves {
		if m := &w.moves[k]; m.n != nil {
			m.n.damping = w.damping
			m.step = m.n.step(m.gradient, m.forcing)
		}
	}
}

// turn sets the atoms to those of the base, turned by the step, and the entering ones. With keep, the sum
// does not get worse if the step is short enough.
func (w *matrixSets) turn(keep bool) {
	for k, s := range w.atoms {
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

// oppose lets atoms enter along which a certificate of infeasibility does not hold, and says whether
// there are any.
func (w *matrixSets) oppose(f *fullPoint, eps float64) bool {
	some := false
	for k, s := range w.atoms {
		part := &f.parts[k]
		if !(part.missed > eps) {
			continue
		}
		before := s.size()
		s.join(leading(part.gradient, s.mv.rows, part.g, max(sizeAtoms, before)), true)
		some = some || s.size() > before
	}
	return some
}

// result makes a result of a point, which may be nil.
func (w *matrixSets) result(f *fullPoint, sol *backends.Solution) *Result {
	offset := w.p.offset()
	r := &Result{
		Objective: sol.Objective + offset, DualObjective: sol.DualObjective + offset,
		Residuals: sol.Residuals, SetupTime: sol.SetupTime, SolveTime: sol.SolveTime, Message: sol.Message,
		as: &assembled{layout: w.full},
	}
	for _, s := range w.atoms {
		r.Active += s.size()
	}
	if f != nil {
		r.Objective, r.DualObjective, r.Residuals = f.objective+offset, f.dobj+offset, f.residuals
		r.x, r.s, r.z, r.dual = f.x, f.s, f.z, f.dual
		r.keepSquares(w.p)
	}
	return r
}

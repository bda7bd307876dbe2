package completion

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/lower"
)

const (
	// jointSteps bounds the steps of Newton's method, jointCG those of conjugate gradients in each.
	jointSteps, jointCG = 60, 400
	// forcing bounds the accuracy of the systems of Newton's method, derivatives is that of those for derivatives in the weights.
	forcing, derivatives = 0.1, 1e-2
	// jointTol is the share of the training loss at zero, squared, that the last step of Newton's method promises.
	jointTol = 3e-8
	// ample times the best step is how large new columns are: F is convex in the size of a column above a third of the best G, and concave below.
	ample = 1.8
	// followed bounds the relative change of a weight for which the derivative foretells the solution.
	followed = 0.5
	// small is the share of the largest singular value of G below which one may be zero in the limit. It is where the norm of the rest of T is below
	// the weight by the share idle.
	small, idle = 1e-5, 1e-7
	// jointRounds bounds how often a penalised solve takes in columns.
	jointRounds = 200
)

// centreIntercept makes b0 the best one.
func (f *factored) centreIntercept() {
	if !f.j.intercept {
		return
	}
	sum, weight := -f.rho*(f.b0-f.c0), f.rho
	for s, w := range f.w {
		if w > 0 {
			sum += w * floats.Sum(f.r[s])
			weight += w * float64(len(f.r[s]))
		}
	}
	if !(weight > 0) {
		return
	}
	f.b0 += sum / weight
	for s, w := range f.w {
		if w > 0 {
			floats.AddConst(-sum/weight, f.r[s])
		}
	}
}

// epoch takes a proximal step for each group: b_g moves along the gradient over a bound of the curvature, and its norm falls by m_g over it.
func (f *factored) epoch() {
	for g, group := range f.j.members {
		curvature := f.rho
		for s, w := range f.w {
			if w > 0 {
				curvature += w * f.side(s).lipschitz[g]
			}
		}
		if !(curvature > 0) {
			continue
		}
		z := f.correlations(group)
		for i, l := range group {
			z[i] = f.x[l] + z[i]/curvature
		}
		size, to := floats.Norm(z, 2), 0.0
		if least := f.norm[g] / curvature; size > least {
			to = 1 - least/size
		}
		for i, l := range group {
			d := to*z[i] - f.x[l]
			if d == 0 {
				continue
			}
			f.x[l] += d
			for s, w := range f.w {
				if w > 0 {
					f.side(s).x.Axpy(-d, l, f.r[s])
				}
			}
		}
	}
}

// descend goes to the solution with as many columns, until a step promises less than tol^2 times the training loss at zero.
func (f *factored) descend(tol float64) {
	unit := math.Max(f.j.unit, math.SmallestNonzeroFloat64)
	last := tol * tol * unit
	for range jointSteps {
		if f.over() {
			return
		}
		f.refresh()
		f.centreIntercept()
		f.epoch()
		f.use()
		g := f.gradient()
		if len(g.A)+len(g.S) == 0 {
			return
		}
		f.prepare()
		steep := g.dot(f.precondition(g))
		if !(steep > 0) {
			return
		}
		accuracy := math.Min(forcing, math.Sqrt(steep/unit))
		accuracy = math.Max(accuracy, 0.1*tol*math.Sqrt(unit/steep))
		d := f.conjugate(g, accuracy, jointCG)
		promise := g.dot(d)
		if !(promise > 0) || !f.move(d, promise, steep) || promise <= last {
			return
		}
	}
}

// move goes to (A, B, b, b0) - t d, see [solve.factorStep].
func (f *factored) move(d tangent, slope, steep float64) bool {
	before := f.objective()
	a, b, x, b0 := f.a, f.b, slices.Clone(f.x), f.b0
	for t := 1.0; t > 1e-6; t /= 2 {
		f.a, f.b = slices.Clone(a), slices.Clone(b)
		floats.AddScaled(f.a, -t, d.A)
		floats.AddScaled(f.b, -t, d.B)
		for i, l := range f.set {
			f.x[l] = x[l] - t*d.S[i]
		}
		if f.j.intercept {
			f.b0 = b0 - t*d.S[len(f.set)]
		}
		f.refresh()
		after := f.objective()
		if after <= before-1e-4*t*slope && before-after > 1e-14*before {
			return true
		}
		if t == 1 && after <= before*(1+1e-13) {
			if g := f.gradient(); g.dot(f.precondition(g)) < steep/4 {
				return true
			}
		}
	}
	f.a, f.b, f.b0 = a, b, b0
	copy(f.x, x)
	f.refresh()
	return false
}

// certify bounds the objective from below. Where the gap is above least it takes in the columns that are missing, and leaves out those that
// are small: singular vectors of such values are not determined, so that in the bound they belong to the complement.
func (f *factored) certify(least float64) (objective, gap float64, grew bool) {
	f.refresh()
	f.centreIntercept()
	var vectors, scaled [2]*mat.Dense
	rank := 0
	if f.k > 0 {
		var values []float64
		vectors, values, scaled = f.decompose()
		if math.IsNaN(values[0]) {
			return math.NaN(), math.Inf(1), false
		}
		for rank < len(values) && values[rank] > small*values[0] {
			rank++
		}
		for s, rows := range [2]int{f.j.m, f.j.n} {
			vectors[s] = leading(vectors[s], rows, rank)
		}
	}
	objective = f.objective()
	top, rest, found := f.spectral(vectors)
	if f.over() {
		return objective, math.Inf(1), false
	}
	gap = math.Max(0, objective-f.bound(top))
	missing := gap > least && len(found.values) > 0
	if f.k > rank && (missing || rest < f.nuclear*(1-idle)) {
		f.setFactors(rank, slices.Concat(columnsOf(scaled[0], f.j.m, rank), columnsOf(scaled[1], f.j.n, rank)))
		f.refresh()
	}
	grew = missing && f.grow(found)
	after := f.objective()
	return after, math.Max(0, gap-objective+after), grew
}

// leading are the first columns of a matrix, nil for none.
func leading(a *mat.Dense, rows, k int) *mat.Dense {
	if k == 0 {
		return nil
	}
	return mat.NewDense(rows, k, columnsOf(a, rows, k))
}

// columnsOf are the first columns of a matrix, by rows.
func columnsOf(a *mat.Dense, rows, k int) []float64 {
	out := make([]float64, 0, rows*k)
	for i := range rows {
		out = append(out, a.RawRowView(i)[:k]...)
	}
	return out
}

// bound is the value of the dual at the multipliers t (u, Z) with t the largest for which |R(u) - Z|_2, at most top, is at most m_0; those of the groups
// are shortened too or, with rho, changed until they fit.
func (f *factored) bound(top float64) float64 {
	t := 1.0
	if top > f.nuclear {
		t = f.nuclear / top
	}
	linear, square := 0.0, 0.0
	for s, w := range f.w {
		if w > 0 {
			linear += w * floats.Dot(f.r[s], f.side(s).y)
			square += w * floats.Dot(f.r[s], f.r[s])
		}
	}
	if f.rho == 0 {
		for g, group := range f.j.members {
			if size := floats.Norm(f.correlations(group), 2); size > f.norm[g] {
				t = math.Min(t, f.norm[g]/size)
			}
		}
		return t*linear - t*t/2*square
	}
	// Z = rho (G - C): <Z, C> and |Z|^2 / rho.
	cc := floats.Dot(gram(f.ca, f.kc, f.ca, f.kc), gram(f.cb, f.kc, f.cb, f.kc))
	gc := floats.Dot(gram(f.a, f.k, f.ca, f.kc), gram(f.b, f.k, f.cb, f.kc))
	gg := floats.Dot(gram(f.a, f.k, f.a, f.k), gram(f.b, f.k, f.b, f.k))
	linear -= f.rho * (gc - cc)
	square += f.rho * math.Max(0, gg-2*gc+cc)
	value := t*linear - t*t/2*square
	for g, group := range f.j.members {
		c := f.correlations(group)
		size, over := floats.Norm(c, 2), 0.0
		if t*size > f.norm[g] {
			over = t - f.norm[g]/size
		}
		for i, l := range group {
			z := t*f.rho*(f.x[l]-f.cx[l]) + over*c[i]
			value -= z*f.cx[l] + z*z/(2*f.rho)
		}
	}
	if f.j.intercept {
		z := t * f.rho * (f.b0 - f.c0)
		value -= z*f.c0 + z*z/(2*f.rho)
	}
	return value
}

// grow takes in columns by a step along the sum of (sigma - m_0) u v' over what was found.
func (f *factored) grow(found triplets) bool {
	slope, curvature := 0.0, 0.0
	excess := make([]float64, len(found.values))
	for l, v := range found.values {
		excess[l] = v - f.nuclear
		slope += excess[l] * excess[l]
	}
	n := len(excess)
	left, right := make([]float64, f.j.m*n), make([]float64, f.j.n*n)
	for l := range excess {
		for i, v := range found.u[l] {
			left[i*n+l] = v
		}
		for i, v := range found.v[l] {
			right[i*n+l] = v * excess[l]
		}
	}
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of := f.side(s)
		for e, i := range of.row {
			c := of.col[e]
			d := inner(left[i*n:(i+1)*n], right[c*n:(c+1)*n])
			curvature += w * d * d
		}
	}
	curvature += f.rho * slope
	if !(curvature > 0) || !(slope > 0) {
		return false
	}
	step := ample * slope / curvature
	k := f.k + n
	both := make([]float64, (f.j.m+f.j.n)*k)
	for s, old := range [][]float64{f.a, f.b} {
		rows, from, vectors := f.j.m, 0, found.u
		if s == 1 {
			rows, from, vectors = f.j.n, f.j.m*k, found.v
		}
		for i := range rows {
			to := both[from+i*k : from+(i+1)*k]
			copy(to, old[i*f.k:(i+1)*f.k])
			for l := range n {
				to[f.k+l] = vectors[l][i] * math.Sqrt(step*excess[l])
			}
		}
	}
	f.setFactors(k, both)
	f.refresh()
	return true
}

// JointSolver solves a [Joint], each time from the solve before. It implements [lower.JointSolver].
type JointSolver struct {
	f *factored
	// of the last solve; nil where there was none since the point was changed
	weights  *lower.JointWeights
	point    *lower.JointPoint
	tangents []tangent // minus the derivatives of the point in the weights, with S as it was
	set      []int
}

// Joint implements [lower.Joint].
func (j *Joint) Joint() *JointSolver { return &JointSolver{f: newFactored(j)} }

// Model implements [lower.JointSolver].
func (s *JointSolver) Model(_ context.Context, x [][]float64) error {
	if x != nil {
		s.f.take(x)
		s.weights = nil
	}
	return nil
}

// X implements [lower.JointSolver].
func (s *JointSolver) X() [][]float64 { return s.f.point() }

// Quadratic implements [lower.JointSolver].
func (s *JointSolver) Quadratic() bool { return true }

// Solve implements [lower.JointSolver].
func (s *JointSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
	f := s.f
	if s.weights != nil && same(s.weights, w) {
		return s.point, nil
	}
	f.end.Begin(ctx, 0)
	defer f.end.End()
	change := s.follow(w)
	f.weigh(w)
	f.descend(math.Max(jointTol, 1e-4*math.Min(1e-2, change*change)))
	if f.over() {
		s.weights = nil
		return nil, nil
	}
	pt := &lower.JointPoint{Values: s.values(), Objective: f.objective()}
	s.differentiate(pt)
	if f.over() {
		s.weights = nil
		return nil, nil
	}
	s.weights, s.point = clone(w), pt
	return pt, nil
}

// clone copies weights; the centre is shared.
func clone(w *lower.JointWeights) *lower.JointWeights {
	out := *w
	out.Penalties = slices.Clone(w.Penalties)
	return &out
}

// same says whether weights are the same.
func same(a, b *lower.JointWeights) bool {
	return a.Validation == b.Validation && a.Train == b.Train && sameCentre(a, b) && slices.Equal(a.Penalties, b.Penalties)
}

func sameCentre(a, b *lower.JointWeights) bool {
	return a.Rho == b.Rho && (a.Rho == 0 || len(a.Centre) == len(b.Centre) && &a.Centre[0] == &b.Centre[0])
}

// follow moves to what the derivatives foretell. It returns the largest relative change of a weight, 1 where there is no derivative.
func (s *JointSolver) follow(w *lower.JointWeights) float64 {
	f, old := s.f, s.weights
	if old == nil || s.tangents == nil || !slices.Equal(s.set, f.set) || old.Validation != w.Validation || !sameCentre(old, w) {
		return 1
	}
	before, after := indexed(old), indexed(w)
	most := 0.0
	for i, v := range after {
		if v != before[i] {
			most = math.Max(most, math.Abs(v-before[i])/math.Max(v, before[i]))
		}
	}
	if most > followed {
		return 1
	}
	for i, t := range s.tangents {
		d := after[i] - before[i]
		if d == 0 || t.A == nil || len(t.A) != len(f.a) {
			continue
		}
		floats.AddScaled(f.a, -d, t.A)
		floats.AddScaled(f.b, -d, t.B)
		for l, at := range f.set {
			f.x[at] -= d * t.S[l]
		}
		if f.j.intercept {
			f.b0 -= d * t.S[len(f.set)]
		}
	}
	s.tangents = nil
	return most
}

// indexed are the weights that F is differentiated in.
func indexed(w *lower.JointWeights) []float64 { return append([]float64{w.Train}, w.Penalties...) }

// values are the functions at the point.
func (s *JointSolver) values() lower.Values {
	f := s.f
	v := lower.Values{Validation: f.loss(validating), Train: f.loss(training), Penalties: []float64{f.penalty()}}
	for g := range f.j.members {
		v.Penalties = append(v.Penalties, f.size(g))
	}
	return v
}

// differentiate solves H t_i = g_i for the gradients g_i of what the weights multiply; -F” is g_i't_j.
func (s *JointSolver) differentiate(pt *lower.JointPoint) {
	f := s.f
	f.use()
	n := 2 + len(f.j.members)
	pt.Curvature = make([][]float64, n)
	for i := range pt.Curvature {
		pt.Curvature[i] = make([]float64, n)
	}
	gradients := make([]tangent, n)
	s.tangents, s.set = make([]tangent, n), slices.Clone(f.set)
	if f.w[training] > 0 {
		gradients[0] = f.zero()
		f.pullSide(gradients[0], -1/float64(len(f.r[training])), training, f.r[training])
	}
	gradients[1] = f.zero()
	copy(gradients[1].A, f.a)
	copy(gradients[1].B, f.b)
	at := 0
	for _, g := range f.active {
		t := f.zero()
		for ; at < len(f.set) && f.j.of[f.set[at]] == g; at++ {
			t.S[at] = f.x[f.set[at]] / f.size(g)
		}
		gradients[2+g] = t
	}
	f.prepare()
	for i, g := range gradients {
		if g.A == nil || g.dot(g) == 0 || f.rho == 0 && i == 0 && f.w[validating] == 0 {
			continue // without validation rows and centre only the ratios count, and the weight of the training rows stays
		}
		s.tangents[i] = f.conjugate(g, derivatives, jointCG)
		if f.over() {
			return
		}
	}
	for i := range n {
		for l := range i + 1 {
			if s.tangents[i].A == nil || s.tangents[l].A == nil {
				continue
			}
			v := (gradients[i].dot(s.tangents[l]) + gradients[l].dot(s.tangents[i])) / 2
			pt.Curvature[i][l], pt.Curvature[l][i] = v, v
		}
	}
}

// Check implements [lower.JointSolver].
func (s *JointSolver) Check(ctx context.Context, w *lower.JointWeights) (c lower.JointCheck, err error) {
	f := s.f
	f.end.Begin(ctx, 0)
	defer f.end.End()
	f.weigh(w)
	f.descend(jointTol)
	k := f.k
	c.Objective, c.Gap, c.Grew = f.certify(0)
	if c.Grew || k != f.k || s.weights == nil || !same(s.weights, w) {
		s.weights = nil
	}
	c.Values = s.values()
	if f.over() {
		c.Gap = math.Inf(1)
	}
	return c, nil
}

// minimize solves the objective to an absolute gap.
func (f *factored) minimize(gap float64) (objective, reached float64, status lower.Status, rounds int) {
	unit := math.Max(f.j.unit, math.SmallestNonzeroFloat64)
	least, idle := math.Inf(1), 0
	grew := true
	f.refresh()
	if f.k > 0 { // what is missing at a point of other weights will be missing at the solution
		f.certify(gap)
	}
	for rounds = 1; ; rounds++ {
		// The gap is of the order of the gradient, what a step promises of that of its square. While columns are missing they are most of the gap.
		tol := math.Max(0.1*gap/unit, 0.01*math.Min(0.1, least/unit))
		if grew {
			tol = math.Max(0.1*gap/unit, math.Sqrt(1e-3*math.Min(0.01, least/unit)))
		}
		f.descend(tol)
		if f.over() {
			return f.objective(), math.Inf(1), lower.Cancelled, rounds
		}
		objective, reached, grew = f.certify(gap)
		if idle++; reached < 0.9*least {
			least, idle = reached, 0
		}
		switch {
		case f.over():
			return objective, reached, lower.Cancelled, rounds
		case reached <= gap:
			return objective, reached, lower.Optimal, rounds
		case idle >= 5 && !grew && reached <= roundingGap*f.j.unit:
			return objective, reached, lower.Exhausted, rounds
		case rounds >= jointRounds:
			return objective, reached, lower.EpochLimit, rounds
		}
	}
}

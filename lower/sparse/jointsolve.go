package sparse

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// jointSolver implements [lower.JointSolver]. Positions 0 to k-1 stand for what it works with: the intercept first, if there is one, then
// features in the order in which they came.
type jointSolver struct {
	*Joint
	threads int
	columns []int // of each position, design.Ones for the intercept
	at      []int // position of each feature, -1 for none
	models  [2]jointModel
	a, b    []float64 // by positions: where the models are made, and the last solution
	most    int       // columns up to which matrices are formed
	problem quadratic
	without implicit // the problem where there are more columns, or where the matrix is singular
	bare    bool     // the last problem was without
	// The last solution and its weights where they may be asked for again; nil where there are other columns or models.
	last        *lower.JointPoint
	lastWeights jointWeights
	seen        [2]jointLook    // at b; not known where it has no slopes
	ofWeights   []float64       // X'v of the training rows and their weights, see [jointSolver.shifted]; nil until it is needed
	ctx         context.Context // of the call at work
}

// jointLook is what a look at a set at some point has found.
type jointLook struct {
	loss     float64
	slopes   []float64
	products []float64 // X'u
}

// jointModel is 1/2 b'Gb - h'b + c, the loss of a set up to second order around the point a. What the loss is at a is worked out when it is needed.
type jointModel struct {
	ready  bool
	gram   [][]float64 // G, whole rows; of fewer positions where it is not ready
	linear []float64   // h
	value  float64     // c
	at     float64     // the loss at a
	// The slopes at a, of squares at 0, and the curvatures that G is made of: the weights of the rows of squares, nil for ones; else those of an a before where
	// they have changed little.
	slope, curvature []float64
	products         []float64 // X'u for all features, nil if they were not looked at
	implicit         implicitModel
	reused           int // models made with these curvatures
}

const (
	// newFeatures is how many missing features are taken in at once, or as many as there are already, and wholeFeatures is the number of
	// features up to which all are worked with from the beginning.
	newFeatures, wholeFeatures = 32, 128
	// denseMost and sparseMost are the columns of dense and sparse designs up to which matrices are formed. On sparse ones a product with the design costs less than
	// one with the matrix of a few thousand columns, and the factor of that as much as hundreds of them. Dense designs of few rows are left to
	// [byRows] from as many columns on as that takes, rowShare times the rows, and 256.
	denseMost, sparseMost = 3000, 600
	// sameCurvature is the relative change of curvatures up to which matrices are kept. It is the rate at which steps converge then, and a new
	// matrix costs what a good many gradients do.
	sameCurvature = 0.1
	// mostReused bounds the models in a row with the same matrix: few rows may change much where most do not, and steps then come to no end.
	mostReused = 6
)

// Joint implements [lower.Joint].
func (g *Joint) Joint() lower.JointSolver {
	s := &jointSolver{Joint: g, threads: runtime.GOMAXPROCS(0), ctx: context.Background(), at: slices.Repeat([]int{-1}, g.Features()), most: denseMost}
	if rows := len(g.sets[training].Y) + len(g.sets[validating].Y); !g.sets[training].X.Dense() {
		s.most = sparseMost
	} else {
		s.most = min(denseMost, max(2*wholeFeatures, rowShare*rows))
	}
	var first []int
	if g.intercept {
		first = append(first, design.Ones)
	}
	terms, p := g.terms(), g.Features()
	for j := range p {
		if lo, hi := terms.room(j); lo < hi && (p <= wholeFeatures || terms.always(j)) {
			first = append(first, j)
		}
	}
	s.take(first)
	return s
}

// Quadratic implements [lower.JointSolver].
func (s *jointSolver) Quadratic() bool { return s.quadratic }

// shares are the weights of the losses of the two sets.
func shares(w *lower.JointWeights) [2]float64 { return [2]float64{w.Validation, w.Train} }

// Solve implements [lower.JointSolver].
func (s *jointSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
	if len(w.Penalties) != 2 {
		return nil, fmt.Errorf("sparse: %d weights of penalties, expected 2", len(w.Penalties))
	}
	if s.last != nil && s.lastWeights.same(w) && ctx.Err() == nil {
		return s.last, nil
	}
	s.last = nil
	if !s.minimise(ctx, w, bestAccuracy) {
		return nil, nil
	}
	pt := &lower.JointPoint{Values: lower.Values{Train: s.modelled(training, s.b), Penalties: s.penalties()}}
	if w.Validation > 0 {
		pt.Validation = s.modelled(validating, s.b)
	}
	pt.Objective = s.objective(w, pt.Values)
	pt.Curvature = s.curvature(w)
	if s.bare { // which is long
		s.last, s.lastWeights = pt, jointWeights{*w, slices.Clone(w.Penalties)}
	}
	return pt, nil
}

// jointWeights are weights with penalties that nobody changes.
type jointWeights struct {
	lower.JointWeights
	penalties []float64
}

// same says that weights are these.
func (j *jointWeights) same(w *lower.JointWeights) bool {
	if j.Train != w.Train || j.Validation != w.Validation || j.Rho != w.Rho || !slices.Equal(j.penalties, w.Penalties) {
		return false
	}
	return w.Rho == 0 || slices.EqualFunc(j.Centre, w.Centre, slices.Equal[[]float64])
}

// Work implements [lower.Working].
func (s *jointSolver) Work() float64 { return s.without.spent }

// minimise solves with the models, where these have no matrices with a last Newton step of some relative accuracy. It says whether it came to its end.
func (s *jointSolver) minimise(ctx context.Context, w *lower.JointWeights, best float64) bool {
	if s.ctx = ctx; ctx.Err() != nil {
		return false
	}
	s.ready(training)
	if w.Validation > 0 {
		s.ready(validating)
	}
	if ctx.Err() != nil {
		return false
	}
	s.seen = [2]jointLook{}
	if s.bare = !s.explicit(); !s.bare {
		s.set(w)
		start := slices.Clone(s.b)
		if s.problem.solve(ctx, s.b) {
			return true
		}
		// The matrix is singular to rounding, as where more columns are in use than there are rows.
		s.bare = true
		copy(s.b, start)
	}
	s.setImplicit(w)
	return s.without.solve(ctx, s.b, s.a, best)
}

// set makes the quadratic problem at some weights.
func (s *jointSolver) set(w *lower.JointWeights) {
	k := len(s.columns)
	q := &s.problem
	q.resize(k)
	share, terms := shares(w), s.terms()
	q.box = terms.of(s.columns)
	for i, j := range s.columns {
		row := q.a[i*k : (i+1)*k]
		q.q[i], q.w[i] = 0, 0
		clear(row)
		for set, m := range s.models {
			if share[set] > 0 {
				dense.Axpy(share[set], m.gram[i], row)
				q.q[i] += share[set] * m.linear[i]
			}
		}
		row[i] += w.Rho
		if j != design.Ones {
			f := terms.weight(j)
			row[i] += f * w.Penalties[1]
			q.w[i] = f * w.Penalties[0]
		}
		if w.Rho > 0 {
			q.q[i] += w.Rho * s.centre(w, j)
		}
	}
}

// setImplicit is set without the matrix.
func (s *jointSolver) setImplicit(w *lower.JointWeights) {
	k := len(s.columns)
	p := &s.without
	p.columns, p.parts = s.columns, p.parts[:0]
	p.ridge, p.linear, p.w = make([]float64, k), make([]float64, k), make([]float64, k)
	share, terms := shares(w), s.terms()
	p.box = terms.of(s.columns)
	for set := range s.models {
		if share[set] == 0 {
			continue
		}
		m, n := &s.models[set], float64(len(s.sets[set].Y))
		part := implicitPart{x: s.sets[set].X, omega: make([]float64, len(m.slope)), e0: make([]float64, len(m.slope)), share: share[set], curvature: &m.implicit}
		for i, u := range m.slope {
			part.omega[i], part.e0[i] = share[set]/n, share[set]/n*u
			if m.curvature != nil {
				part.omega[i] *= m.curvature[i]
			}
		}
		p.parts = append(p.parts, part)
	}
	for i, j := range s.columns {
		p.ridge[i] = w.Rho
		if j != design.Ones {
			f := terms.weight(j)
			p.ridge[i] += f * w.Penalties[1]
			p.w[i] = f * w.Penalties[0]
		}
		if w.Rho > 0 {
			p.linear[i] = w.Rho * s.centre(w, j)
		}
	}
	p.prepare()
}

// centre is that of a position's variable.
func (s *jointSolver) centre(w *lower.JointWeights, j int) float64 {
	if j == design.Ones {
		return w.Centre[1][0]
	}
	return w.Centre[0][j]
}

// modelled is the loss of a set by its model.
func (s *jointSolver) modelled(k int, b []float64) float64 {
	m := &s.models[k]
	if !s.explicit() {
		sum, d := 0.0, s.moved(k, b)
		for i, v := range d {
			sum += v * (m.bend(i)*v/2 - m.slope[i])
		}
		return m.at + sum/float64(len(d))
	}
	sum := m.value
	for i, row := range m.gram {
		if b[i] != 0 {
			sum += b[i] * (dense.Dot(row, b)/2 - m.linear[i])
		}
	}
	return sum
}

// moved are the predictions at b less those at a.
func (s *jointSolver) moved(k int, b []float64) []float64 {
	d := slices.Clone(b)
	floats.Sub(d, s.a)
	return s.predictions(k, d)
}

// bend is the curvature of the loss of a row.
func (m *jointModel) bend(i int) float64 {
	if m.curvature == nil {
		return 1
	}
	return m.curvature[i]
}

// penalties are those of the last solution.
func (s *jointSolver) penalties() []float64 {
	one, two, terms := 0.0, 0.0, s.terms()
	for i, j := range s.columns {
		if j != design.Ones {
			f := terms.weight(j)
			one += f * math.Abs(s.b[i])
			two += f * s.b[i] * s.b[i] / 2
		}
	}
	return []float64{one, two}
}

// objective is F at the last solution, where the functions have some values.
func (s *jointSolver) objective(w *lower.JointWeights, v lower.Values) float64 {
	sum := w.Validation*v.Validation + w.Train*v.Train + floats.Dot(w.Penalties, v.Penalties)
	if w.Rho > 0 {
		square := 0.0
		for j, d := range w.Centre[0] {
			if i := s.at[j]; i >= 0 {
				d -= s.b[i]
			}
			square += d * d
		}
		if s.intercept {
			d := w.Centre[1][0] - s.b[0]
			square += d * d
		}
		sum += w.Rho / 2 * square
	}
	return sum
}

// curvature is -F”: with the gradients J of l and the penalties on what is free to move, J'A^-1 J.
func (s *jointSolver) curvature(w *lower.JointWeights) [][]float64 {
	free := s.problem.free
	if s.bare {
		free = s.without.free
	}
	var j, solved [3][]float64
	j[0] = s.gradient(free)
	terms := s.terms()
	for _, i := range free {
		one, two := 0.0, 0.0
		if k := s.columns[i]; k != design.Ones {
			f := terms.weight(k)
			one, two = f*sign(s.b[i]), f*s.b[i]
		}
		j[1], j[2] = append(j[1], one), append(j[2], two)
	}
	out := make([][]float64, 3)
	for r := range j {
		out[r] = make([]float64, 3)
	}
	if len(free) == 0 {
		return out
	}
	switch {
	case !s.bare:
		for r := range j {
			solved[r] = slices.Clone(j[r])
			s.problem.factor.Solve(solved[r])
		}
	case s.without.precondition():
		for r := range j {
			if r == 0 && w.Rho == 0 && w.Validation == 0 { // the gradients of all terms add up to zero
				continue
			}
			solved[r] = s.without.conjugate(j[r], curvatureAccuracy)
		}
		if solved[0] == nil {
			solved[0] = make([]float64, len(free))
			for r, m := range w.Penalties {
				floats.AddScaled(solved[0], -m/w.Train, solved[1+r])
			}
		}
	default:
		return out // the context ended
	}
	for r := range out {
		for c := range r + 1 {
			out[r][c] = floats.Dot(j[r], solved[c])
			out[c][r] = out[r][c]
		}
	}
	return out
}

// gradient is that of the modelled training loss at some positions.
func (s *jointSolver) gradient(at []int) (g []float64) {
	m := &s.models[training]
	if s.explicit() {
		for _, i := range at {
			g = append(g, floats.Dot(m.gram[i], s.b)-m.linear[i])
		}
		return g
	}
	d := s.moved(training, s.b)
	for i, v := range d {
		d[i] = (m.bend(i)*v - m.slope[i]) / float64(len(d))
	}
	for _, i := range at {
		g = append(g, s.correlation(training, s.columns[i], d))
	}
	return g
}

func sign(v float64) float64 { return math.Copysign(1, v) }

// X implements [lower.JointSolver].
func (s *jointSolver) X() [][]float64 {
	x := [][]float64{make([]float64, len(s.at))}
	if s.intercept {
		x = append(x, []float64{s.b[0]})
	}
	for i, j := range s.columns {
		if j != design.Ones {
			x[0][j] = s.b[i]
		}
	}
	return x
}

// Check implements [lower.JointSolver]. With rho > 0 the objective is strongly convex, so that its least subgradient e at the solution bounds the gap:
// e_j^2 / (2 (rho + f_j m_2)) in a coefficient, e_0^2 / (2 rho) in the intercept. Else the bound is that of the dual problem.
func (s *jointSolver) Check(ctx context.Context, w *lower.JointWeights) (c lower.JointCheck, err error) {
	c.Gap = math.Inf(1)
	if s.ctx = ctx; ctx.Err() != nil {
		return c, nil
	}
	share := shares(w)
	descent := make([]float64, len(s.at)) // minus the gradient of all but |b|_1, in the features
	ascent := 0.0                         // that in the intercept
	var losses [2]float64
	for k, set := range s.sets {
		if share[k] == 0 && k == validating {
			continue
		}
		look := s.seen[k]
		if look.slopes == nil {
			look = s.look(k, s.b)
		}
		look.products = make([]float64, len(s.at))
		set.X.MulTransIn(s.ctx, look.products, look.slopes, s.threads)
		n := float64(len(set.Y))
		floats.AddScaled(descent, share[k]/n, look.products)
		ascent += share[k] / n * floats.Sum(look.slopes)
		losses[k] = look.loss
		s.seen[k] = look
	}
	c.Values = lower.Values{Validation: losses[validating], Train: losses[training], Penalties: s.penalties()}
	c.Objective = s.objective(w, c.Values)
	if ctx.Err() != nil {
		return c, nil
	}
	one, two := w.Penalties[0], w.Penalties[1]
	gap := 0.0
	var missing []int
	terms := s.terms()
	bounds := box{terms.lower, terms.upper}
	for j := range descent {
		v, f := 0.0, terms.weight(j)
		if i := s.at[j]; i >= 0 {
			v = s.b[i]
		}
		if w.Rho > 0 {
			descent[j] += w.Rho * (w.Centre[0][j] - v)
		}
		descent[j] -= f * two * v
		var e float64
		switch {
		case !bounds.free(j, v, f*one):
			e = math.Max(0, bounds.over(j, v, f*one, descent[j]))
		case v == 0: // without a penalty
			e = math.Abs(descent[j])
		default:
			e = math.Abs(descent[j] - f*one*sign(v))
		}
		if w.Rho > 0 {
			gap += e * e / (2 * (w.Rho + f*two))
		}
		if v == 0 && s.at[j] < 0 && e > missingShare*f*one {
			missing = append(missing, j)
		}
	}
	if w.Rho > 0 {
		if s.intercept {
			ascent += w.Rho * (w.Centre[1][0] - s.b[0])
			gap += ascent * ascent / (2 * w.Rho)
		}
	} else {
		gap = math.Max(0, c.Objective-w.Train*s.bound(ctx, one/w.Train, two/w.Train))
	}
	c.Gap = gap
	if c.Grew = len(missing) > 0; c.Grew {
		slices.SortFunc(missing, func(i, j int) int {
			return cmp.Or(cmp.Compare(math.Abs(descent[j]), math.Abs(descent[i])), i-j)
		})
		missing = missing[:min(len(missing), max(newFeatures, len(s.columns)))]
		slices.Sort(missing)
		s.take(missing)
	}
	return c, nil
}

// missingShare of the weight is what a feature's correlation has to be above it to be missing.
const missingShare = 1e-9

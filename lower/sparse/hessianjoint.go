package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// HessianJoint is a [Multinomial] or a [Cox] on training and validation rows at once, as subproblems of VF-iDCA have it, see [Joint]: its points are the
// coefficients and, if there are any, the intercepts, which add up to 0.
//
// # Method
//
// That of [Joint], with the whole second derivatives of both losses over a working set of entries as its models.
type HessianJoint struct {
	sets      [2]rowSet
	p, k      int // features, and coefficients of each
	intercept bool
	terms     terms
}

// rowSet are the rows of a set, with their loss.
type rowSet interface {
	loss(x [][]float64) float64
	// look is the loss at a point, and its derivatives.
	look(x [][]float64) looked
	// bound is a lower bound of the loss with penalties of these weights, from a point.
	bound(x [][]float64, w1, w2 float64) float64
}

// looked is a point of a loss.
type looked interface {
	value() float64
	coefficient(e entry) float64
	// descent is minus the derivative in an entry.
	descent(e entry) float64
	second(ctx context.Context, set []entry) []float64
}

// Shape is that of a point.
func (g *HessianJoint) Shape() []int {
	if g.intercept {
		return []int{g.p * g.k, g.k}
	}
	return []int{g.p * g.k}
}

// Validation is the loss of a point over the validation rows.
func (g *HessianJoint) Validation(x [][]float64) float64 { return g.sets[validating].loss(x) }

// Values are the losses, sum_jk f_j |b_jk| and 1/2 sum_jk f_j b_jk^2.
func (g *HessianJoint) Values(x [][]float64) lower.Values {
	return lower.Values{Validation: g.sets[validating].loss(x), Train: g.sets[training].loss(x), Penalties: g.penaltiesOf(x[0])}
}

// penaltiesOf are those of coefficients.
func (g *HessianJoint) penaltiesOf(b []float64) []float64 {
	one, two := 0.0, 0.0
	for e, v := range b {
		f := g.terms.weight(e / g.k)
		one += f * math.Abs(v)
		two += f * v * v / 2
	}
	return []float64{one, two}
}

// hessianSolver implements [lower.JointSolver].
type hessianSolver struct {
	*HessianJoint
	b, b0   []float64
	set     []entry
	in      []bool // entries of features in the set
	models  [2]looked
	second  [2][]float64 // of the models over the set; nil where they are not known
	moved   []float64    // of the set, from where the models are to the last solution
	problem quadratic
}

// Joint implements [lower.Joint].
func (g *HessianJoint) Joint() lower.JointSolver {
	size := g.p * g.k
	s := &hessianSolver{HessianJoint: g, b: make([]float64, size), b0: make([]float64, g.k), in: make([]bool, size)}
	for e := range s.in {
		lo, hi := g.terms.room(e / g.k)
		s.in[e] = lo < hi && (size <= wholeFeatures || g.terms.always(e/g.k))
	}
	s.arrange()
	return s
}

// Quadratic implements [lower.JointSolver].
func (s *hessianSolver) Quadratic() bool { return false }

// arrange makes the set of what is in it.
func (s *hessianSolver) arrange() {
	s.set, s.second = nil, [2][]float64{}
	for k := range s.k {
		if s.intercept {
			s.set = append(s.set, entry{design.Ones, k})
		}
		for j := range s.p {
			if s.in[j*s.k+k] {
				s.set = append(s.set, entry{j, k})
			}
		}
	}
}

// at points to an entry of the last solution.
func (s *hessianSolver) at(e entry) *float64 {
	if e.feature == design.Ones {
		return &s.b0[e.class]
	}
	return &s.b[e.feature*s.k+e.class]
}

// Model implements [lower.JointSolver].
func (s *hessianSolver) Model(_ context.Context, x [][]float64) error {
	if x != nil {
		if len(x) != len(s.Shape()) || len(x[0]) != len(s.b) {
			return fmt.Errorf("sparse: a point of another shape")
		}
		copy(s.b, x[0])
		if len(x) > 1 {
			copy(s.b0, x[1])
		}
		grew := false
		for e, v := range s.b {
			if v != 0 && !s.in[e] {
				s.in[e], grew = true, true
			}
		}
		if grew {
			s.arrange()
		}
	}
	s.models, s.second = [2]looked{}, [2][]float64{}
	return nil
}

// ready makes the model of a set of rows.
func (s *hessianSolver) ready(ctx context.Context, k int) {
	if s.models[k] == nil {
		s.models[k] = s.sets[k].look(s.X())
	}
	if s.second[k] == nil {
		s.second[k] = s.models[k].second(ctx, s.set)
	}
}

// Solve implements [lower.JointSolver].
func (s *hessianSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
	if len(w.Penalties) != 2 {
		return nil, fmt.Errorf("sparse: %d weights of penalties, expected 2", len(w.Penalties))
	}
	share := shares(w)
	for k := range s.sets {
		if share[k] > 0 || k == training {
			s.ready(ctx, k)
		}
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	centre := s.models[training]
	old, b := make([]float64, len(s.set)), make([]float64, len(s.set))
	for i, e := range s.set {
		old[i], b[i] = centre.coefficient(e), *s.at(e)
	}
	s.assemble(w, old)
	if !s.problem.solve(ctx, b) {
		return nil, nil
	}
	s.moved = make([]float64, len(b))
	for i, e := range s.set {
		*s.at(e) = b[i]
		s.moved[i] = b[i] - old[i]
	}
	pt := &lower.JointPoint{Values: lower.Values{Train: s.modelled(training), Penalties: s.penalties()}}
	if w.Validation > 0 {
		pt.Validation = s.modelled(validating)
	}
	pt.Objective = s.objective(w, pt.Values)
	pt.Curvature = s.curvature(w)
	return pt, nil
}

// assemble makes the quadratic problem at some weights around the coefficients old.
func (s *hessianSolver) assemble(w *lower.JointWeights, old []float64) {
	size, q, share := len(s.set), &s.problem, shares(w)
	q.resize(size)
	q.box = s.terms.of(featuresOf(s.set))
	clear(q.a)
	for k, second := range s.second {
		if share[k] > 0 {
			floats.AddScaled(q.a, share[k], second)
		}
	}
	largest := 0.0
	for i := range size {
		largest = math.Max(largest, q.a[i*size+i])
	}
	for i, e := range s.set {
		row := q.a[i*size : (i+1)*size]
		row[i] += multinomialRidge * (math.Abs(row[i]) + multinomialRidge*largest)
		q.q[i], q.w[i] = floats.Dot(row, old), 0
		for k, m := range s.models {
			if share[k] > 0 {
				q.q[i] += share[k] * m.descent(e)
			}
		}
		row[i] += w.Rho
		if w.Rho > 0 {
			q.q[i] += w.Rho * s.centre(w, e)
		}
		if e.feature != design.Ones {
			f := s.terms.weight(e.feature)
			row[i] += f * w.Penalties[1]
			q.w[i] = f * w.Penalties[0]
			continue
		}
		for l, other := range s.set {
			if other.feature == design.Ones { // the intercepts add up to 0
				row[l] += largest / float64(size)
			}
		}
	}
}

// centre is that of an entry.
func (s *hessianSolver) centre(w *lower.JointWeights, e entry) float64 {
	if e.feature == design.Ones {
		return w.Centre[1][e.class]
	}
	return w.Centre[0][e.feature*s.k+e.class]
}

// modelled is a loss by its model at the last solution.
func (s *hessianSolver) modelled(k int) float64 {
	m, size := s.models[k], len(s.set)
	sum := m.value()
	for i, d := range s.moved {
		if d != 0 {
			sum += d * (floats.Dot(s.second[k][i*size:(i+1)*size], s.moved)/2 - m.descent(s.set[i]))
		}
	}
	return sum
}

func (s *hessianSolver) penalties() []float64 { return s.penaltiesOf(s.b) }

// objective is F at the last solution, where the functions have some values.
func (s *hessianSolver) objective(w *lower.JointWeights, v lower.Values) float64 {
	sum := w.Validation*v.Validation + w.Train*v.Train + floats.Dot(w.Penalties, v.Penalties)
	if w.Rho > 0 {
		for k, x := range s.X() {
			d := floats.Distance(x, w.Centre[k], 2)
			sum += w.Rho / 2 * d * d
		}
	}
	return sum
}

// curvature is that of [jointSolver.curvature].
func (s *hessianSolver) curvature(w *lower.JointWeights) [][]float64 {
	var j, solved [3][]float64
	size := len(s.set)
	for _, i := range s.problem.free {
		e := s.set[i]
		one, two := 0.0, 0.0
		if e.feature != design.Ones {
			v, f := *s.at(e), s.terms.weight(e.feature)
			one, two = f*sign(v), f*v
		}
		gradient := floats.Dot(s.second[training][i*size:(i+1)*size], s.moved) - s.models[training].descent(e)
		j[0], j[1], j[2] = append(j[0], gradient), append(j[1], one), append(j[2], two)
	}
	out := [][]float64{make([]float64, 3), make([]float64, 3), make([]float64, 3)}
	if len(s.problem.free) == 0 {
		return out
	}
	for r := range j {
		solved[r] = slices.Clone(j[r])
		s.problem.factor.Solve(solved[r])
	}
	for r := range out {
		for c := range r + 1 {
			out[r][c] = floats.Dot(j[r], solved[c])
			out[c][r] = out[r][c]
		}
	}
	return out
}

// X implements [lower.JointSolver].
func (s *hessianSolver) X() [][]float64 {
	x := [][]float64{slices.Clone(s.b)}
	if s.intercept {
		x = append(x, slices.Clone(s.b0))
	}
	return x
}

// Check implements [lower.JointSolver], as [jointSolver.Check] does.
func (s *hessianSolver) Check(ctx context.Context, w *lower.JointWeights) (c lower.JointCheck, err error) {
	c.Gap = math.Inf(1)
	if ctx.Err() != nil {
		return c, nil
	}
	share := shares(w)
	descent, ascent := make([]float64, len(s.b)), make([]float64, len(s.b0))
	var losses [2]float64
	for k, set := range s.sets {
		if share[k] == 0 && k == validating {
			continue
		}
		look := set.look(s.X())
		losses[k] = look.value()
		for e := range descent {
			descent[e] += share[k] * look.descent(entry{e / s.k, e % s.k})
		}
		for m := range ascent {
			if s.intercept {
				ascent[m] += share[k] * look.descent(entry{design.Ones, m})
			}
		}
	}
	c.Values = lower.Values{Validation: losses[validating], Train: losses[training], Penalties: s.penalties()}
	c.Objective = s.objective(w, c.Values)
	one, two, terms := w.Penalties[0], w.Penalties[1], s.terms
	gap := 0.0
	var missing []ranked
	for e, v := range s.b {
		j := e / s.k
		f := terms.weight(j)
		if w.Rho > 0 {
			descent[e] += w.Rho * (w.Centre[0][e] - v)
		}
		off := terms.off(j, v, f*one, descent[e]-f*two*v)
		if w.Rho > 0 {
			gap += off * off / (2 * (w.Rho + f*two))
		}
		if v == 0 && !s.in[e] && off > missingShare*f*one {
			missing = append(missing, ranked{off, e})
		}
	}
	if w.Rho > 0 {
		for m, v := range ascent {
			if s.intercept {
				v += w.Rho * (w.Centre[1][m] - s.b0[m])
				gap += v * v / (2 * w.Rho)
			}
		}
	} else {
		gap = math.Max(0, c.Objective-w.Train*s.sets[training].bound(s.X(), one/w.Train, two/w.Train))
	}
	c.Gap = gap
	if c.Grew = len(missing) > 0; c.Grew {
		s.grow(missing)
	}
	return c, nil
}

// grow takes in the entries that want to move most.
func (s *hessianSolver) grow(missing []ranked) {
	for _, r := range foremost(missing, max(newFeatures, len(s.set))) {
		s.in[r.j] = true
	}
	s.arrange()
}

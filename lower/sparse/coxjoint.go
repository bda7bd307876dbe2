package sparse

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/survival"
)

// CoxJoint is a [Cox] on training and validation rows at once, as subproblems of VF-iDCA have it, see [Joint]: its points are the coefficients. The validation rows are compared
// among themselves.
//
// # Method
//
// That of [Joint], with the whole second derivatives of both half deviances over a working set of features as its models.
type CoxJoint struct{ sets [2]*Cox }

// Joint adds validation rows, whose loss is their half deviance divided by n, with their weights as they are.
func (g *Cox) Joint(val Sample, ties survival.Ties, n float64) (*CoxJoint, error) {
	m, err := rowsOf(val, "times")
	if err != nil {
		return nil, err
	}
	if err := survival.Check(val.Y); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	if p := val.X.Columns(); p != g.x.Columns() || !(n > 0) {
		return nil, fmt.Errorf("sparse: %d validation rows of %d features, shared out to %g, expected %d features and a positive number", m, p, n, g.x.Columns())
	}
	return &CoxJoint{[2]*Cox{{x: val.X, risk: survival.Weighted(val.Y, val.Weights, ties), offset: val.Offset, n: n, terms: g.terms}, g}}, nil
}

// Shape is that of a point.
func (g *CoxJoint) Shape() []int { return []int{g.sets[training].x.Columns()} }

// Values are the losses and the penalties.
func (g *CoxJoint) Values(x [][]float64) lower.Values {
	one, two := g.sets[training].terms.penalties(x[0])
	return lower.Values{Validation: g.sets[validating].at(x[0]).loss, Train: g.sets[training].at(x[0]).loss, Penalties: []float64{one, two}}
}

// at is a solve at some coefficients.
func (g *Cox) at(b []float64) *coxSolve { return g.begin(0, 0, &CoxSolution{B: b}) }

// coxJointSolver implements [lower.JointSolver].
type coxJointSolver struct {
	*CoxJoint
	b       []float64
	set     []int
	in      []bool // features in the set
	models  [2]*coxSolve
	second  [2][]float64 // of the models over the set; nil where they are not known
	moved   []float64    // of the set, from where the models are to the last solution
	problem quadratic
}

// Joint implements [lower.Joint].
func (g *CoxJoint) Joint() lower.JointSolver {
	terms, p := g.sets[training].terms, g.Shape()[0]
	s := &coxJointSolver{CoxJoint: g, b: make([]float64, p), in: make([]bool, p)}
	for j := range s.in {
		lo, hi := terms.room(j)
		s.in[j] = lo < hi && (p <= wholeFeatures || terms.always(j))
	}
	s.arrange()
	return s
}

// Quadratic implements [lower.JointSolver].
func (s *coxJointSolver) Quadratic() bool { return false }

// arrange makes the set of what is in it.
func (s *coxJointSolver) arrange() {
	s.set, s.second = nil, [2][]float64{}
	for j, in := range s.in {
		if in {
			s.set = append(s.set, j)
		}
	}
}

// Model implements [lower.JointSolver].
func (s *coxJointSolver) Model(_ context.Context, x [][]float64) error {
	if x != nil {
		if len(x) != 1 || len(x[0]) != len(s.b) {
			return fmt.Errorf("sparse: a point of another shape")
		}
		copy(s.b, x[0])
		grew := false
		for j, v := range s.b {
			if v != 0 && !s.in[j] {
				s.in[j], grew = true, true
			}
		}
		if grew {
			s.arrange()
		}
	}
	s.models, s.second = [2]*coxSolve{}, [2][]float64{}
	return nil
}

// ready makes the model of a set of rows.
func (s *coxJointSolver) ready(ctx context.Context, k int) {
	if s.models[k] == nil {
		s.models[k] = s.sets[k].at(s.b)
		s.models[k].look()
	}
	if s.second[k] == nil {
		m := s.models[k]
		s.second[k] = m.curvatures(ctx, m.point, m.a, s.set)
	}
}

// Solve implements [lower.JointSolver].
func (s *coxJointSolver) Solve(ctx context.Context, w *lower.JointWeights) (*lower.JointPoint, error) {
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
	old, b := pick(s.models[training].b, s.set), pick(s.b, s.set)
	s.assemble(w, old)
	if !s.problem.solve(ctx, b) {
		return nil, nil
	}
	s.moved = make([]float64, len(b))
	for i, j := range s.set {
		s.b[j] = b[i]
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
func (s *coxJointSolver) assemble(w *lower.JointWeights, old []float64) {
	size, q, share, terms := len(s.set), &s.problem, shares(w), s.sets[training].terms
	q.resize(size)
	q.box = terms.of(s.set)
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
	for i, j := range s.set {
		row, f := q.a[i*size:(i+1)*size], terms.weight(j)
		row[i] += coxRidge * (math.Abs(row[i]) + coxRidge*largest)
		q.q[i], q.w[i] = floats.Dot(row, old), f*w.Penalties[0]
		for k, m := range s.models {
			if share[k] > 0 {
				q.q[i] += share[k] * m.c[j]
			}
		}
		row[i] += w.Rho + f*w.Penalties[1]
		if w.Rho > 0 {
			q.q[i] += w.Rho * w.Centre[0][j]
		}
	}
}

// modelled is a loss by its model at the last solution.
func (s *coxJointSolver) modelled(k int) float64 {
	m, size := s.models[k], len(s.set)
	sum := m.loss
	for i, d := range s.moved {
		if d != 0 {
			sum += d * (floats.Dot(s.second[k][i*size:(i+1)*size], s.moved)/2 - m.c[s.set[i]])
		}
	}
	return sum
}

func (s *coxJointSolver) penalties() []float64 {
	one, two := s.sets[training].terms.penalties(s.b)
	return []float64{one, two}
}

// objective is F at the last solution, where the functions have some values.
func (s *coxJointSolver) objective(w *lower.JointWeights, v lower.Values) float64 {
	sum := w.Validation*v.Validation + w.Train*v.Train + floats.Dot(w.Penalties, v.Penalties)
	if w.Rho > 0 {
		d := floats.Distance(s.b, w.Centre[0], 2)
		sum += w.Rho / 2 * d * d
	}
	return sum
}

// curvature is that of [jointSolver.curvature].
func (s *coxJointSolver) curvature(w *lower.JointWeights) [][]float64 {
	var j, solved [3][]float64
	size := len(s.set)
	for _, i := range s.problem.free {
		k := s.set[i]
		f := s.sets[training].terms.weight(k)
		j[0] = append(j[0], floats.Dot(s.second[training][i*size:(i+1)*size], s.moved)-s.models[training].c[k])
		j[1], j[2] = append(j[1], f*sign(s.b[k])), append(j[2], f*s.b[k])
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
func (s *coxJointSolver) X() [][]float64 { return [][]float64{slices.Clone(s.b)} }

// Check implements [lower.JointSolver], as [jointSolver.Check] does.
func (s *coxJointSolver) Check(ctx context.Context, w *lower.JointWeights) (c lower.JointCheck, err error) {
	c.Gap = math.Inf(1)
	if ctx.Err() != nil {
		return c, nil
	}
	share := shares(w)
	descent := make([]float64, len(s.b))
	var losses [2]float64
	for k, set := range s.sets {
		if share[k] == 0 && k == validating {
			continue
		}
		look := set.at(s.b)
		look.look()
		losses[k] = look.loss
		floats.AddScaled(descent, share[k], look.c)
	}
	c.Values = lower.Values{Validation: losses[validating], Train: losses[training], Penalties: s.penalties()}
	c.Objective = s.objective(w, c.Values)
	one, two, terms := w.Penalties[0], w.Penalties[1], s.sets[training].terms
	gap := 0.0
	var missing []ranked
	for j, v := range s.b {
		f := terms.weight(j)
		if w.Rho > 0 {
			descent[j] += w.Rho * (w.Centre[0][j] - v)
		}
		e := terms.off(j, v, f*one, descent[j]-f*two*v)
		if w.Rho > 0 {
			gap += e * e / (2 * (w.Rho + f*two))
		}
		if v == 0 && !s.in[j] && e > missingShare*f*one {
			missing = append(missing, ranked{-e, j})
		}
	}
	if w.Rho == 0 {
		at := s.sets[training].begin(one/w.Train, two/w.Train, &CoxSolution{B: s.b})
		at.look()
		gap = math.Max(0, c.Objective-w.Train*at.dual())
	}
	c.Gap = gap
	if c.Grew = len(missing) > 0; c.Grew {
		s.grow(missing)
	}
	return c, nil
}

// grow takes in the features that want to move most.
func (s *coxJointSolver) grow(missing []ranked) {
	slices.SortFunc(missing, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.distance, b.distance), a.j-b.j) })
	for _, r := range missing[:min(len(missing), max(newFeatures, len(s.set)))] {
		s.in[r.j] = true
	}
	s.arrange()
}

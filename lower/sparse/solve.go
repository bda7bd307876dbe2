package sparse

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/glm"
)

// Solution is a point, and how near to the optimum it is proven to be.
type Solution struct {
	Status lower.Status
	// B are the coefficients, those of a feature after each other, and B0 the constants of the classes.
	B, B0 []float64
	// Support are the indices of the coefficients that are not zero, rising.
	Support []int
	// Objective is the value at B, Gap bounds its distance from the optimum.
	Objective, Gap float64

	path *glm.Path // that found it
	loss float64   // the objective without its penalties, of several classes
}

// x is the point, with constants or without.
func (s *Solution) x(constants bool) [][]float64 {
	if constants {
		return [][]float64{s.B, s.B0}
	}
	return [][]float64{s.B}
}

// defaultTol is the tolerance that 0 stands for. Solves of squares are to mostTol at least, which takes a Newton step
// more: derivatives want the support.
const defaultTol, mostTol = 1e-8, 1e-9

// check says what is wrong with the tolerance, which may be the default, and the start for p coefficients.
func check(tol *float64, start *Solution, p int) error {
	switch {
	case !(*tol >= 0) || math.IsInf(*tol, 1):
		return fmt.Errorf("sparse: tolerance %g, expected a finite number that is not negative", *tol)
	case start != nil && len(start.B) != p:
		return fmt.Errorf("sparse: the start has %d coefficients, expected %d", len(start.B), p)
	case *tol == 0:
		*tol = defaultTol
	}
	return nil
}

const (
	// exhaustedGap is a relative gap below which rounding may keep it from falling.
	exhaustedGap = 1e-8
	// rounded is a share of the objective that is rounding, and lastPlaces one of the loss without coefficients.
	rounded, lastPlaces = 1e-13, 1e-15
	// fell is the share of the objective by which it falls where a fit gets on, whatever the gap.
	fell = 1e-6
	// fitRounds bounds the models, and fitPatience those in a row that leave the gap as it is.
	fitRounds, fitPatience = 100, 4
)

// Solve returns a solution at the weights w1 and w2, one of them positive, to a gap of tol relative to that at b = 0,
// from the start, which may be nil. The error is for input without meaning.
func (g *Fit) Solve(ctx context.Context, w1, w2, tol float64, start *Solution) (*Solution, error) {
	w, err := g.Weights(w1, w2)
	if err != nil {
		return nil, err
	}
	if g.table != nil {
		return g.SolveAt(ctx, w, tol, start)
	}
	if err := check(&tol, start, g.p*g.k); err != nil {
		return nil, err
	}
	s, err := g.begin(start)
	if err != nil {
		return nil, err
	}
	return s.fit(ctx, &lower.JointWeights{Train: 1, Penalties: []float64{w1, w2}}, tol*g.scale)
}

// SolveAt is Solve for other losses than that of classes, at weights of package glm.
func (g *Fit) SolveAt(ctx context.Context, w *glm.Weights, tol float64, start *Solution) (*Solution, error) {
	if err := check(&tol, start, g.p); err != nil {
		return nil, err
	}
	return g.table.solve(ctx, g.null, w, tol*g.scale/g.null, start)
}

// Weights are those of package glm for w1 and w2.
func (g *Fit) Weights(w1, w2 float64) (*glm.Weights, error) {
	if !(w1 >= 0) || !(w2 >= 0) || !(w1+w2 > 0) || math.IsInf(w1+w2, 1) {
		return nil, fmt.Errorf("sparse: weights %g and %g, expected finite numbers, not negative, one of them positive", w1, w2)
	}
	w := &glm.Weights{Norm: make([]float64, g.p), L2: make([]float64, g.p)}
	for j := range g.p {
		f := g.terms.weight(j)
		w.Norm[j], w.L2[j] = f*w1, f*w2
	}
	return w, nil
}

// At is the objective at a solution for other weights, with other weights.
func (g *Fit) At(s *Solution, w1, w2 float64) float64 {
	return s.loss + floats.Dot([]float64{w1, w2}, g.penalties(s.B))
}

// begin is a solver at a start, nil for the solution without penalised features.
func (g *Fit) begin(start *Solution) (*solver, error) {
	s, at := g.solver(), g.start
	if start != nil {
		at = start.x(g.intercept)
	}
	return s, s.move(at)
}

// fit solves at fixed weights of the training rows to a gap of tol, absolute, from where the solver is. Where it comes
// to no end, what it has come to is no solution.
func (s *solver) fit(ctx context.Context, w *lower.JointWeights, tol float64) (*Solution, error) {
	out := &Solution{Status: lower.EpochLimit, Gap: math.Inf(1)}
	least, lowest, idle, bound := math.Inf(1), math.Inf(1), 0, math.Inf(-1)
	for range fitRounds {
		c, err := s.Check(ctx, w)
		if err != nil {
			return nil, err
		}
		if math.IsInf(c.Gap, 1) {
			break
		}
		if out.Objective, out.Gap = c.Objective, c.Gap; !c.Grew { // bounds of all rounds hold
			bound = math.Max(bound, c.Objective-c.Gap)
			out.Gap = math.Max(c.Objective-bound, 0)
		}
		idle++
		if c.Gap < least/2 {
			least, idle = c.Gap, 0
		}
		if c.Objective < lowest*(1-fell) {
			lowest, idle = c.Objective, 0
		}
		still := idle > fitPatience && !c.Grew
		switch {
		case c.Gap <= tol:
			out.Status = lower.Optimal
		case !still && s.step(ctx, w, c, idle):
			continue
		case ctx.Err() != nil:
			out.Status = lower.Cancelled
		case c.Gap <= exhaustedGap*s.scale:
			out.Status = lower.Exhausted
		default:
			out.Status = lower.Stalled
		}
		return s.fill(out), nil
	}
	if ctx.Err() != nil {
		out.Status = lower.Cancelled
	}
	return s.fill(out), nil
}

// step goes to the solution of the models at the last one, which was checked, as far as its objective falls. It says
// whether there is one.
func (s *solver) step(ctx context.Context, w *lower.JointWeights, c lower.JointCheck, idle int) bool {
	if fell, whole := s.truncated(ctx, w, c.Gap/s.scale, idle); fell || !whole {
		return fell
	}
	if err := s.Model(ctx, nil); err != nil || !s.minimise(ctx, w) {
		return false
	}
	s.descend(w, c.Objective)
	return true
}

// fill puts the last point into a solution.
func (s *solver) fill(out *Solution) *Solution {
	at := s.seen[training]
	if at == nil {
		at = s.lookAt(training, s.b)
	}
	x := s.X()
	out.B, out.B0, out.loss = x[0], make([]float64, s.k), at.value
	if s.intercept {
		copy(out.B0, x[1])
		centre(out.B0)
	}
	for j := 0; s.k > 1 && j < s.p; j++ { // what adds the same to all classes changes nothing
		if lo, hi := s.terms.room(j); s.terms.always(j) && math.IsInf(lo, -1) && math.IsInf(hi, 1) {
			centre(out.B[j*s.k : (j+1)*s.k])
		}
	}
	for e, v := range out.B {
		if v != 0 {
			out.Support = append(out.Support, e)
		}
	}
	return out
}

// centre brings the sum of numbers to 0.
func centre(v []float64) { floats.AddConst(-floats.Sum(v)/float64(len(v)), v) }

// descend shortens the step from a to b until the objective is no larger than at a.
func (s *solver) descend(w *lower.JointWeights, merit float64) {
	for try := 0; ; try++ {
		at := s.lookAt(training, s.b)
		value := s.objective(w, lower.Values{Train: at.value, Penalties: s.penaltiesAt()})
		if value <= merit+rounded*math.Abs(merit)+lastPlaces*s.null || try == 50 {
			s.seen[training] = at
			return
		}
		for i, v := range s.a {
			s.b[i] = (v + s.b[i]) / 2
		}
	}
}

package completion

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
)

const (
	// jointSteps bounds the steps of Newton's method, jointCG those of conjugate gradients in each.
	jointSteps, jointCG = 60, 400
	// forcing bounds the accuracy of the systems of Newton's method, derivatives is that of those for derivatives in the
	// weights, groupDerivatives in those of groups, of which there are many: the second derivatives of F, energies of the
	// solutions, are known to the square of it.
	forcing, derivatives, groupDerivatives = 0.1, 1e-2, 0.1
	// coarsest is the least accuracy of a system, at the end.
	coarsest = 0.5
	// jointTol is the share of the training loss at zero, squared, that the last step of Newton's method promises.
	jointTol = 3e-8
	// descended is the tolerance to which Newton's method goes on at new weights.
	descended = 1e-6
	// meetGap of the loss at zero, or that of the weights if it is less, is the gap to which columns are found at new
	// points.
	meetGap = 1e-3
	// meetShare of that gap is left where columns are found, and at checkShare of it, more than that, a check looks for no
	// others.
	meetShare, checkShare = 0.5, 0.75
	// checkTries bounds how often a point that is exact enough is made more exact for the gap's sake.
	checkTries = 2
	// jointShare of the tolerance of a solve is what the last step may promise.
	jointShare = 1
	// shiftFall is the ratio of the shifts of two steps, shiftGrowth that of a shift and what was too small.
	shiftFall, shiftGrowth = 0.25, 2
	// steepShare of what the last step may promise is a steepness from which no step is taken.
	steepShare = 0.1
	// ample times the best step is how large new columns are: F is convex in the size of a column above a third of the
	// best G, and concave below.
	ample = 1.8
	// small is the share of the largest singular value of G below which one may be zero in the limit. It is where the norm
	// of the rest of T is below the weight by the share idle.
	small, idle = 1e-5, 1e-7
	// jointRounds bounds how often a penalised solve takes in columns.
	jointRounds = 200
)

// JointSolver solves a [Joint], each time from the solve before. It implements [bilevel.JointSolver].
type JointSolver struct {
	f   *factored
	met bool // the columns at the point are those of a solution
	k   int  // how many these were
}

// Joint implements [bilevel.Joint].
func (j *Joint) Joint() *JointSolver { return &JointSolver{f: newFactored(j)} }

// Model implements [bilevel.JointSolver].
func (s *JointSolver) Model(_ context.Context, x [][]float64) error {
	if x != nil {
		s.f.take(x)
		s.met = false
	}
	return nil
}

// X implements [bilevel.JointSolver].
func (s *JointSolver) X() [][]float64 { return s.f.point() }

// Quadratic implements [bilevel.JointSolver].
func (s *JointSolver) Quadratic() bool { return true }

// Solve implements [bilevel.JointSolver].
func (s *JointSolver) Solve(ctx context.Context, w *bilevel.JointWeights) (*bilevel.JointPoint, error) {
	f := s.f
	f.end.Begin(ctx, 0)
	defer f.end.End()
	f.weigh(w)
	// The columns, to a gap that Newton's method on the weights is not much off by. Without any, the nuclear norm does not
	// change with its weight, so that this is looked at each time.
	look := (!s.met || f.k == 0) && w.Tol > 0
	if look {
		f.minimize(math.Min(meetGap*f.j.unit, meetShare*w.Gap))
	}
	f.descend(math.Max(f.least(w), descended), false)
	pt := &bilevel.JointPoint{Values: f.values(f.penalty()), Objective: f.objective()}
	if f.end.Look() {
		return nil, nil
	}
	if look {
		s.k = f.k
	}
	s.met = f.k >= s.k // those that are gone may be wanted at the next weights
	return pt, nil
}

// least is the tolerance of Newton's method at which the objective is known to that of the weights.
func (f *factored) least(w *bilevel.JointWeights) float64 {
	return math.Max(jointTol, math.Sqrt(jointShare*w.Tol/math.Max(f.j.unit, math.SmallestNonzeroFloat64)))
}

// values are the functions at the point, with this nuclear norm.
func (f *factored) values(nuclear float64) bilevel.Values {
	v := bilevel.Values{Validation: f.loss(validating), Train: f.loss(training), Penalties: []float64{nuclear}}
	for g := range f.j.members {
		v.Penalties = append(v.Penalties, f.size(g))
	}
	return v
}

// Curvature implements [bilevel.JointSolver]. It solves H t_i = g_i for the gradients g_i of what the weights multiply;
// -F” is g_i't_j.
func (s *JointSolver) Curvature(ctx context.Context, w *bilevel.JointWeights) [][]float64 {
	f := s.f
	f.end.Begin(ctx, 0)
	defer f.end.End()
	f.weigh(w)
	f.use()
	n := 2 + len(f.j.members)
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	gradients, tangents := make([]tangent, n), make([]tangent, n)
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
	f.shift = 0
	for i, g := range gradients {
		if g.all == nil || floats.Norm(g.all, 2) == 0 || f.rho == 0 && i == 0 && f.w[validating] == 0 {
			continue // without validation rows and centre only the ratios count, and the weight of the training rows stays
		}
		accuracy := derivatives
		if i > 1 {
			accuracy = groupDerivatives
		}
		if tangents[i] = f.conjugate(g, accuracy, jointCG); f.end.Look() {
			return nil
		}
	}
	for i := range n {
		for l := range i + 1 {
			if tangents[i].all == nil || tangents[l].all == nil {
				continue
			}
			v := (floats.Dot(gradients[i].all, tangents[l].all) + floats.Dot(gradients[l].all, tangents[i].all)) / 2
			out[i][l], out[l][i] = v, v
		}
	}
	return out
}

// Check implements [bilevel.JointSolver].
func (s *JointSolver) Check(ctx context.Context, w *bilevel.JointWeights) (c bilevel.JointPoint, err error) {
	f := s.f
	f.end.Begin(ctx, 0)
	defer f.end.End()
	f.weigh(w)
	f.descend(f.least(w), false)
	k := f.k
	wanted := checkShare * w.Gap
	c.Objective, c.Gap, c.Grew = f.certify(wanted)
	// the gradient has to be smaller
	for try, tol := 0, f.least(w); try < checkTries && !c.Grew && w.Tol > 0 && c.Gap > wanted; try++ {
		tol /= 10
		f.descend(tol, false)
		c.Objective, c.Gap, c.Grew = f.certify(wanted)
	}
	s.met = s.met && !c.Grew && k == f.k
	c.Values = f.values(f.penalty())
	if f.end.Look() {
		c.Gap = math.Inf(1)
	}
	return c, nil
}

// Work implements [bilevel.JointSolver].
func (s *JointSolver) Work() float64 { return 0 }

package machine

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// state is a point of a path and the sides of rows and features.
type state struct {
	w     []float64
	c     float64
	alpha []float64
	side  []int8 // of each row: below its kink -1, above 1, at it 0
	box   []int8 // of each feature: at its lower bound -1, at its upper bound 1, inside 0
	kinks kinks
}

func (s *state) clone() state {
	return state{w: slices.Clone(s.w), c: s.c, alpha: slices.Clone(s.alpha), side: slices.Clone(s.side),
		box: slices.Clone(s.box), kinks: s.kinks.clone()}
}

// path follows one path. At what is left of it, 1 at its begin and 0 at its end, the point is the solution of
//
//	minimize   sum_i u_i max(0, s_i - left shift_i) + lambda/2 |w|^2 - left lambda (pull'w) - left imbalance c
//	subject to |w_j| <= bound_j + left widen_j.
type path struct {
	g   *Problem
	ctx context.Context
	state
	lambda float64
	bound  []float64
	limits *box // lambda and bound

	left        float64
	pull, widen []float64
	shift       []float64
	imbalance   float64
	reach       []float64 // of rows that are not at their kink, see next
	push        []float64 // at the bounds, v_j / lambda - w_j + left pull_j
	dw, dpush   []float64
	dalpha      []float64 // over lambda, of the rows at their kinks
	dc          float64
	speed       float64 // |dw|
	wayW, wayC  float64 // the sums of t |dw| and t |dc| over the steps t since the begin
	v           []float64
	right, ones []float64
	exchanges   int
	sinceFactor int
	moved       *Solution // the start, where the first path is to begin with its w
	fromNothing bool      // the first path is to begin without a start
}

func newPath(ctx context.Context, g *Problem, lambda float64, bound []float64) *path {
	n, p := g.rows.n, g.rows.p
	s := &path{g: g, ctx: ctx, lambda: lambda, bound: bound, limits: &box{lambda, bound}}
	for _, v := range []*[]float64{&s.pull, &s.widen, &s.push, &s.dw, &s.dpush, &s.v} {
		*v = make([]float64, p)
	}
	s.shift, s.reach = make([]float64, n), make([]float64, n)
	return s
}

// from begins with a solution for other hyperparameters, from which the old bounds and the old lambda lead to ours.
// Where it is far from the lower bound of its multipliers, more than farStart of the value at w = 0, it begins from
// nothing.
func (s *path) from(m *Solution) {
	s.state = m.state.clone()
	cut := slices.Clone(s.w)
	s.limits.cut(cut, cut)
	if s.objective(cut, s.c)-s.g.Bound(m, s.lambda, s.bound) > farStart*s.g.scale {
		s.fresh()
	} else {
		s.moved = m
	}
}

// farStart was found with all exchanges counted: with 0.4 a search over bounds for each feature has half of those
// without such a limit, and others up to a fifth fewer; smaller limits cost more on grids.
const farStart = 0.4

// objective is the value at a point of the box.
func (s *path) objective(w []float64, c float64) float64 {
	return s.g.Loss(w, c) + s.lambda/2*floats.Dot(w, w)
}

const (
	// mostPaths bounds the paths of one solve: the first goes to the solution but for rounding, the others are short.
	mostPaths = 12
	// mostIdle bounds the exchanges in a row without any step, worn those after which the factor is made anew.
	mostIdle, worn = 300, 200
	// exhaustedGap is a relative gap below which rounding may keep it from falling.
	exhaustedGap = 1e-8
	// roundedRate is the share of the largest rate below which a rate is rounding.
	roundedRate = 1e-12
	// rounding is the share of its weight by which an alpha may change without leaving its bound.
	rounding = 1e-13
	// leastTied is the least distance from their kinks at which rows begin on the first path from a solution, and at which
	// those go on that leave their kinks without a step: where many are at their kinks at the same time, they would come
	// and go for long.
	leastTied = 1e-7
	// leastApart is the least distance from their kinks at which rows begin on a path from nothing, where w may be 0 and
	// many rows would be at their kinks; it is different for each row, so that they do not come to them at once. The same
	// share of what is to be pulled keeps features at their bounds, all of which may be there: with hundreds the path
	// would change one after the other without a step.
	leastApart = 0.1
)

// run follows paths until the gap is small.
func (s *path) run(ctx context.Context, tol float64, out *Solution) outcome.Stop {
	most := 20*(s.g.rows.n+s.g.rows.p) + 1000
	last := math.Inf(1)
	for pass := 0; ; pass++ {
		if pass > 0 || s.moved == nil {
			var gap float64
			s.multipliers()
			out.Objective, gap = s.gap()
			out.Gap = math.Max(0, gap)
			switch {
			case out.Gap <= tol*s.g.scale:
				return outcome.Converged
			case pass > 2 && out.Gap <= exhaustedGap*s.g.scale && out.Gap > last/2:
				return numerics.Exhausted
			case pass == mostPaths:
				return outcome.NumericalError
			}
			if pass > 0 {
				last = out.Gap
			}
		}
		if ctx.Err() != nil {
			out.Gap = math.Inf(1)
			return outcome.Cancelled
		}
		if pass == 0 && s.g.all != nil && s.jump(ctx, tol) {
			continue
		}
		if pass > 0 && s.sinceFactor > 0 || s.sinceFactor > worn {
			s.factor()
		}
		s.begin(pass == 0)
		if !s.walk(ctx, most) {
			out.Gap = math.Inf(1)
			if ctx.Err() != nil {
				return outcome.Cancelled
			}
			return outcome.NumericalError
		}
	}
}

// multipliers sets v.
func (s *path) multipliers() {
	clear(s.v)
	for i, a := range s.alpha {
		if a != 0 {
			s.g.rows.add(i, a, s.v)
		}
	}
}

// factor makes the factor of the rows at their kinks anew.
func (s *path) factor() {
	held := s.kinks.held
	s.kinks = kinks{}
	s.kinks.scale(s.g, s.box, held)
	for _, i := range held {
		if s.ctx.Err() != nil {
			break // the path ends before its next step
		}
		if !s.kinks.hold(s.g, s.box, i) {
			s.release(i)
		}
	}
	s.sinceFactor = 0
}

// release puts a row that cannot be held on the side that is nearer.
func (s *path) release(i int) {
	if u := s.g.rows.u[i]; 2*s.alpha[i] > u {
		s.side[i], s.alpha[i] = 1, u
	} else {
		s.side[i], s.alpha[i] = -1, 0
	}
}

// begin sets out from the current point. It is the solution of the program with
//
//	pull_j  = w_j - v_j / lambda   for features inside the box, and no less than takes the push of the others to 0,
//	shift_i = s_i                  for rows at their kinks, and 2 s_i for those on the wrong side,
//
// but on the first path for these, those near their kinks, and features with no push, what takes them apart from there.
func (s *path) begin(first bool) {
	rows := s.g.rows
	s.left, s.imbalance = 1, 0
	apart := 0.0
	switch {
	case s.fromNothing:
		apart = leastApart
	case first:
		apart = leastTied
	}
	s.fromNothing = false
	s.multipliers()
	for i, a := range s.alpha {
		s.imbalance += a * rows.y[i]
	}
	for j := range s.w {
		s.pull[j], s.widen[j] = 0, 0
		if m := s.moved; m != nil {
			// The solution for the old lambda has the pull (1 - old/lambda) w_j.
			s.widen[j] = m.bound[j] - s.bound[j]
			s.pull[j] = (1 - m.lambda/s.lambda) * s.w[j]
		}
		width := s.bound[j] + s.widen[j]
		if s.box[j] == 0 {
			s.pull[j] = s.w[j] - s.v[j]/s.lambda
			if over := math.Abs(s.w[j]) - width; over > 0 {
				s.widen[j] += over
			}
			s.push[j] = 0
			continue
		}
		s.w[j] = float64(s.box[j]) * width
		s.push[j] = s.v[j]/s.lambda - s.w[j] + s.pull[j]
		if over := s.push[j]; over*float64(s.box[j]) < 0 {
			rest := 0.0
			if apart > 0 {
				rest = distance(j, apart)
			}
			s.pull[j] -= (1 + rest) * over
			s.push[j] = -rest * over
		}
	}
	s.moved = nil
	s.wayW, s.wayC = 0, 0
	for i := range s.shift {
		v := s.margin(i)
		s.shift[i] = 0
		switch side := float64(s.side[i]); {
		case side == 0:
			s.shift[i] = v
		case apart > 0 && v*side < distance(i, apart):
			s.shift[i] = v - side*distance(i, apart)
		case v*side < 0:
			s.shift[i] = 2 * v
		}
		s.measure(i, v-s.shift[i])
	}
}

// distance is between least and twice of it, a different one for each row.
func distance(i int, least float64) float64 {
	_, part := math.Modf(float64(i+1) * math.Phi)
	return least * (1 + part)
}

// margin is s_i.
func (s *path) margin(i int) float64 {
	return s.g.rows.need[i] - s.g.rows.dot(i, s.w) + s.g.rows.y[i]*s.c
}

// measure notes how far row i may go from its value now, s_i - left shift_i, until it may be at its kink.
func (s *path) measure(i int, value float64) {
	s.reach[i] = (1-roundedRate)*math.Abs(value) + s.g.rows.size[i]*s.wayW + s.wayC + math.Abs(s.shift[i])*(1-s.left)
}

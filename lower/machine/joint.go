package machine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// stacked says which part of the weights of the rows belongs to training and to validation rows.
type stacked struct {
	train, validation []float64  // each of sum 1, 0 for rows of the other part
	scale             [2]float64 // the loss of the training and of the validation rows at w = 0
}

// NewStacked stacks rows for [Problem.Joint]: the first train rows are training rows, the others validation rows, and each part has one at least. The weights are positive, nil for
// equal ones, and divided by the sum of their part. As a machine of its own it has both parts with half of the weight each.
func NewStacked(x *design.Matrix, y, weights []float64, train int) (*Problem, error) {
	n, _ := x.Dims()
	if train < 1 || train >= n {
		return nil, fmt.Errorf("machine: %d training rows of %d, expected one at least, and a validation row", train, n)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	if len(weights) != n {
		return nil, fmt.Errorf("machine: %d weights for %d rows", len(weights), n)
	}
	u, parts := slices.Clone(weights), [2][]float64{}
	parts[0], parts[1] = u[:train], u[train:]
	for _, part := range parts {
		if total := floats.Sum(part); total > 0 {
			floats.Scale(1/total, part)
		}
	}
	g, err := New(x, y, u)
	if err != nil {
		return nil, err
	}
	k := &stacked{train: make([]float64, g.rows.n), validation: make([]float64, g.rows.n)}
	of, class := [2][]float64{k.train, k.validation}, [2][2]float64{}
	for i, at := range g.rows.origin {
		part := 0
		if i >= train {
			part = 1
		}
		of[part][at] += u[i]
		class[part][g.rows.label(at)] += u[i]
	}
	for part, c := range class {
		k.scale[part] = 2 * math.Min(c[0], c[1])
		if k.scale[part] == 0 {
			k.scale[part] = 1 // one label alone: any c is as good as none
		}
	}
	g.parts = k
	return g, nil
}

// SoftBound is the penalty of a coefficient that is 0 where |w_j| <= Limit and
//
//	rho/2 ((|w_j| - Centre)^2 - (Limit - Centre)^2)
//
// beyond, Centre <= Limit, Limit >= 0: what is left of a bound that costs rho/2 times the square of its distance from Centre and is at least Limit, at best.
type SoftBound struct{ Centre, Limit float64 }

// JointWeights are the weights of a fit to training and validation rows.
type JointWeights struct {
	// Train and Validation, one of them positive, weigh the mean losses of the two parts.
	Train, Validation float64
	// Ridge >= 0 and Rho > 0 weigh |w|^2/2 and |(w, c) - (CentreW, CentreC)|^2/2.
	Ridge, Rho float64
	// CentreW has a number for each feature, nil for zeros.
	CentreW []float64
	CentreC float64
	// Soft has a bound for each feature, with Rho as its weight; nil for none.
	Soft []SoftBound
}

// JointSolution is a point of such a fit.
type JointSolution struct {
	// Status is Optimal, Exhausted, Stalled or Cancelled.
	Status lower.Status
	// W and C give the decision value x.w - c.
	W []float64
	C float64
	// Train and Validation are the mean losses there; like the objective, NaN where the solve was cancelled.
	Train, Validation float64
	// Objective is the value, and Gap bounds its distance from the optimum; as the objective is Rho-strongly convex, the distance of (W, C) from the solution is at most sqrt(2 Gap / Rho).
	Objective, Gap float64
	// Steps counts the Newton steps.
	Steps int

	kept *manyState
}

// Joint fits the stacked rows of [NewStacked] together: with the mean hinge losses l of the training and L of the validation rows, it minimises
//
//	Train l(w, c) + Validation L(w, c) + Rho/2 |(w, c) - centre|^2 + Ridge/2 |w|^2 + sum_j of what the soft bounds cost
//
// over w and c by the method for many rows, whatever their number. It is the subproblem of VF-iDCA with the radius and the bounds eliminated. The tolerance is relative to the
// weighted losses at w = 0, and a start is given as Options.Joint. An error is for input without meaning; how the solve ended is the status.
func (g *Problem) Joint(ctx context.Context, t JointWeights, o Options) (*JointSolution, error) {
	if o.Tol == 0 {
		o.Tol = defaultTol
	}
	if err := g.checkJoint(t, o); err != nil {
		return nil, err
	}
	n, p, k := g.rows.n, g.rows.p, g.parts
	q := &program{rows: g.rows, u: make([]float64, n), terms: soft(t, p), curve: t.Rho, centre: t.CentreC, unit: t.Train*k.scale[0] + t.Validation*k.scale[1], most: g.mostWork}
	floats.AddScaled(q.u, t.Train, k.train)
	floats.AddScaled(q.u, t.Validation, k.validation)
	from := point{w: make([]float64, p), c: t.CentreC, margins: make([]float64, n), shares: make([]float64, n), sums: [2][]float64{make([]float64, p), make([]float64, p)}}
	copy(from.w, t.CentreW)
	if o.Joint != nil {
		from.w, from.c, from.shares = slices.Clone(o.Joint.W), o.Joint.C, o.Joint.kept.shares()
	}
	a := newAugmented(q, from, o.Tol)
	a.end.Begin(ctx, 0)
	defer a.end.End()
	out := &JointSolution{Status: lower.Cancelled, Gap: math.Inf(1)}
	if !a.end.Look() && a.measure() {
		if o.Joint == nil {
			for i, s := range a.margins {
				a.shares[i] = math.Max(0, math.Min(1, s))
			}
			copy(a.prox, a.shares)
		}
		if a.sum() {
			out.Status = a.run()
		}
	}
	if out.Status != lower.Cancelled {
		out.Gap = a.gap
	}
	out.W, out.C, out.Steps = a.w, a.c, a.steps
	out.Objective = a.value + t.Rho/2*floats.Dot(t.CentreW, t.CentreW)
	if out.Status == lower.Cancelled {
		out.Train, out.Validation, out.Objective = math.NaN(), math.NaN(), math.NaN()
	}
	for i, s := range a.margins {
		if s > 0 {
			out.Train += k.train[i] * s
			out.Validation += k.validation[i] * s
		}
	}
	a.margins = nil // the next solve has others to begin with
	out.kept = pack(&a.point)
	return out, nil
}

// soft are the terms of the coefficients.
func soft(t JointWeights, p int) terms {
	out := terms{curve: slices.Repeat([]float64{t.Rho + t.Ridge}, p), slope: make([]float64, p), limit: slices.Repeat([]float64{math.Inf(1)}, p), jump: make([]float64, p), outer: make([]float64, p)}
	for j, w := range t.CentreW {
		out.slope[j] = t.Rho * w
	}
	for j, b := range t.Soft {
		// rho/2 ((u - a)^2 - (L - a)^2) = rho (L - a) (u - L) + rho/2 (u - L)^2
		out.limit[j], out.jump[j], out.outer[j] = b.Limit, t.Rho*(b.Limit-b.Centre), t.Rho
	}
	return out
}

// checkJoint says what is wrong with the input of a fit to stacked rows.
func (g *Problem) checkJoint(t JointWeights, o Options) error {
	p := g.rows.p
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch {
	case g.parts == nil:
		return fmt.Errorf("machine: the rows are not divided into training and validation rows, see NewStacked")
	case !(t.Train >= 0) || !(t.Validation >= 0) || !(t.Train+t.Validation > 0) || !finite(t.Train+t.Validation):
		return fmt.Errorf("machine: the losses have the weights %g and %g, expected nonnegative numbers, one of them positive", t.Train, t.Validation)
	case !(t.Rho > 0) || !(t.Ridge >= 0) || !finite(t.Rho+t.Ridge):
		return fmt.Errorf("machine: rho is %g and the ridge %g, expected a positive and a nonnegative number", t.Rho, t.Ridge)
	case t.CentreW != nil && len(t.CentreW) != p:
		return fmt.Errorf("machine: the centre has %d coefficients, expected %d", len(t.CentreW), p)
	case t.Soft != nil && len(t.Soft) != p:
		return fmt.Errorf("machine: %d soft bounds for %d features", len(t.Soft), p)
	case !(o.Tol > 0):
		return fmt.Errorf("machine: the tolerance is %g, expected a positive number", o.Tol)
	case o.Joint != nil && len(o.Joint.W) != p:
		return fmt.Errorf("machine: the start has %d coefficients, expected %d", len(o.Joint.W), p)
	case !finite(t.CentreC) || slices.ContainsFunc(t.CentreW, func(v float64) bool { return !finite(v) }):
		return fmt.Errorf("machine: the centre is not finite")
	}
	for j, b := range t.Soft {
		if !(b.Limit >= 0) || !(b.Centre <= b.Limit) || math.IsInf(b.Centre, 0) {
			return fmt.Errorf("machine: soft bound %d has the centre %g and the limit %g, expected a limit of 0 at least, and a finite centre of no more", j, b.Centre, b.Limit)
		}
	}
	return nil
}

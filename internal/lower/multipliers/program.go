package multipliers

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/radii"
	"github.com/conetune/conetune/lower"
)

// program is what both programs share: that of a centre. A lower level is the one of a single part without validation
// rows and proximal terms, in which m_0 is 1 and the radii are given.
type program struct {
	fits    []bilevel.Joint
	traits  []lower.Traits // of the fits
	solvers []bilevel.JointSolver
	workers int
	dims    int
	lower   bool
	m       []float64 // the best multipliers, m_0 first and then those of the penalties, part by part
	c       *bilevel.Centre
	count   int       // of fits in a solve
	most    []float64 // work that the solvers may come to
	fine    float64   // the share of the tolerance, see fineShare
}

func newProgram(fits []bilevel.Joint, workers int, lower bool) *program {
	p := &program{fits: fits, workers: workers, dims: fits[0].Dim(), lower: lower, fine: fineShare}
	for _, f := range fits {
		p.solvers, p.traits = append(p.solvers, f.Joint()), append(p.traits, f.Traits())
	}
	return p
}

const (
	// rounds bounds the models and working sets of one solve.
	rounds = 60
	// fineShare of the tolerance is the increase of the dual function that is worth a step, and an error of the fits.
	// Where the point that this leads to is too far off, as the error of constraints goes with the root of it and counts
	// Alpha times, it is a smaller one, by finer at the most and finest in all.
	fineShare, finer, finest = 1e-4, 1e-4, 1e-14
	// mostWork bounds the multiplications that one program may take, for each part, see [bilevel.JointSolver]: about a
	// quarter of a minute. Programs that are solved take a hundredth of it; those that come there, on tables whose
	// solutions have thousands of coefficients, would take minutes.
	mostWork = 1e10
	// rounded is a share of an objective that is rounding, and patience is for how many rounds the gap may stay as it is.
	rounded, patience = 1e-13, 5
	// fell is the relative fall of the merit function by which a round is not idle.
	fell = 1e-10
	// enough times the tolerance is a gap that is taken where rounding lets it get no smaller, and exactly the rounding
	// error of constraints of a subproblem, relative to their terms, which counts Alpha times.
	enough, exactly = 20, 1e-11
	// halvings bounds the points on a step of the models.
	halvings = 30
	// violated is how much of a radius a penalty of a lower level may be above it.
	violated = 1e-8
)

// state is a point (x, r) with the values of the functions of the parts.
type state struct {
	x      [][][]float64
	r      []float64
	values []bilevel.Values
}

// reached are the points of the fits at multipliers m, with the best radii for these.
type reached struct {
	state
	m          []float64
	merit, gap float64
	grew       bool // the working set of a fit
	within     bool // the radii, as far as they bound
	solved     bool
}

// solve maximises the dual function of models from m on, the multipliers not below floor and most in all, and goes on
// with the models at the points that it comes to, from those at some state. It returns the best of these, nil where
// there are none.
func (p *program) solve(ctx context.Context, from state, floor []float64, most float64) (best *reached, err error) {
	p.count, p.most, p.fine = 0, nil, fineShare
	for t, solver := range p.solvers {
		p.most = append(p.most, solver.Work()+mostWork)
		if err := solver.Model(ctx, from.x[t]); err != nil {
			return nil, err
		}
	}
	quadratic, tol := p.solvers[0].Quadratic(), p.c.Tol
	f := &dual{at: p.at, curvature: p.curvature, most: most, tol: p.fine * tol, loose: p.traits[0].Compact(),
		pinned: p.lower}
	var stall numerics.Stall
	far, before := reach(firstReach), p.merit(from)
	for range rounds {
		f.floor = far.floors(p.m, floor)
		at, err := f.maximize(ctx, p.m)
		if at == nil || err != nil {
			return best, err
		}
		p.m = at.m
		r, err := p.reached(ctx, at.enough, at == f.last)
		if r == nil || err != nil {
			return best, err
		}
		if best == nil || r.within && r.gap < best.gap || r.solved {
			best = r
		}
		if r.solved {
			return best, nil
		}
		idle := stall.Idle(r.gap)
		settled := !far.holds(p.m, f.floor, floor) && !r.grew
		far = far.next(r.grew)
		switch {
		case settled && f.loose && p.fine > finest:
			p.fine *= math.Max(finer, math.Pow(tol/r.gap, 2))
			f.tol = p.fine * tol
			continue
		case settled && (idle > patience || quadratic):
			best.solved = best.gap <= math.Max(enough*tol, exactly*p.c.Alpha*math.Max(1, math.Abs(p.c.Value)))
			return best, nil
		case quadratic:
			continue
		}
		now, value := r.state, r.merit
		for range halvings {
			if value <= before+rounded*math.Abs(before) {
				break
			}
			now = p.between(from, now)
			value = p.merit(now)
		}
		// a bound that is far off, as with multipliers near zero, says nothing of the steps
		if value < before-fell*math.Abs(before) {
			stall.Restart()
		}
		before, from = value, now
		for t, solver := range p.solvers {
			if err := solver.Model(ctx, now.x[t]); err != nil {
				return best, err
			}
		}
	}
	return best, nil
}

// reached is nil where a fit has come to no point, as the context has ended. Losses are not negative: where they are
// small enough no multiplier of a lower level is needed.
func (p *program) reached(ctx context.Context, small, fresh bool) (*reached, error) {
	if !fresh { // the last points are of a step that was not taken
		if points, err := p.points(ctx, p.m); points == nil || err != nil {
			return nil, err
		}
	}
	r := &reached{state: state{r: p.radii(p.m)}, m: p.m, within: true}
	bound := p.part(p.m, r.r)
	for t, solver := range p.solvers {
		check, err := solver.Check(ctx, p.weights(t, p.m))
		if err != nil || math.IsInf(check.Gap, 1) {
			return nil, err
		}
		bound += check.Objective - check.Gap
		r.grew = r.grew || check.Grew
		r.values = append(r.values, check.Values)
		r.x = append(r.x, solver.X())
	}
	r.merit = p.merit(r.state)
	switch {
	case p.lower && small:
		r.m, r.gap, r.solved = make([]float64, len(p.m)), r.values[0].Train, true
		return r, nil
	case p.lower && !p.traits[0].Compact():
		for j, v := range r.values[0].Penalties {
			r.within = r.within && v-r.r[j] <= violated*r.r[j]
		}
	}
	r.gap = r.merit - bound
	r.solved = r.gap <= p.c.Tol && r.within
	return r, nil
}

// merit is the objective of a subproblem, with the least t, and of a lower level its exact penalty function.
func (p *program) merit(z state) float64 {
	if p.lower {
		sum := z.values[0].Train
		for j, v := range z.values[0].Penalties {
			sum += 2 * p.m[1+j] * math.Max(0, v-z.r[j])
		}
		return sum
	}
	apart := 0.0
	for t, x := range z.x {
		apart += p.traits[t].Distance(x, p.c.X[t])
	}
	return radii.Objective(p.c, z.values, apart, z.r)
}

// of are the multipliers of the penalties of a part.
func (p *program) of(t int, m []float64) []float64 {
	return m[1+t*p.dims : 1+(t+1)*p.dims]
}

// weights are those of the joint fit of a part.
func (p *program) weights(t int, m []float64) *bilevel.JointWeights {
	share := 1 / float64(len(p.fits))
	w := &bilevel.JointWeights{Validation: share, Train: m[0] * share, Rho: p.c.Rho, Centre: p.c.X[t],
		Penalties: p.of(t, m), Tol: p.fine * p.c.Tol, Gap: p.c.Tol}
	if p.lower {
		w.Validation, w.Centre = 0, nil
	}
	return w
}

// push is m_0 gamma_j - sum_t m_tj.
func (p *program) push(m []float64) []float64 {
	out := make([]float64, p.dims)
	for j, g := range p.c.Gamma {
		out[j] = m[0] * g
		for t := range p.fits {
			out[j] -= p.of(t, m)[j]
		}
	}
	return out
}

// radii are the best ones for the multipliers.
func (p *program) radii(m []float64) []float64 {
	if p.lower {
		return p.c.R
	}
	r := p.push(m)
	for j, v := range r {
		r[j] = math.Max(p.c.Low[j], math.Min(p.c.High[j], p.c.R[j]-v/p.c.Rho))
	}
	return r
}

// part is what the dual function has beside the joint fits.
func (p *program) part(m, r []float64) float64 {
	c := p.c
	sum := -m[0] * (c.Value + c.Epsilon)
	for j, v := range p.push(m) {
		d := r[j] - c.R[j]
		sum += c.Rho/2*d*d + v*d
		for t := range p.fits {
			sum -= p.of(t, m)[j] * c.R[j]
		}
	}
	return sum
}

// points are those of the joint fits, nil where one was not solved.
func (p *program) points(ctx context.Context, m []float64) ([]*bilevel.JointPoint, error) {
	points, errs := make([]*bilevel.JointPoint, len(p.solvers)), make([]error, len(p.solvers))
	crew.Each(len(p.solvers), p.workers, func(t int) {
		points[t], errs[t] = p.solvers[t].Solve(ctx, p.weights(t, m))
	})
	p.count += len(p.solvers)
	for t, pt := range points {
		if pt == nil || errs[t] != nil {
			return nil, errs[t]
		}
	}
	return points, nil
}

// at is the dual function.
func (p *program) at(ctx context.Context, m []float64) (*dualPoint, error) {
	for t, s := range p.solvers {
		if s.Work() > p.most[t] {
			return nil, nil
		}
	}
	points, err := p.points(ctx, m)
	if points == nil || err != nil {
		return nil, err
	}
	share := 1 / float64(len(p.solvers))
	r := p.radii(m)
	out := &dualPoint{m: m, value: p.part(m, r), slope: make([]float64, len(m))}
	out.slope[0] = -p.c.Value - p.c.Epsilon
	for j, g := range p.c.Gamma {
		out.slope[0] += g * (r[j] - p.c.R[j])
	}
	for t, pt := range points {
		out.value += pt.Objective
		out.slope[0] += share * pt.Train
		for j := range p.dims {
			out.slope[1+t*p.dims+j] = pt.Penalties[j] - r[j]
		}
	}
	out.enough = p.lower && p.solvers[0].Quadratic() && out.slope[0] <= p.c.Tol/2 && slices.Max(out.slope[1:]) <= 0
	return out, nil
}

// curvature is minus the second derivative of the dual function at the points of the fits; nil where the context ended.
func (p *program) curvature(ctx context.Context, m []float64) [][]float64 {
	parts := make([][][]float64, len(p.solvers))
	crew.Each(len(p.solvers), p.workers, func(t int) { parts[t] = p.solvers[t].Curvature(ctx, p.weights(t, m)) })
	out, share := make([][]float64, len(m)), 1/float64(len(p.solvers))
	for i := range out {
		out[i] = make([]float64, len(m))
	}
	add := func(i, j int, v float64) {
		out[i][j] += v
		if i != j {
			out[j][i] += v
		}
	}
	for t, part := range parts {
		if part == nil {
			return nil
		}
		add(0, 0, share*share*part[0][0])
		for j := range p.dims {
			i := 1 + t*p.dims + j
			add(0, i, share*part[0][1+j])
			for l := range j + 1 {
				add(i, 1+t*p.dims+l, part[1+j][1+l])
			}
		}
	}
	// Where r_j is between its bounds it moves by -(gamma_j d m_0 - sum_t d m_tj) / rho.
	r := p.radii(m)
	for j, g := range p.c.Gamma {
		if r[j] <= p.c.Low[j] || r[j] >= p.c.High[j] {
			continue
		}
		add(0, 0, g*g/p.c.Rho)
		for t := range p.solvers {
			i := 1 + t*p.dims + j
			add(0, i, -g/p.c.Rho)
			for u := range t + 1 {
				add(i, 1+u*p.dims+j, 1/p.c.Rho)
			}
		}
	}
	return out
}

// between is the middle of two points.
func (p *program) between(a, b state) state {
	out := state{r: middle(a.r, b.r)}
	for t, f := range p.fits {
		var x [][]float64
		for k, v := range a.x[t] {
			x = append(x, middle(v, b.x[t][k]))
		}
		out.x, out.values = append(out.x, x), append(out.values, f.Values(x))
	}
	return out
}

func middle(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for j, v := range a {
		out[j] = v + 0.5*(b[j]-v)
	}
	return out
}

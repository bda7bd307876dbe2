package multipliers

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/radii"
	"github.com/conetune/conetune/lower"
)

// Subproblem solves the subproblems of an iteration, each time from the multipliers of the one before. It is for one
// goroutine at a time.
type Subproblem struct {
	fits    []bilevel.Joint
	traits  []lower.Traits // of the fits
	solvers []bilevel.JointSolver
	workers int
	dims    int
	loose   bool // points are compact: the last digits cost much
	m       []float64
	alpha   float64 // of the solve before
}

// NewSubproblem takes the fits of the parts, which have the same penalties. So many parts at most are solved at once.
func NewSubproblem(fits []bilevel.Joint, workers int) *Subproblem {
	s := &Subproblem{fits: fits, workers: workers, dims: fits[0].Dim()}
	for _, f := range fits {
		s.solvers, s.traits = append(s.solvers, f.Joint()), append(s.traits, f.Traits())
	}
	s.loose = s.traits[0].Compact()
	return s
}

// work is one solve.
type work struct {
	*Subproblem
	c     *bilevel.Centre
	count int
	most  []float64 // work that the solvers may come to
}

// state is a point (x, r) with the values of the functions of the parts.
type state struct {
	x      [][][]float64
	r      []float64
	values []bilevel.Values
}

// Solve is a [bilevel.Subproblem].
func (s *Subproblem) Solve(ctx context.Context, c *bilevel.Centre) (*bilevel.Subsolution, error) {
	k := 1 + len(s.fits)*s.dims
	w := &work{Subproblem: s, c: c}
	from := state{x: c.X, r: c.R}
	for t, x := range c.X {
		from.values = append(from.values, s.fits[t].Values(x))
	}
	best := w.objective(from)
	if gap := best - w.floor(); gap <= c.Tol {
		return &bilevel.Subsolution{
			X: c.X, R: c.R, M: slices.Repeat([][]float64{make([]float64, s.dims)}, len(s.fits)),
			Objective: best, Gap: gap, Solved: true,
		}, nil
	}
	for _, solver := range s.solvers {
		w.most = append(w.most, solver.Work()+mostWork)
	}
	if s.m == nil {
		s.m = w.first()
	} else {
		floats.Scale(c.Alpha/s.alpha, s.m)
	}
	s.alpha = c.Alpha
	f := dual{floor: make([]float64, k), most: c.Alpha, tol: fineShare * c.Tol, loose: s.loose, at: w.at}
	for t, x := range c.X {
		if err := s.solvers[t].Model(ctx, x); err != nil {
			return nil, err
		}
	}
	out := &bilevel.Subsolution{Gap: math.Inf(1)}
	var stall numerics.Stall
	far, floor := reach(firstReach), f.floor
	for range rounds {
		f.floor = far.floors(s.m, floor)
		f.floor[0] = floor[0] // of no penalty
		at, err := f.maximize(ctx, s.m)
		if at == nil || err != nil {
			return out, err
		}
		s.m = at.m
		r, err := w.reached(ctx)
		if r == nil || err != nil {
			return out, err
		}
		now, value, gap, grew := r.state, r.value, r.value-r.bound, r.grew
		idle := stall.Idle(gap)
		if gap < out.Gap {
			*out = bilevel.Subsolution{X: now.x, R: now.r, M0: s.m[0], Objective: value, Gap: gap, Solved: gap <= c.Tol}
			for t := range s.fits {
				out.M = append(out.M, slices.Clone(w.of(t, s.m)))
			}
		}
		out.Fits = w.count
		if out.Solved {
			return out, nil
		}
		held := far.holds(s.m, f.floor, floor)
		far = far.next(grew)
		if f.loose && !held && !grew { // the gap needs the multipliers after all
			f.loose = false
			continue
		}
		if !held && !grew && (idle > patience || s.solvers[0].Quadratic()) {
			// Constraints are known to rounding, which counts Alpha times.
			out.Solved = out.Gap <= math.Max(enough*c.Tol, exactly*c.Alpha*math.Max(1, math.Abs(c.Value)))
			return out, nil
		}
		if s.solvers[0].Quadratic() {
			continue
		}
		best = halve(value, best, func() float64 {
			now = w.between(from, now)
			return w.objective(now)
		})
		from = now
		for t, solver := range s.solvers {
			if err := solver.Model(ctx, now.x[t]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// reached are the points of the fits at the multipliers, with the best radii for them.
type reached struct {
	state
	value, bound float64 // of the subproblem
	grew         bool    // the working set of a fit
}

// reached is nil where a fit has come to no point, as the context has ended. The points are tried with radii that suit
// them better where these leave a gap.
func (w *work) reached(ctx context.Context) (*reached, error) {
	m := w.m
	// the last ones may be of a step that was not taken
	if points, err := w.points(ctx, m, true); points == nil || err != nil {
		return nil, err
	}
	r := &reached{state: state{r: w.radii(m)}}
	r.bound = w.part(m, r.r)
	for t, solver := range w.solvers {
		check, err := solver.Check(ctx, w.weights(t, m))
		if err != nil || math.IsInf(check.Gap, 1) {
			return nil, err
		}
		r.bound += check.Objective - check.Gap
		r.grew = r.grew || check.Grew
		r.values = append(r.values, check.Values)
		r.x = append(r.x, solver.X())
	}
	r.value = w.objective(r.state)
	if r.value-r.bound > w.c.Tol && !r.grew && w.solvers[0].Quadratic() {
		settled := state{r.x, radii.Best(w.c, r.values, r.r), r.values}
		if v := w.objective(settled); v < r.value {
			r.state, r.value = settled, v
		}
	}
	return r, nil
}

// floor is the dual function at multipliers of zero, a bound that fits know without a solve: of L and the proximal
// terms alone. It is minus infinity where one does not.
func (w *work) floor() float64 {
	sum, share := 0.0, 1/float64(len(w.fits))
	for t, f := range w.traits {
		if f.Anchored == nil {
			return math.Inf(-1)
		}
		sum += share * f.Anchored(w.c.Rho/share, w.c.X[t])
	}
	return sum
}

// first are the multipliers of a penalty so large that the lower level's solution is the subproblem's.
func (w *work) first() []float64 {
	m := make([]float64, 1+len(w.fits)*w.dims)
	m[0] = w.c.Alpha / (1 + floats.Sum(w.c.Gamma))
	for t := range w.fits {
		for j, g := range w.c.Gamma {
			w.of(t, m)[j] = m[0] * g / float64(len(w.fits))
		}
	}
	return m
}

// of are the multipliers of the penalties of a part.
func (s *Subproblem) of(t int, m []float64) []float64 {
	return m[1+t*s.dims : 1+(t+1)*s.dims]
}

// weights are those of the joint fit of a part.
func (w *work) weights(t int, m []float64) *bilevel.JointWeights {
	share := 1 / float64(len(w.fits))
	return &bilevel.JointWeights{Validation: share, Train: m[0] * share, Rho: w.c.Rho, Centre: w.c.X[t],
		Penalties: w.of(t, m), Tol: fineShare * w.c.Tol}
}

// push is m_0 gamma_j - sum_t m_tj.
func (w *work) push(m []float64) []float64 {
	out := make([]float64, w.dims)
	for j, g := range w.c.Gamma {
		out[j] = m[0] * g
		for t := range w.fits {
			out[j] -= w.of(t, m)[j]
		}
	}
	return out
}

// radii are the best ones for the multipliers.
func (w *work) radii(m []float64) []float64 {
	r := w.push(m)
	for j, v := range r {
		r[j] = math.Max(w.c.Low[j], math.Min(w.c.High[j], w.c.R[j]-v/w.c.Rho))
	}
	return r
}

// part is what the dual function has beside the joint fits.
func (w *work) part(m, r []float64) float64 {
	c := w.c
	sum := -m[0] * (c.Value + c.Epsilon)
	for j, v := range w.push(m) {
		d := r[j] - c.R[j]
		sum += c.Rho/2*d*d + v*d
		for t := range w.fits {
			sum -= w.of(t, m)[j] * c.R[j]
		}
	}
	return sum
}

// points are those of the joint fits, nil where one was not solved.
func (w *work) points(ctx context.Context, m []float64, flat bool) ([]*bilevel.JointPoint, error) {
	points, errs := make([]*bilevel.JointPoint, len(w.solvers)), make([]error, len(w.solvers))
	crew.Each(len(w.solvers), w.workers, func(t int) {
		of := w.weights(t, m)
		of.Flat = flat
		points[t], errs[t] = w.solvers[t].Solve(ctx, of)
	})
	w.count += len(w.solvers)
	for t, pt := range points {
		if pt == nil || errs[t] != nil {
			return nil, errs[t]
		}
	}
	return points, nil
}

// at is the dual function.
func (w *work) at(ctx context.Context, m []float64) (*dualPoint, error) {
	for t, s := range w.solvers {
		if s.Work() > w.most[t] {
			return nil, nil
		}
	}
	n := len(m)
	points, err := w.points(ctx, m, false)
	if points == nil || err != nil {
		return nil, err
	}
	share := 1 / float64(len(w.solvers))
	r := w.radii(m)
	out := &dualPoint{m: m, value: w.part(m, r), slope: make([]float64, n), curvature: make([][]float64, n)}
	for i := range out.curvature {
		out.curvature[i] = make([]float64, n)
	}
	add := func(i, j int, v float64) {
		out.curvature[i][j] += v
		if i != j {
			out.curvature[j][i] += v
		}
	}
	out.slope[0] = -w.c.Value - w.c.Epsilon
	for j, g := range w.c.Gamma {
		out.slope[0] += g * (r[j] - w.c.R[j])
	}
	for t, pt := range points {
		out.value += pt.Objective
		out.slope[0] += share * pt.Train
		add(0, 0, share*share*pt.Curvature[0][0])
		for j := range w.dims {
			i := 1 + t*w.dims + j
			out.slope[i] = pt.Penalties[j] - r[j]
			add(0, i, share*pt.Curvature[0][1+j])
			for l := range j + 1 {
				add(i, 1+t*w.dims+l, pt.Curvature[1+j][1+l])
			}
		}
	}
	// Where r_j is between its bounds it moves by -(gamma_j d m_0 - sum_t d m_tj) / rho.
	for j, g := range w.c.Gamma {
		if r[j] <= w.c.Low[j] || r[j] >= w.c.High[j] {
			continue
		}
		add(0, 0, g*g/w.c.Rho)
		for t := range w.solvers {
			i := 1 + t*w.dims + j
			add(0, i, -g/w.c.Rho)
			for u := range t + 1 {
				add(i, 1+u*w.dims+j, 1/w.c.Rho)
			}
		}
	}
	return out, nil
}

// objective is that of the subproblem, with the least t.
func (w *work) objective(z state) float64 {
	apart := 0.0
	for t, x := range z.x {
		apart += w.traits[t].Distance(x, w.c.X[t])
	}
	return radii.Objective(w.c, z.values, apart, z.r)
}

// between is the middle of two points.
func (w *work) between(a, b state) state {
	out := state{r: between([][]float64{a.r}, [][]float64{b.r})[0]}
	for t, f := range w.fits {
		x := between(a.x[t], b.x[t])
		out.x, out.values = append(out.x, x), append(out.values, f.Values(x))
	}
	return out
}

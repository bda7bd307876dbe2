package dca

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/finite"
)

// subproblem is, compiled once with h a variable,
//
//	minimize   L(x, h) + rho/2 |z - z_k|^2 + alpha t
//	subject to V_k(x, h) <= t,  constraints(x, h) <= t,  t >= 0,  lo <= h <= hi,  x in X
//
// with V_k(x, h) = l(x, h) - <s_k, h> - c_k,  c_k = v(h_k) - <s_k, h_k> + epsilon. See split.go for the form
// without second-order cones.
type subproblem struct {
	program  *Program
	settings *Settings
	level    Level
	lo, hi   []float64
	h, t     *convex.Variable
	// Parameters: the centre z_k, -s_k, c_k, alpha.
	xk                []*convex.Parameter
	hk, slope, offset *convex.Parameter
	alpha             *convex.Parameter
	value             *convex.Constraint // V_k <= t; nil with split
	split             *split             // nil where the solver takes second-order cones
	constant          float64            // c_k
	rows              []*convex.Constraint
	compiled          *convex.Program
	solver            *convex.Solver // made at the first solve
	taken             time.Duration
	centre            iterate
	lower             *Solution
	penalty           float64
	moved             float64 // |z_k - z_{k-1}| where the iteration may use its inexactness
	joint             *joint  // nil where there is no such fit
}

// iterate is a point z = (x, h).
type iterate struct {
	x [][]float64
	h []float64
}

func newSubproblem(p *Program, s *Settings, lo, hi []float64, j *joint) (*subproblem, error) {
	b := &subproblem{program: p, settings: s, lo: lo, hi: hi, joint: j}
	if j != nil {
		return b, nil
	}
	return b, b.compile()
}

// compile compiles the conic program, unless that was done before.
func (b *subproblem) compile() error {
	if b.compiled != nil {
		return nil
	}
	sequence := b.settings.Backend.Capabilities().BySequence // V_k alone is cheaper by the search of split.go
	compiled, err := b.compileAs(b.settings.splits() || slices.Contains(sequence, backends.SecondOrderCone))
	if err == nil && slices.ContainsFunc(sequence, compiled.Has) {
		b.xk, b.rows, b.split = nil, nil, nil
		compiled, err = b.compileAs(false)
	}
	b.compiled = compiled
	return err
}

// compileAs compiles it with V_k <= t as a constraint, or with V_k in the objective for the search of split.go.
func (b *subproblem) compileAs(split bool) (*convex.Program, error) {
	p, s, m := b.program, b.settings, convex.NewModel()
	n := len(p.H0)
	b.h = m.Vector("h", n)
	var err error
	if b.level, err = p.build(m, b.h); err != nil {
		return nil, err
	}
	b.t = m.Vector("t", 1)
	b.hk, b.slope = m.Parameter("h_k", make([]float64, n)), m.Parameter("-s_k", make([]float64, n))
	b.offset, b.alpha = m.Parameter("c_k", []float64{0}), m.Parameter("alpha", []float64{0})

	// L + rho/2 |z - z_k|^2 + alpha t
	prox := convex.SumSquares(convex.Sub(b.h, b.hk))
	for _, v := range b.level.X {
		xk := m.Parameter(v.Name()+"_k", make([]float64, v.Len()))
		b.xk = append(b.xk, xk)
		prox = convex.Add(prox, convex.SumSquares(convex.Sub(convex.Reshape(v, v.Len(), 1), xk)))
	}
	objective := convex.Add(b.level.Validation, convex.Scale(s.Rho/2, prox))

	// V_k <= t
	train := b.level.Train
	t := b.t
	if split {
		m.Minimize(convex.Add(objective, b.lagrangian(m, train)))
	} else {
		m.Minimize(convex.Add(objective, convex.Dot(b.alpha, t)))
		b.value = m.Le("", convex.Sub(convex.Add(train, convex.Dot(b.slope, b.h)), b.offset), t)
	}
	for _, c := range b.level.Constraints {
		b.rows = append(b.rows, m.Le("", c, t))
	}
	m.Ge("", t, 0)
	p.within(m, b.h, b.lo, b.hi)

	prog, err := m.Compile()
	if err != nil {
		return nil, p.errorf("subproblem: %w", err)
	}
	return prog, nil
}

// within imposes bounds on h, as far as they are finite, and what Joint has.
func (p *Program) within(m *convex.Model, h convex.Expr, lo, hi []float64) {
	impose := func(bounds []float64, sign float64) {
		var idx []int
		var finite []float64
		for j, v := range bounds {
			if !math.IsInf(v, 0) {
				idx, finite = append(idx, j), append(finite, sign*v)
			}
		}
		switch {
		case len(idx) == 0:
		case len(idx) == len(bounds):
			m.Ge("bounds", convex.Scale(sign, h), finite)
		default:
			m.Ge("bounds", convex.Scale(sign, convex.Pick(h, idx)), finite)
		}
	}
	impose(lo, 1)
	impose(hi, -1)
	if p.Joint != nil {
		for _, c := range p.Joint(h) {
			m.Le("joint", c, 0)
		}
	}
}

// set takes the centre z_k, the lower level's solution at h_k, and the penalty.
func (b *subproblem) set(centre iterate, low *Solution, alpha float64) {
	b.centre, b.lower, b.penalty = centre, b.hold(low), alpha
}

// assign gives the parameters of the conic program their values.
func (b *subproblem) assign() (err error) {
	centre, low, alpha := b.centre, b.lower, b.penalty
	if err := b.compile(); err != nil {
		return err
	}
	if b.solver == nil {
		if b.solver, err = b.compiled.Solver(b.joint.bound(b.settings.convex())); err != nil {
			return b.program.errorf("subproblem: %w", err)
		}
	}
	minus := make([]float64, len(low.slope))
	b.constant = low.Value + b.settings.Epsilon
	for j, s := range low.slope {
		if s != 0 {
			minus[j] = -s
		}
		b.constant -= s * low.h[j]
	}
	if !finite.All(b.constant, alpha) || !finite.All(minus...) {
		return errOverflow
	}
	for i, p := range b.xk {
		if err := b.solver.Set(p, centre.x[i]); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		p *convex.Parameter
		v []float64
	}{{b.hk, centre.h}, {b.slope, minus}, {b.offset, []float64{b.constant}}, {b.alpha, []float64{alpha}}} {
		if err := b.solver.Set(o.p, o.v); err != nil {
			return err
		}
	}
	return nil
}

// holdFactor times the least multiplier is the one of a radius that [Settings.HoldZeros] keeps at zero.
const holdFactor = 10

// hold returns low with the subgradient that [Settings.HoldZeros] asks for.
func (b *subproblem) hold(low *Solution) *Solution {
	if !b.settings.HoldZeros {
		return low
	}
	held := *low
	held.slope = slices.Clone(low.slope)
	for j := range b.program.Radii {
		if low.h[j] <= 2*b.lo[j] {
			held.slope[j] *= holdFactor
		}
	}
	return &held
}

// answer is what is known of the solution of a subproblem.
type answer struct {
	conic
	z      iterate   // without h where there is none of use
	eta    float64   // the multiplier of V_k <= t
	mu     []float64 // those of the rows
	dual   iterate   // the residual of the multipliers in x and h, none where they are exact
	norm   float64   // of that in t, too
	gap    float64   // of the objective at z, beside that of the residual
	usable bool      // but for numbers that are none
}

// solve solves the subproblem and clips h to its bounds.
func (b *subproblem) solve(ctx context.Context) (*answer, error) {
	start := time.Now()
	defer func() { b.taken = time.Since(start) }()
	if !finite.All(b.lower.Value, b.penalty) || !finite.All(b.lower.slope...) {
		return nil, errOverflow
	}
	switch out, err := b.joint.subproblem(ctx, b); {
	case err != nil:
		return nil, b.program.errorf("subproblem: %w", err)
	case out != nil && (!out.usable || out.finite()):
		b.clip(out.z.h)
		return out, nil
	case b.joint != nil && ctx.Err() != nil:
		return &answer{conic: none(backends.Cancelled)}, nil
	case b.joint.alone():
		return &answer{conic: none(backends.NumericalError)}, nil
	}
	return b.solveConic(ctx)
}

// finite says that all numbers of the point are.
func (a *answer) finite() bool { return finite.All(a.z.h...) && finite.Every(a.z.x) }

// solveConic is solve by the conic program.
func (b *subproblem) solveConic(ctx context.Context) (*answer, error) {
	if err := b.assign(); err != nil {
		return nil, err
	}
	var res *convex.Result
	var z iterate
	var err error
	if b.split != nil {
		res, z, err = b.solveSplit(ctx)
	} else if res, err = b.solver.Solve(ctx); err == nil && usable(res) {
		z = iterate{x: values(res, b.level.X), h: slices.Clone(res.Value(b.h))}
		b.clip(z.h)
	}
	if c, yes := b.joint.refused(err); yes {
		return &answer{conic: c}, nil
	}
	if err != nil {
		return nil, b.program.errorf("subproblem: %w", err)
	}
	out := &answer{conic: summary(res), z: z, usable: usable(res)}
	if !out.usable || !out.finite() {
		out.z = iterate{}
		return out, nil
	}
	if b.residual(out, res); b.split != nil {
		out.eta = b.split.eta
	} else {
		out.eta = math.Max(0, res.Dual(b.value)[0])
	}
	for _, row := range b.rows {
		out.mu = append(out.mu, res.Dual(row)...)
	}
	return out, nil
}

// close frees the solver.
func (b *subproblem) close() {
	if b.solver != nil {
		b.solver.Close()
	}
}

// clip moves h into its bounds.
func (b *subproblem) clip(h []float64) { clip(h, b.lo, b.hi) }

// move moves h to where it keeps its bounds and Joint.
func (b *subproblem) move(ctx context.Context, h []float64) error {
	return b.program.nearest(ctx, b.settings, h, h, b.lo, b.hi)
}

// at is a point of the subproblem's model.
func (b *subproblem) at(z iterate) convex.Point {
	pt := point(b.level.X, z.x)
	pt[b.h] = z.h
	return pt
}

// values are L, l and the constraints, one after the other.
func (b *subproblem) values(z iterate) (validation, train float64, rows []float64) {
	if b.joint != nil {
		return b.joint.values(z)
	}
	pt := b.at(z)
	for _, c := range b.level.Constraints {
		rows = append(rows, c.Eval(pt)...)
	}
	return b.level.Validation.Eval(pt)[0], b.level.Train.Eval(pt)[0], rows
}

// evaluation holds the functions at one point, computed without any epigraph variables.
type evaluation struct {
	validation, train float64
	value             float64   // V_k, of l itself
	rows              []float64 // constraints, one after the other
	t                 float64   // max{0, V_k, rows}
	worst             float64   // max{0, rows}
	objective         float64   // phi_k
}

// evaluate computes the functions of the subproblem at z.
func (b *subproblem) evaluate(z iterate) evaluation {
	var e evaluation
	e.validation, e.train, e.rows = b.values(z)
	linear := -b.lower.Value - b.settings.Epsilon
	for j, s := range b.lower.slope {
		linear -= s * (z.h[j] - b.lower.h[j])
	}
	e.value = e.train + linear
	dist := b.joint.squaredDistance(z, b.centre)
	for _, c := range e.rows {
		e.worst = math.Max(e.worst, c)
	}
	e.t = math.Max(e.worst, e.value)
	e.objective = e.validation + b.settings.Rho/2*dist + b.penalty*e.t
	return e
}

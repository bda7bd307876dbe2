package separable

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
)

// Restricted is the data with some groups whose coefficients are zero, in both programs: neither their radii nor t give them room. Its answers are of the length
// of the data without that.
type Restricted struct {
	whole, kept *Regression
	groups      []int // the kept ones
	features    []int // theirs
	penalties   []int // theirs, and that of |b|_1
}

// Restrict keeps the groups named by keep, one entry for each penalty, of which the one of |b|_1 is kept in any case; nil where none is left.
func (g *Regression) Restrict(keep []bool) (*Restricted, error) {
	if len(keep) != g.Penalties() {
		return nil, fmt.Errorf("separable: %d penalties to keep or not, expected %d", len(keep), g.Penalties())
	}
	out := &Restricted{whole: g}
	members := &groups{start: []int{0}}
	for k := range g.groups.len() {
		if !keep[k] {
			continue
		}
		out.groups = append(out.groups, k)
		for _, j := range g.groups.of(k) {
			members.member = append(members.member, len(out.features))
			out.features = append(out.features, j)
		}
		members.start = append(members.start, len(members.member))
	}
	if out.groups == nil {
		return nil, nil
	}
	out.penalties = slices.Clone(out.groups)
	if g.shared {
		out.penalties = append(out.penalties, g.groups.len())
	}
	pick := func(r Rows) Rows { return Rows{X: r.X.Pick(out.features), Y: r.Y} }
	out.kept = &Regression{train: pick(g.train), val: pick(g.val), groups: members, shared: g.shared, intercept: g.intercept}
	var err error
	out.kept.curvature, err = curvature(out.kept.train.X)
	return out, err
}

// gather are the entries of v at index.
func gather(v []float64, index []int) []float64 {
	out := make([]float64, len(index))
	for i, j := range index {
		out[i] = v[j]
	}
	return out
}

// scatter sets the entries of v at index.
func scatter(v []float64, index []int, to []float64) []float64 {
	for i, j := range index {
		v[j] = to[i]
	}
	return v
}

// short leaves the coefficients of what is kept.
func (r *Restricted) short(x [][]float64) [][]float64 {
	return append([][]float64{gather(x[0], r.features)}, x[1:]...)
}

// long fills a point up with zeros.
func (r *Restricted) long(x [][]float64) [][]float64 {
	return append([][]float64{scatter(make([]float64, r.whole.train.X.Columns()), r.features, x[0])}, x[1:]...)
}

// Within returns a solver of the lower level.
func (r *Restricted) Within() lower.WithinSolver {
	return &restrictedLower{Restricted: r, solver: NewLower(r.kept)}
}

type restrictedLower struct {
	*Restricted
	solver *Lower
}

// Begin implements [lower.WithinSolver].
func (s *restrictedLower) Begin(ctx context.Context, lambda []float64, x [][]float64) error {
	if len(lambda) != s.whole.Penalties() || len(x) != len(s.whole.Shape()) {
		return s.solver.Begin(ctx, lambda, x) // says so
	}
	return s.solver.Begin(ctx, gather(lambda, s.penalties), s.short(x))
}

// Solve implements [lower.WithinSolver]. The radii of groups that are left out count as zero, and their multipliers are the least that hold the coefficients there,
// |soft(X_g'u, m)|.
func (s *restrictedLower) Solve(ctx context.Context, radii []float64, tol float64) (*lower.Within, error) {
	g := s.whole
	if len(radii) != g.Penalties() {
		return nil, fmt.Errorf("separable: %d radii, expected %d", len(radii), g.Penalties())
	}
	out, err := s.solver.Solve(ctx, gather(radii, s.penalties), tol)
	if err != nil || out.X == nil {
		return out, err
	}
	n := float64(len(g.train.Y))
	u := make([]float64, len(g.train.Y))
	s.kept.train.X.Mul(u, out.X[0])
	if g.intercept {
		floats.AddConst(out.X[1][0], u)
	}
	floats.Sub(u, g.train.Y)
	floats.Scale(1/n, u)
	if g.intercept {
		floats.AddConst(-floats.Sum(u)/n, u)
	}
	c := make([]float64, g.train.X.Columns())
	g.train.X.MulTrans(c, u)
	ms := 0.0
	if g.shared {
		ms = out.Lambda[len(out.Lambda)-1]
	}
	for j, v := range c {
		c[j] = soft(v, ms)
	}
	lambda := make([]float64, g.Penalties())
	for k := range g.groups.len() {
		lambda[k] = size(g.groups.of(k), c)
	}
	out.Lambda, out.X = scatter(lambda, s.penalties, out.Lambda), s.long(out.X)
	return out, nil
}

// NewRestrictedSubproblem is [NewSubproblem] of parts that keep the same penalties.
func NewRestrictedSubproblem(parts []*Restricted, workers int) lower.SubproblemSolver {
	data := make([]*Regression, len(parts))
	for t, r := range parts {
		data[t] = r.kept
	}
	return &restrictedSubproblem{Restricted: parts[0], solver: NewSubproblem(data, workers)}
}

type restrictedSubproblem struct {
	*Restricted
	solver *Subproblem
}

// Solve implements [lower.SubproblemSolver]. The radii that are left out stay as they are.
func (s *restrictedSubproblem) Solve(ctx context.Context, c *lower.Centre) (*lower.Subsolution, error) {
	if len(c.R) != s.whole.Penalties() {
		return nil, fmt.Errorf("separable: a centre of %d radii, expected %d", len(c.R), s.whole.Penalties())
	}
	short := *c
	short.X = make([][][]float64, len(c.X))
	rest := 0.0 // what the coefficients that are left out have in the objective
	for t, x := range c.X {
		short.X[t] = s.short(x)
		rest += c.Rho / 2 * max(0, floats.Dot(x[0], x[0])-floats.Dot(short.X[t][0], short.X[t][0]))
	}
	short.R, short.Gamma = gather(c.R, s.penalties), gather(c.Gamma, s.penalties)
	short.Low, short.High = gather(c.Low, s.penalties), gather(c.High, s.penalties)
	out, err := s.solver.Solve(ctx, &short)
	if err != nil || out.X == nil {
		return out, err
	}
	out.Objective += rest
	out.R = scatter(slices.Clone(c.R), s.penalties, out.R)
	for t := range out.X {
		out.X[t] = s.long(out.X[t])
		out.M[t] = scatter(make([]float64, s.whole.Penalties()), s.penalties, out.M[t])
	}
	return out, nil
}

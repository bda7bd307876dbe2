package compile

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// Numbers are those of an assembled program at the parameters' values when they were last refreshed.
type Numbers struct {
	Assembled  *Assembled
	A, B, Q, P live
}

// live holds the numbers of a part of the program. A solver refers to those that it was set up with, which
// therefore stay as they are, but copies those of an update.
type live struct {
	Val  []float64
	lent bool // to the solver, by its set-up
	deps []*affine.Parameter
	seen []int // versions of deps in val
}

func newLive(n int, deps []*affine.Parameter) live {
	l := live{Val: make([]float64, n), deps: deps, seen: make([]int, len(deps))}
	l.note()
	return l
}

// own returns the numbers for changes in place.
func (l *live) own() []float64 {
	if l.lent {
		l.Val, l.lent = slices.Clone(l.Val), false
	}
	return l.Val
}

// note records the versions of the parameters and says whether any is new.
func (l *live) note() bool {
	changed := false
	for k, p := range l.deps {
		if l.seen[k] != p.Version {
			l.seen[k], changed = p.Version, true
		}
	}
	return changed
}

// NewNumbers computes the numbers.
func NewNumbers(as *Assembled) *Numbers {
	in := &Numbers{Assembled: as, A: newLive(len(as.Ind), as.a.deps), B: newLive(as.M, as.B.deps),
		Q: newLive(as.N, as.q.deps), P: newLive(len(as.PInd), as.weights)}
	as.a.Value(in.A.Val)
	as.B.Value(in.B.Val)
	as.ValueQ(in.Q.Val)
	as.valueP(in.P.Val)
	return in
}

// Refresh computes the numbers of parameters that have changed, and returns these parts.
func (in *Numbers) Refresh() (u backends.Update) {
	as := in.Assembled
	if in.A.note() {
		as.a.change(in.A.own())
		u.A = as.matrixA(in.A.Val)
	}
	if in.B.note() {
		as.B.change(in.B.own())
		u.B = in.B.Val
	}
	if in.Q.note() {
		as.ValueQ(in.Q.own())
		u.Q = in.Q.Val
	}
	if in.P.note() && len(as.PInd) > 0 {
		as.valueP(in.P.own())
		u.P = as.matrixP(in.P.Val)
	}
	return u
}

// Problem is the conic program at its current numbers, which it shares.
func (in *Numbers) Problem() *backends.Problem {
	as := in.Assembled
	out := &backends.Problem{Q: in.Q.Val, A: as.matrixA(in.A.Val), B: in.B.Val, Cones: as.cones}
	if len(as.PInd) > 0 {
		out.P = as.matrixP(in.P.Val)
	}
	return out
}

// Values are those of a primal-dual point of a program.
type Values struct {
	// Objective and DualObjective are those of the model, constants included.
	Objective, DualObjective float64
	// Stationarity is Px + q + A'z.
	Stationarity []float64
	// Rounding bounds what the rounding of x and of the sums may change in the objectives.
	Rounding float64
}

// Values computes both objectives without a difference of large numbers. With g the gradient of the objective at x and
// r = g + A'z,
//
//	objective - dual objective = (b - Ax)'z + sum_j min(r_j^2 / (2 P_jj), |x_j r_j|)
//
// where the Lagrangian, whose part in x_j is convex, is as small as r_j^2 / (2 P_jj) below its value at x, and x_j r_j
// is what the dual objective of package backends takes.
func (in *Numbers) Values(x, z []float64) (v Values) {
	as, a := in.Assembled, in.A.Val
	v.Objective, v.Stationarity = as.at(x)
	slack, terms := slices.Clone(in.B.Val), math.Abs(v.Objective)
	gap := 0.0
	for j, g := range v.Stationarity {
		r, size := g, math.Abs(g)
		for k := as.Ptr[j]; k < as.Ptr[j+1]; k++ {
			i := as.Ind[k]
			slack[i] -= a[k] * x[j]
			r += a[k] * z[i]
			size += math.Abs(a[k] * z[i])
		}
		less := x[j] * r
		if k := as.PPtr[j]; k < as.PPtr[j+1] {
			if least := r * r / (2 * in.P.Val[k]); least < math.Abs(less) {
				less = least
			}
		}
		gap += less
		terms += math.Abs(x[j]) * size
		v.Stationarity[j] = r
	}
	for i, s := range slack {
		gap += s * z[i]
	}
	v.DualObjective = v.Objective - gap
	v.Rounding = roundings * 0x1p-53 * terms
	return v
}

// Moved returns q and b of the program whose variables are counted from a point y: Py + q and b - Ay.
func (in *Numbers) Moved(y []float64) (q, b []float64) {
	as, a := in.Assembled, in.A.Val
	_, q = as.at(y)
	b = slices.Clone(in.B.Val)
	for j, y := range y {
		for k := as.Ptr[j]; k < as.Ptr[j+1]; k++ {
			b[as.Ind[k]] -= a[k] * y
		}
	}
	return q, b
}

// roundings counts the roundings of a term of Values: of x_j, of its product and of the two sums.
const roundings = 4

// Stationarity returns Px + q + A'z, and what the residual of that is divided by.
func (in *Numbers) Stationarity(x, z []float64) (r []float64, scale float64) {
	return backends.Stationarity(in.Problem(), x, z)
}

// Lend says that a solver refers to all numbers from now on.
func (in *Numbers) Lend() { in.A.lent, in.B.lent, in.Q.lent, in.P.lent = true, true, true, true }

// Problem returns the full conic program at the parameters' current values. It belongs to the caller.
func (p *Program) Problem() (*backends.Problem, error) {
	if err := p.CheckWeights(); err != nil {
		return nil, err
	}
	return NewNumbers(p.NewLayout(nil).Assemble()).Problem(), nil
}

// CheckWeights checks the parameters that weigh atoms.
func (p *Program) CheckWeights() error {
	for _, w := range p.weights {
		if w.Version == 0 {
			return fmt.Errorf("convex: parameter %s weighs an atom and has not been set", w.Name)
		}
		if i := slices.IndexFunc(w.Values, func(v float64) bool { return v < 0 }); i >= 0 {
			return fmt.Errorf("convex: parameter %s weighs an atom and is negative: %v", w.Name, w.Values[i])
		}
	}
	return nil
}

// Parametric is a vector of numbers that is affine in the parameters.
type Parametric struct {
	base    []float64
	changes []change
	deps    []*affine.Parameter
}

// change adds coef times entry at of a parameter to a number.
type change struct {
	pos, at int
	p       *affine.Parameter
	coef    float64
}

// Put adds coef, times entry at of p where there is one, to a number.
func (n *Parametric) Put(pos int, p *affine.Parameter, at int, coef float64) {
	if p == nil {
		n.base[pos] += coef
		return
	}
	n.changes = append(n.changes, change{pos, at, p, coef})
	n.dependsOn(p)
}

func (n *Parametric) dependsOn(p *affine.Parameter) {
	if p != nil && !slices.Contains(n.deps, p) {
		n.deps = append(n.deps, p)
	}
}

// Value computes the numbers at the parameters' current values.
func (n *Parametric) Value(out []float64) {
	copy(out, n.base)
	n.change(out)
}

// change does the same to numbers that differ in what depends on parameters only.
func (n *Parametric) change(out []float64) {
	for _, c := range n.changes {
		out[c.pos] = n.base[c.pos]
	}
	for _, c := range n.changes {
		out[c.pos] += c.coef * c.p.Values[c.at]
	}
}

// slope is an entry of the derivative of Px + q + A'z and Ax - b in a parameter, of a column and a row, -1 for none.
type slope struct {
	p        *affine.Parameter
	at       int
	col, row int
	u, v     float64
}

// slopes visits the derivatives of u = Px + q + A'z and v = Ax - b in the entries of all parameters, at their current
// values. What stands in one place several times adds up.
func (as *Assembled) slopes(x, z []float64, visit func(s slope)) {
	col := 0
	where := make([]int, len(as.Ind))
	for pos := range where {
		for pos == as.Ptr[col+1] {
			col++
		}
		where[pos] = col
	}
	for _, c := range as.a.changes {
		i, j := as.Ind[c.pos], where[c.pos]
		visit(slope{c.p, c.at, j, i, c.coef * z[i], c.coef * x[j]})
	}
	for _, c := range as.B.changes {
		visit(slope{c.p, c.at, -1, c.pos, 0, -c.coef})
	}
	for _, c := range as.q.changes {
		visit(slope{c.p, c.at, c.pos, -1, c.coef, 0})
	}
	for k, q := range as.Program.Squares { // w |f x + d|^2 has the gradient 2 w f (f x + d)
		if q.W == nil && q.Arg.Fixed() {
			continue
		}
		value, cols, factors := q.Arg.Constant(), slices.Repeat([]int{-1}, q.Arg.N), make([]float64, q.Arg.N)
		as.EachSquare(k, func(r, col int, f float64) {
			if col >= 0 {
				value[r], cols[r], factors[r] = value[r]+f*x[col], col, f
			}
		})
		for r, col := range cols {
			if col >= 0 && q.W != nil {
				visit(slope{q.W, 0, col, -1, 2 * q.Scale * factors[r] * value[r], 0})
			}
		}
		for _, t := range q.Arg.Pars {
			t.EachEntry(func(r, j int, c float64) {
				if r = t.Row(r); cols[r] >= 0 {
					visit(slope{t.P, j, cols[r], -1, 2 * q.Weight() * factors[r] * c, 0})
				}
			})
		}
	}
}

// Forward returns the changes of Px + q + A'z and Ax - b for those of the parameters, of which of returns nil for none.
func (as *Assembled) Forward(x, z []float64, of func(*affine.Parameter) []float64) (u, v []float64) {
	u, v = make([]float64, as.N), make([]float64, as.M)
	as.slopes(x, z, func(s slope) {
		if change := of(s.p); change != nil {
			if s.col >= 0 {
				u[s.col] += s.u * change[s.at]
			}
			if s.row >= 0 {
				v[s.row] += s.v * change[s.at]
			}
		}
	})
	return u, v
}

// Adjoint adds the gradients of u'(Px + q + A'z) + v'(Ax - b) in the parameters to what of returns.
func (as *Assembled) Adjoint(x, z, u, v []float64, of func(*affine.Parameter) []float64) {
	as.slopes(x, z, func(s slope) {
		g := of(s.p)
		if s.col >= 0 {
			g[s.at] += s.u * u[s.col]
		}
		if s.row >= 0 {
			g[s.at] += s.v * v[s.row]
		}
	})
}

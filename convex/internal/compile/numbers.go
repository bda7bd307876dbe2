package compile

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// State has the values of the parameters of a program, and of those derived from it.
type State struct {
	Values  affine.Values
	changes []int // of each
}

// NewState begins with copies of the values.
func NewState(params []*affine.Parameter, at affine.Values) *State {
	s := &State{Values: make(affine.Values, len(params)), changes: make([]int, len(params))}
	for i, p := range params {
		s.Values[i] = slices.Clone(at.Of(p))
	}
	return s
}

// Set copies the values of a parameter.
func (s *State) Set(p *affine.Parameter, values []float64) {
	if own := s.Values[p.ID]; !slices.Equal(values, own) {
		copy(own, values)
		s.changes[p.ID]++
	}
}

// Numbers are those of an assembled program at the parameters' values when they were last refreshed.
type Numbers struct {
	Assembled           *Assembled
	State               *State
	A, B, Q, P          live
	slack, stationarity []float64 // of Values
}

// live holds the numbers of a part of the program. A solver refers to those that it was set up with, which
// therefore stay as they are, but copies those of an update.
type live struct {
	Val    []float64
	matrix *sparse.CSC // of an update, nil before there is one
	lent   bool        // to the solver, by its set-up
	deps   []*affine.Parameter
	seen   []int // changes of deps in val
}

func (s *State) newLive(n int, deps []*affine.Parameter) live {
	l := live{Val: make([]float64, n), deps: deps, seen: make([]int, len(deps))}
	l.note(s)
	return l
}

// own returns the numbers for changes in place.
func (l *live) own() []float64 {
	if l.lent {
		l.Val, l.lent, l.matrix = slices.Clone(l.Val), false, nil
	}
	return l.Val
}

// note records the changes of the parameters and says whether any is new.
func (l *live) note(s *State) bool {
	changed := false
	for k, p := range l.deps {
		if l.seen[k] != s.changes[p.ID] {
			l.seen[k], changed = s.changes[p.ID], true
		}
	}
	return changed
}

// NewNumbers computes the numbers.
func NewNumbers(as *Assembled, s *State) *Numbers {
	in := &Numbers{Assembled: as, State: s, A: s.newLive(len(as.Ind), as.a.deps), B: s.newLive(as.M, as.B.deps),
		Q: s.newLive(as.N, as.q.deps), P: s.newLive(len(as.PInd), as.weights)}
	as.a.Value(in.A.Val, s.Values)
	as.B.Value(in.B.Val, s.Values)
	as.ValueQ(in.Q.Val, s.Values)
	as.valueP(in.P.Val, s.Values)
	return in
}

// Refresh computes the numbers of parameters that have changed, and returns these parts.
func (in *Numbers) Refresh() (u backends.Update) {
	as, s := in.Assembled, in.State
	if in.A.note(s) {
		as.a.change(in.A.own(), s.Values)
		if in.A.matrix == nil {
			in.A.matrix = as.matrixA(in.A.Val)
		}
		u.A = in.A.matrix
	}
	if in.B.note(s) {
		as.B.change(in.B.own(), s.Values)
		u.B = in.B.Val
	}
	if in.Q.note(s) {
		as.ValueQ(in.Q.own(), s.Values)
		u.Q = in.Q.Val
	}
	if in.P.note(s) && len(as.PInd) > 0 {
		as.valueP(in.P.own(), s.Values)
		if in.P.matrix == nil {
			in.P.matrix = as.matrixP(in.P.Val)
		}
		u.P = in.P.matrix
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
	// Stationarity is Px + q + A'z, until others are computed.
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
	in.stationarity = slices.Grow(in.stationarity[:0], as.N)[:as.N]
	v.Stationarity = in.stationarity
	v.Objective = as.objective(x, in.State.Values, v.Stationarity)
	in.slack = append(in.slack[:0], in.B.Val...)
	slack, terms := in.slack, math.Abs(v.Objective)
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
	q = make([]float64, as.N)
	as.objective(y, in.State.Values, q)
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

// Lend says that a solver refers to all numbers from now on.
func (in *Numbers) Lend() { in.A.lent, in.B.lent, in.Q.lent, in.P.lent = true, true, true, true }

// Problem returns the full conic program. It belongs to the caller.
func (p *Program) Problem(at affine.Values) (*backends.Problem, error) {
	if err := p.CheckWeights(at); err != nil {
		return nil, err
	}
	return NewNumbers(p.NewLayout(nil).Assemble(), NewState(p.Params, at)).Problem(), nil
}

// CheckWeights checks the parameters that weigh atoms.
func (p *Program) CheckWeights(at affine.Values) error {
	for _, w := range p.weights {
		for _, v := range at.Of(w) {
			if v < 0 {
				return fmt.Errorf("convex: parameter %s weighs an atom and is negative: %v", w.Name, v)
			}
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

// Value computes the numbers.
func (n *Parametric) Value(out []float64, at affine.Values) {
	copy(out, n.base)
	n.change(out, at)
}

// change does the same to numbers that differ in what depends on parameters only.
func (n *Parametric) change(out []float64, at affine.Values) {
	for _, c := range n.changes {
		out[c.pos] = n.base[c.pos]
	}
	for _, c := range n.changes {
		out[c.pos] += c.coef * at.Entry(c.p, c.at)
	}
}

// slope is an entry of the derivative of Px + q + A'z and Ax - b in a parameter, of a column and a row, -1 for none.
type slope struct {
	p        *affine.Parameter
	at       int
	col, row int
	u, v     float64
}

// slopes visits the derivatives of u = Px + q + A'z and v = Ax - b in the entries of all parameters. What stands in one
// place several times adds up.
func (as *Assembled) slopes(x, z []float64, at affine.Values, visit func(s slope)) {
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
		value, cols, factors := q.Arg.Constant(at), slices.Repeat([]int{-1}, q.Arg.N), make([]float64, q.Arg.N)
		as.EachSquare(k, func(r, col int, f float64) {
			value[r], cols[r], factors[r] = value[r]+f*x[col], col, f
		})
		for r, col := range cols {
			if col >= 0 && q.W != nil {
				visit(slope{q.W, 0, col, -1, 2 * q.Scale * factors[r] * value[r], 0})
			}
		}
		for _, t := range q.Arg.Pars {
			t.EachEntry(func(r, j int, c float64) {
				if r = t.Row(r); cols[r] >= 0 {
					visit(slope{t.P, j, cols[r], -1, 2 * q.Weight(at) * factors[r] * c, 0})
				}
			})
		}
	}
}

// Forward returns the changes of Px + q + A'z and Ax - b for those of the parameters, of which of returns nil for none.
func (as *Assembled) Forward(x, z []float64, at affine.Values, of func(*affine.Parameter) []float64) (u, v []float64) {
	u, v = make([]float64, as.N), make([]float64, as.M)
	as.slopes(x, z, at, func(s slope) {
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
func (as *Assembled) Adjoint(x, z, u, v []float64, at affine.Values, of func(*affine.Parameter) []float64) {
	as.slopes(x, z, at, func(s slope) {
		g := of(s.p)
		if s.col >= 0 {
			g[s.at] += s.u * u[s.col]
		}
		if s.row >= 0 {
			g[s.at] += s.v * v[s.row]
		}
	})
}

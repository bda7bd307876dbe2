package solve

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Outcome is what a solve has found: a point of a program with all or some of its columns and rows, with the constants
// of the model in its objectives, and how it is completed.
type Outcome struct {
	backends.Solution
	Rounds, Active int

	Layout       *compile.Layout
	Stationarity []float64     // Px + q + A'z in the columns of the layout
	Values       affine.Values // of the parameters
	room         []float64     // of Stationarity

	// What completes the point where columns are left out, nil otherwise: the multiplier of row r of a group, and
	// the residual of stationarity in a sparse variable.
	Multiplier func(g *compile.Group, r int) float64
	Excess     func(sparse int) []float64
}

// Stopped is the result of a solve that the context ended before there was anything.
func Stopped(p *compile.Program) *Outcome {
	none := math.NaN()
	return &Outcome{
		Solution: backends.Solution{Status: backends.Cancelled, Objective: none, DualObjective: none,
			Residuals: backends.Residuals{Primal: none, Dual: none, Gap: none}},
		Layout: &compile.Layout{Program: p},
	}
}

// Result reads what a result needs from the solution of the current instance, which it owns then.
func (s *Session) Result(sol *backends.Solution) *Outcome {
	in, r := s.Current, s.Room
	if r == nil {
		r = &Outcome{}
	}
	s.Room, s.room = nil, nil
	l := in.Assembled.Layout
	*r = Outcome{Solution: *sol, room: r.room, Layout: l, Values: s.State.Values.Copy(r.Values)}
	for _, v := range s.Program.Vars[:s.Program.Users] {
		r.Active += l.Width(v)
	}
	if HasPoint(sol) {
		v := in.valuesOf(sol)
		if r.separate(in.B.Val) {
			*v = in.Values(r.X, r.Z)
		}
		r.room = append(r.room[:0], v.Stationarity...)
		r.Stationarity = r.room
		r.measure(v, in.eps)
	}
	return r
}

// measure makes the objectives and the gap those of the model, constants included. What is optimal for the backend,
// which knows no constants, and misses eps by this gap is inaccurate.
func (r *Outcome) measure(v *compile.Values, eps float64) {
	r.Objective, r.DualObjective = v.Objective, v.DualObjective
	r.Residuals.Gap = backends.RelativeGap(v.Objective, v.DualObjective)
	if r.Status != backends.Optimal {
		return
	}
	r.Distance += v.Rounding
	allowed := eps * max(1, math.Abs(v.Objective))
	switch {
	case !(r.Residuals.Gap <= eps):
		r.Status, r.Distance = backends.Inaccurate, 0
		r.say("the gap of the objective with its constants is %.1e, which misses %.1e", r.Residuals.Gap, eps)
	case v.Rounding > allowed:
		r.say("rounding may change the objective by %.1e, more than the %.1e asked for: its terms are that much larger "+
			"than their sum", v.Rounding, allowed)
	}
}

// say adds to the message.
func (r *Outcome) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.Message != "" {
		text = r.Message + "; " + text
	}
	r.Message = text
}

// Value returns the value of a variable, or nil where there is no point.
func (r *Outcome) Value(v *affine.Variable) []float64 {
	if r.X == nil {
		return nil
	}
	out := make([]float64, v.N)
	r.Layout.Expand(out, v, r.X)
	return out
}

// Dual returns the multipliers of a constraint, or nil where there are none.
func (r *Outcome) Dual(c *compile.Constraint) []float64 {
	if r.Z == nil {
		return nil
	}
	out := make([]float64, c.N)
	for _, ref := range r.Layout.Program.Refs[c] {
		for k := range ref.Rows {
			row := r.Layout.Row(ref.G.Index, ref.Row+k)
			value := 0.0
			if row >= 0 {
				value = r.Z[row]
			} else if r.Multiplier != nil {
				value = r.Multiplier(ref.G, ref.Row+k)
			}
			out[ref.First+k*ref.Step] += ref.Coef * value
		}
	}
	return out
}

// Sensitivity returns the derivative of the optimal value in a parameter, see convex.Result, or nil where there is no
// point.
func (r *Outcome) Sensitivity(p *affine.Parameter) []float64 {
	prog := r.Layout.Program
	if r.Stationarity == nil {
		return nil
	}
	out := make([]float64, p.N)
	one := []float64{1}
	r.AddSensitivity(out, prog.Objective, 1, p, func() []float64 { return one })
	for i, g := range prog.Groups {
		// s = b - Ax = expr, so z'(dA x - db) = -z' d(expr).
		r.AddSensitivity(out, g.Expr, -1, p, func() []float64 {
			return r.Layout.GroupRows(i, r.Z, make([]float64, g.Expr.N))
		})
	}
	for _, q := range prog.Squares {
		if q.W != p && !slices.ContainsFunc(q.Arg.Pars, func(t affine.Term) bool { return t.P == p }) {
			continue
		}
		square := q.Arg.Eval(r.Values, r.Value)
		if q.W == p {
			for _, v := range square {
				out[0] += q.Scale * v * v
			}
		}
		for k := range q.Arg.Pars {
			if t := &q.Arg.Pars[k]; t.P == p {
				t.Adjoint(out, 2*q.Weight(r.Values), square, r.Values)
			}
		}
	}
	return out
}

// AddSensitivity adds alpha z' d(expr)/dp.
func (r *Outcome) AddSensitivity(out []float64, expr affine.Expr, alpha float64, p *affine.Parameter,
	z func() []float64) {
	for k := range expr.Pars {
		if t := &expr.Pars[k]; t.P == p {
			t.Adjoint(out, alpha, z(), r.Values)
		}
	}
	for _, t := range expr.Vars {
		if t.W != p {
			continue
		}
		t.WeightGradient(out, alpha, z(), r.Value(t.V))
	}
}

// DualResidual returns Px + q + A'z in the entries of a variable; outside a working set what no multiplier there
// removes.
func (r *Outcome) DualResidual(v *affine.Variable) []float64 {
	if r.Stationarity == nil {
		return nil
	}
	out := make([]float64, v.N)
	if k := r.Layout.Program.SparseOf[v.ID]; k >= 0 && r.Excess != nil {
		copy(out, r.Excess(k))
	}
	r.Layout.Expand(out, v, r.Stationarity)
	return out
}

// Conic returns the point of the full conic program.
func (r *Outcome) Conic() backends.Point {
	return r.Layout.Program.NewLayout(nil).Carry(r.Layout, backends.Point{X: r.X, S: r.S, Z: r.Z}, r.Multiplier)
}

// separate cleans the multipliers of opposite rows up, and says whether it has changed any.
func (r *Outcome) separate(b []float64) (changed bool) {
	for _, pair := range r.Layout.Program.Boxes {
		for k := range pair[0].Expr.N {
			i, j := r.Layout.Row(pair[0].Index, k), r.Layout.Row(pair[1].Index, k)
			if i < 0 || j < 0 {
				continue
			}
			both := math.Min(r.Z[i], r.Z[j])
			if !(both > 0) || !(b[i]+b[j] >= 0) {
				continue
			}
			r.Z[i] -= both
			r.Z[j] -= both
			changed = true
		}
	}
	return changed
}

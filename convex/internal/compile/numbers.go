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

// Stationarity returns Px + q + A'z, and what the residual of that is divided by.
func (in *Numbers) Stationarity(x, z []float64) (r []float64, scale float64) {
	return backends.Stationarity(in.Problem(), x, z)
}

// CertificateScale is the largest sum of absolute terms of an entry of A'z, by which an error of A'z is measured.
func (in *Numbers) CertificateScale(z []float64) float64 {
	as, a, scale := in.Assembled, in.A.Val, 0.0
	for j := range as.N {
		sum := 0.0
		for k := as.Ptr[j]; k < as.Ptr[j+1]; k++ {
			sum += math.Abs(a[k] * z[as.Ind[k]])
		}
		scale = max(scale, sum)
	}
	return scale
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

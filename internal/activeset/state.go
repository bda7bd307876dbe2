package activeset

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/factor"
)

// side is where a hinge is.
type side int8

const (
	below side = iota // multiplier 0
	above             // multiplier H
	kink              // a'x = b
)

// kind is a kind of constraint.
type kind int8

const (
	limit kind = iota
	hinge
	ball
)

// entry is a constraint.
type entry struct {
	kind  kind
	index int
}

// Solver keeps the constraints held from one program to the next.
type Solver struct {
	p    *Problem
	used [][]Use // for each hinge, the limits in which it stands

	x                     []float64
	limits, hinges, balls []float64 // multipliers
	side                  []side
	on, ballOn            []bool

	// On the path: values of rows and balls without what is left of the shifts, and the shifts.
	value, shift         []float64
	ballValue, ballShift []float64
	residual             []float64 // r
	dx, dm               []float64
	dvalue, dball        []float64
	dlimit               []float64 // rates of the multipliers of limits
	fastest              float64   // the largest rate of rows and balls
	barred               []entry   // let go since the last step along the path
	near                 []int     // the hinges that are looked at
	weightless           bool      // there are hinges without any weight
	free                 bool      // some hinges may have no weight: those of limits that are not held

	// held are the constraints that hold with equality, as step lists them. Normals are those that are no rows: of limits
	// that belong to no block, and of balls.
	*arrow
	held                []entry
	pin                 []int // the limit that pins a variable
	globals             []int // limits held that belong to no block
	g                   factor.Cholesky
	open                []int // links that are not pinned, in the order of the factor g
	opened              []int // place of each link in it
	worn                bool  // g has to be made anew
	limitNormal, normal [][]float64
	inv                 []float64 // 1/M
	delta               []float64 // of each row
	curvature           []float64 // multipliers of the balls in M
	d, val              []float64 // numbers of the program in the factor
	fresh               bool      // M and the normals are those of this point
	stale               bool      // there is no factor

	exchanges, most int
	since           int // exchanges since the factor was made
	failed          bool
	stop            func() bool
	halted          bool // stop has returned true

	// For the step; see step.go.
	small                    factor.Cholesky
	u, gu                    [][]float64
	f, h                     []float64
	dl, dmu                  []float64
	dpin, miss               []float64
	w, base, sum, rhs, along []float64
}

// NewSolver returns a solver that holds nothing yet.
func NewSolver(p *Problem) *Solver {
	p.prepare()
	n, m := len(p.D), len(p.Right)
	s := &Solver{p: p, used: make([][]Use, len(p.Hinges)),
		limits: make([]float64, len(p.Limits)), hinges: make([]float64, len(p.Hinges)), balls: make([]float64, len(p.Balls)),
		side: make([]side, len(p.Hinges)), on: make([]bool, len(p.Limits)), ballOn: make([]bool, len(p.Balls)),
		limitNormal: make([][]float64, len(p.Limits)), normal: make([][]float64, len(p.Balls)), val: make([]float64, len(p.Val))}
	for _, v := range []*[]float64{&s.x, &s.residual, &s.dx, &s.inv, &s.d, &s.w, &s.base, &s.sum} {
		*v = make([]float64, n)
	}
	for _, v := range []*[]float64{&s.value, &s.shift, &s.dvalue, &s.delta} {
		*v = make([]float64, m)
	}
	for _, v := range []*[]float64{&s.ballValue, &s.ballShift, &s.dball, &s.curvature} {
		*v = make([]float64, len(p.Balls))
	}
	s.arrow = p.arrange()
	s.miss = make([]float64, len(s.links))
	s.pin, s.opened = make([]int, n), make([]int, len(s.links))
	for i := range p.Limits {
		if s.leaf[i] == none && s.home[i] == none {
			s.limitNormal[i] = make([]float64, n)
		}
	}
	s.dlimit = make([]float64, len(p.Limits))
	for b := range p.Balls {
		s.normal[b] = make([]float64, n)
	}
	return s
}

// weigh notes for each hinge in which limits it stands.
func (s *Solver) weigh() {
	for k := range s.used {
		s.used[k] = s.used[k][:0]
	}
	for i, l := range s.p.Limits {
		for _, u := range l.Uses {
			s.used[u.Hinge] = append(s.used[u.Hinge], Use{Hinge: i, Weight: u.Weight})
		}
	}
	s.weightless = false
	for k, h := range s.p.Hinges {
		s.weightless = s.weightless || h.Cost == 0 && len(s.used[k]) == 0
	}
}

// Start takes what is held from a point: what has a multiplier larger than its slack, and hinges whose
// multiplier is inside its bounds. It returns how many constraints change by that.
func (s *Solver) Start(pt Point) (changes int) {
	const inside = 1e-5
	p := s.p
	on, ballOn, sides := slices.Clone(s.on), slices.Clone(s.ballOn), slices.Clone(s.side)
	copy(s.x, pt.X)
	copy(s.limits, pt.Limit)
	copy(s.hinges, pt.Hinge)
	copy(s.balls, pt.Ball)
	s.weigh()
	s.evaluate()
	for i := range p.Limits {
		if s.on[i] = pt.Limit[i] > 0 && pt.Limit[i] > -s.limitValue(i); !s.on[i] {
			s.limits[i] = 0
		}
	}
	for b := range p.Balls {
		if s.ballOn[b] = pt.Ball[b] > 0 && pt.Ball[b] > -s.ballValue[b]; !s.ballOn[b] {
			s.balls[b] = 0
		}
	}
	for k := range p.Hinges {
		top := s.bound(k)
		switch y := pt.Hinge[k]; {
		case s.idle(k):
			s.side[k] = s.bySign(k)
		case y < inside*top:
			s.side[k] = below
		case y > (1-inside)*top:
			s.side[k] = above
		default:
			s.side[k] = kink
		}
	}
	s.stale = true
	return different(on, s.on) + different(ballOn, s.ballOn) + different(sides, s.side)
}

// different counts the entries in which two lists differ.
func different[T comparable](a, b []T) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// Point returns the current values and multipliers, shared with the solver.
func (s *Solver) Point() Point {
	return Point{X: s.x, Limit: s.limits, Hinge: s.hinges, Ball: s.balls}
}

// halt asks stop, in loops that may take long; what they leave undone needs a new Start.
func (s *Solver) halt() bool {
	s.halted = s.halted || s.stop != nil && s.stop()
	return s.halted
}

// Exchanges is the number of exchanges of the last Solve.
func (s *Solver) Exchanges() int { return s.exchanges }

// Held is the number of constraints that hold with equality.
func (s *Solver) Held() int { return len(s.held) }

// Blocks is the number of blocks that the program falls into but for a few links.
func (s *Solver) Blocks() int { return len(s.blocks) }

// HingeValue is max(0, a'x - b) of hinge k at the current point, exactly 0 at its kink.
func (s *Solver) HingeValue(k int) float64 {
	if s.side[k] == kink {
		return 0
	}
	return math.Max(0, s.value[s.p.Hinges[k].Row])
}

// Bound is H_k at the current point, the upper bound of the multiplier of hinge k.
func (s *Solver) Bound(k int) float64 { return s.bound(k) }

// bound is H_k.
func (s *Solver) bound(k int) float64 {
	h := s.p.Hinges[k].Cost
	for _, u := range s.used[k] {
		h += u.Weight * s.limits[u.Hinge]
	}
	return h
}

// idle says that nothing weighs the hinge now, so that its side is that of its sign.
func (s *Solver) idle(k int) bool {
	if s.p.Hinges[k].Cost > 0 {
		return false
	}
	for _, u := range s.used[k] {
		if s.on[u.Hinge] {
			return false
		}
	}
	return true
}

func (s *Solver) bySign(k int) side {
	if s.value[s.p.Hinges[k].Row] > 0 {
		return above
	}
	return below
}

// evaluate computes the values of all rows and balls.
func (s *Solver) evaluate() {
	p := s.p
	for r := range s.value {
		s.value[r] = p.dot(r, s.x) - p.Right[r]
	}
	for b, q := range p.Balls {
		v := s.value[q.Row]
		for k, j := range q.Index {
			v += q.Kappa[k] * s.x[j] * s.x[j] / 2
		}
		s.ballValue[b] = v
	}
}

// limitValue is the left side of a limit minus its right side, hinges and all.
func (s *Solver) limitValue(i int) float64 {
	l := &s.p.Limits[i]
	v := s.value[l.Row]
	for _, u := range l.Uses {
		v += u.Weight * math.Max(0, s.value[s.p.Hinges[u.Hinge].Row])
	}
	return v
}

// multiplier points at the multiplier.
func (s *Solver) multiplier(e entry) *float64 {
	switch e.kind {
	case limit:
		return &s.limits[e.index]
	case ball:
		return &s.balls[e.index]
	}
	return &s.hinges[e.index]
}

// ownMultipliers gives the constraints that are not held the multiplier of their side, and keeps those of the others in
// their bounds.
func (s *Solver) ownMultipliers() {
	for i := range s.limits {
		if s.limits[i] = math.Max(0, s.limits[i]); !s.on[i] {
			s.limits[i] = 0
		}
	}
	for b := range s.balls {
		if s.balls[b] = math.Max(0, s.balls[b]); !s.ballOn[b] {
			s.balls[b] = 0
		}
	}
	for k := range s.hinges {
		switch top := s.bound(k); s.side[k] {
		case below:
			s.hinges[k] = 0
		case above:
			s.hinges[k] = top
		default:
			s.hinges[k] = math.Min(math.Max(0, s.hinges[k]), top)
		}
	}
}

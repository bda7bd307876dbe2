package sparse

import (
	"context"
	"math"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// solve is one run: the iterate and what is known of it.
type solve struct {
	leastsquares.Point
	w1, w2 []float64
	o      Options

	alive []int     // features that are not proven to be zero
	c     []float64 // X'u / n of the last outer iteration
	free  *basis    // of the columns without a penalty; nil if there are none

	objective, bound, gap  float64
	outer, epochs, newtons int
	progress               progress
}

func newSolve(g *leastsquares.Data, w1, w2 []float64, o Options) *solve {
	p := g.X.Columns()
	s := &solve{Point: leastsquares.NewPoint(g), w1: w1, w2: w2, o: o, c: make([]float64, p), alive: make([]int, 0, p), bound: math.Inf(-1)}
	var free []int
	for j := range p {
		if g.Norm2[j] == 0 {
			continue // its coefficient is zero, or arbitrary
		}
		s.alive = append(s.alive, j)
		if w1[j] == 0 && w2[j] == 0 {
			free = append(free, j)
		}
	}
	if len(free) > 0 {
		s.free = newBasis(g, free)
	}
	if o.Start != nil {
		for _, j := range s.alive {
			s.B[j] = o.Start.B[j]
		}
	}
	return s
}

// run is the outer loop.
func (s *solve) run(ctx context.Context) lower.Status {
	s.Begin(ctx)
	s.gap = math.Inf(1)
	size := 0
	for {
		if s.Stop.Look() {
			return lower.Cancelled
		}
		s.Residual()
		u := s.R
		if s.free != nil {
			u = s.free.project(s.R)
		}
		if s.correlate(u); s.Stop.Look() {
			return lower.Cancelled
		}
		s.objective = s.value()
		bound, scale := s.dual(s.alive, u, s.c)
		s.bound = math.Max(s.bound, bound)
		s.gap = math.Max(0, s.objective-s.bound)
		switch {
		case s.gap <= s.o.Tol*s.Scale:
			return lower.Optimal
		case s.exhausted():
			return lower.Exhausted
		case s.epochs >= s.o.MaxEpochs:
			return lower.EpochLimit
		case s.progress.stalled(s.gap):
			return lower.Stalled
		}
		s.screen(scale, s.objective-bound)
		size = max(size, firstSet, 2*s.used())
		s.outer++
		share := innerShare * s.gap
		if !(share <= math.MaxFloat64) { // any point would do, without an epoch, again and again
			share = 0
		}
		s.inner(s.workingSet(scale, size), share)
	}
}

const (
	// firstSet is the size of the first working set.
	firstSet = 100
	// innerShare is the accuracy of the problem over a working set, as a share of the
	// gap of the whole problem.
	innerShare = 0.03
)

// progress notices that the gap does not fall any more.
type progress struct {
	least float64 // gap so far
	idle  int     // rounds since it fell
	begun bool
}

// mostIdleRounds bounds the rounds in a row that leave the gap as it is.
const mostIdleRounds = 100

// stalled says whether the gap of a round, and those of many before it, are no progress.
func (p *progress) stalled(gap float64) bool {
	if !p.begun || gap < 0.99*p.least {
		*p = progress{least: gap, begun: true}
	} else {
		p.idle++
	}
	return p.idle > mostIdleRounds
}

// correlate sets c for all features that are not discarded.
func (s *solve) correlate(u []float64) {
	if s.outer == 0 && s.free == nil && s.used() == 0 {
		for _, j := range s.alive {
			s.c[j] = s.XtY[j] / s.N
		}
		return
	}
	leastsquares.Parallel(len(s.alive), s.o.Threads, func(lo, hi int) {
		var end stop.Stop
		end.Begin(s.Ctx, 0)
		for _, j := range s.alive[lo:hi] {
			if end.Reached(s.X.Len(j)) {
				return
			}
			s.c[j] = s.X.Dot(j, u) / s.N
		}
	})
}

// used counts the coefficients that are not zero.
func (s *solve) used() int {
	k := 0
	for _, j := range s.alive {
		if s.B[j] != 0 {
			k++
		}
	}
	return k
}

// value is the objective.
func (s *solve) value() float64 { return s.Loss(s.R, s.Off) + s.penalty(s.alive, s.B) }

func (s *solve) penalty(cols []int, b []float64) float64 {
	sum := 0.0
	for _, j := range cols {
		if v := b[j]; v != 0 {
			sum += s.w1[j]*math.Abs(v) + s.w2[j]*v*v/2
		}
	}
	return sum
}

// violation is the distance of the gradient of the loss to minus the subgradients of
// the penalty of feature j.
func (s *solve) violation(j int) float64 {
	c := s.c[j] - s.w2[j]*s.B[j]
	switch {
	case s.B[j] > 0:
		return math.Abs(c - s.w1[j])
	case s.B[j] < 0:
		return math.Abs(c + s.w1[j])
	}
	return math.Max(0, math.Abs(c)-s.w1[j])
}

// rounding is the share of |x_j| |y| that is taken for the rounding error of x_j'u.
const rounding = 4e-16

// exhausted says that no feature violates its condition by more than rounding explains.
func (s *solve) exhausted() bool {
	unit := rounding * math.Sqrt(s.Scale*2*s.N)
	if s.free != nil && s.free.length(s.R) > unit {
		return false
	}
	for _, j := range s.alive {
		if s.violation(j)*s.N > unit*math.Sqrt(s.Norm2[j]) {
			return false
		}
	}
	return true
}

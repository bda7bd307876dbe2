package native

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	apart "github.com/conetune/conetune/backends/internal/scaling"
	"github.com/conetune/conetune/internal/indices"
)

// scaling holds the diagonal matrices D and E and the number c of the scaled
// problem
//
//	P' = c DPD, q' = c Dq, A' = EAD, b' = Eb,   x = D x', s = E^-1 s', z = E z' / c,
//
// found by the method of Ruiz (2001): rows and columns of [P A'; A 0] are
// divided by the square root of their largest entry until these are near 1.
// The rows of a cone that is no product of intervals share one factor, so that it stays itself.
type scaling struct {
	d, e     []float64
	c        float64
	col, row []float64
	// baseD and baseE are where the rounds begin, and what scaleMin and scaleMax are relative to.
	baseD, baseE []float64
	apart        apart.Scaling
	// The least entries of D, and of E in the equations.
	leastD, leastE float64
}

const (
	// Ruiz converges linearly; ten rounds bring a factor 1e6 down to about 1 %,
	// and data of a usual kind need three or four.
	ruizRounds = 10
	// The rounds end when every row and column norm is this near to 1.
	ruizTolerance = 0.3
	// A factor is kept in this range, so that empty rows and columns and
	// extreme numbers do no harm.
	scaleMin, scaleMax = 1e-4, 1e4
)

func (sc *scaling) init(f *form) {
	allocate(f.n, &sc.d, &sc.col)
	allocate(f.m, &sc.e, &sc.row, &sc.baseE)
	sc.c = 1
}

// begin takes ones, or the factors of package scaling where rows or columns are so far apart that the rounds would
// not bring them together.
func (sc *scaling) begin(f *form) {
	sc.apart.Find(f.user)
	d, e := sc.apart.Factors()
	if sc.baseD = slices.Clip(d); f.columns != nil {
		sc.baseD = indices.Pick(d, f.columns)
	}
	for i, r := range f.row {
		sc.baseE[i] = e[r.user]
	}
	for _, l := range f.links { // near one where its rows are
		sc.baseD = append(sc.baseD, 1/sc.baseE[l.child])
	}
	copy(sc.d, sc.baseD)
	copy(sc.e, sc.baseE)
}

// compute finds D and E, which do not depend on q and b, for the unscaled numbers in f.
func (sc *scaling) compute(f *form) {
	sc.begin(f)
	limit := func(v, base float64) float64 { return min(max(v, scaleMin*base), scaleMax*base) }
	for range ruizRounds {
		if sc.norms(f); f.stop.Reached(vectorWork*f.n + 2*vectorWork*f.m) {
			return
		}
		worst := 0.0
		factor := func(norm float64) float64 {
			if norm == 0 {
				return 1
			}
			worst = max(worst, math.Abs(1-norm))
			return 1 / math.Sqrt(norm)
		}
		for j, v := range sc.col {
			sc.d[j] = limit(sc.d[j]*factor(v), sc.baseD[j])
		}
		linear := f.zero + f.nonneg
		for i, v := range sc.row[:linear] {
			sc.e[i] = limit(sc.e[i]*factor(v), sc.baseE[i])
		}
		at := linear
		for _, c := range f.blocks {
			dim := c.Dim
			// one factor a cone: of the geometric mean of its row norms
			sum, count := 0.0, 0
			for _, v := range sc.row[at : at+dim] {
				if v > 0 {
					sum += math.Log(v)
					count++
				}
			}
			v := factor(math.Exp(sum / float64(max(count, 1))))
			for i := at; i < at+dim; i++ {
				sc.e[i] = limit(sc.e[i]*v, sc.baseE[i])
			}
			at += dim
		}
		if worst < ruizTolerance {
			break
		}
	}
	sc.leastD, sc.leastE = least(sc.d), least(sc.e[:f.zero])
}

// least returns the least entry of v, infinity if there is none.
func least(v []float64) float64 {
	m := math.Inf(1)
	for _, x := range v {
		m = min(m, x)
	}
	return m
}

// norms computes the largest entries of the columns of [P; A] and of the rows
// of A, scaled by the current D and E.
func (sc *scaling) norms(f *form) {
	clear(sc.col)
	clear(sc.row)
	for j := range f.n {
		if f.stop.Reached(vectorWork + 2*int(f.p.ptr[j+1]-f.p.ptr[j]+f.a.ptr[j+1]-f.a.ptr[j])) {
			return
		}
		for k := f.p.ptr[j]; k < f.p.ptr[j+1]; k++ {
			i := f.p.ind[k]
			v := math.Abs(f.p.val[k]) * sc.d[i] * sc.d[j]
			sc.col[j] = max(sc.col[j], v)
			sc.col[i] = max(sc.col[i], v)
		}
		top, dj := sc.col[j], sc.d[j]
		val := f.a.val[f.a.ptr[j]:f.a.ptr[j+1]]
		for k, i := range f.a.ind[f.a.ptr[j]:f.a.ptr[j+1]] {
			v := math.Abs(val[k]) * sc.e[i] * dj
			if v > top { // not max: there is no NaN
				top = v
			}
			if v > sc.row[i] {
				sc.row[i] = v
			}
		}
		sc.col[j] = top
	}
}

// objective chooses c so that the larger of the mean column norm of P and the
// norm of q becomes 1.
func (sc *scaling) objective(f *form) {
	sum, norm := 0.0, 0.0
	for j := range f.n {
		if f.stop.Reached(vectorWork + 2*int(f.p.ptr[j+1]-f.p.ptr[j])) {
			return
		}
		top := 0.0
		for k := f.p.ptr[j]; k < f.p.ptr[j+1]; k++ {
			top = max(top, math.Abs(f.p.val[k])*sc.d[f.p.ind[k]]*sc.d[j])
		}
		sum += top
		norm = max(norm, math.Abs(f.q[j])*sc.d[j])
	}
	sc.c = 1
	if v := max(sum/float64(max(f.n, 1)), norm); v > 0 {
		sc.c = 1 / v
	}
}

// apply scales A.
func (sc *scaling) apply(f *form) {
	for j := range f.n {
		if f.stop.Reached(vectorWork + int(f.a.ptr[j+1]-f.a.ptr[j])) {
			return
		}
		dj := sc.d[j]
		for k := f.a.ptr[j]; k < f.a.ptr[j+1]; k++ {
			f.a.val[k] *= sc.e[f.a.ind[k]] * dj
		}
	}
}

// applyObjective scales P and q.
func (sc *scaling) applyObjective(f *form) {
	for j := range f.n {
		if f.stop.Reached(vectorWork + int(f.p.ptr[j+1]-f.p.ptr[j])) {
			return
		}
		dj := sc.d[j]
		for k := f.p.ptr[j]; k < f.p.ptr[j+1]; k++ {
			f.p.val[k] *= sc.c * sc.d[f.p.ind[k]] * dj
		}
		f.q[j] *= sc.c * dj
	}
}

// pending is which numbers of the problem are to be taken before a Solve: those of a constant and of the ones before.
type pending uint8

const (
	newRightSide pending = 1 + iota // b
	newObjective                    // q
	newMatrices                     // P and A
)

// Solve does what is left of the set-up and runs the method.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	out := new(backends.Solution)
	if err := s.SolveInto(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// SolveInto is Solve for a solution of the caller's.
func (s *solver) SolveInto(ctx context.Context, out *backends.Solution) error {
	s.stop.Begin(ctx, s.options.TimeLimit)
	defer s.stop.End()
	begin := time.Now()
	if l := newLowRank(&s.user, &s.stop, s.options.Memory); l != nil {
		ready := time.Now()
		if sol := l.solve(s.options.Judge(&s.user), s.options); sol != nil {
			if *out = *sol; s.warm != nil {
				out.Message = "the warm start was not used, as it takes no time to find a multiplier of low rank from nothing"
			}
			s.warm, s.resume = nil, false
			out.SetupTime, out.SolveTime = s.setup+ready.Sub(begin), time.Since(ready)
			return nil
		}
	}
	err := s.prepare()
	ready := time.Now()
	s.setup += ready.Sub(begin)
	if errors.Is(err, errStopped) {
		*out = backends.Solution{Status: endOf(&s.stop), Message: "ended within the set-up", SetupTime: s.setup}
		return nil
	}
	if err != nil {
		return err
	}
	sol := s.run.run(ctx, s.options, s.warm, s.resume)
	s.warm, s.resume = nil, sol.Status == backends.Optimal
	room := backends.Point{X: out.X, S: out.S, Z: out.Z}.Copy(backends.Point{X: sol.X, S: sol.S, Z: sol.Z})
	*out = *sol
	out.X, out.S, out.Z, out.History = room.X, room.S, room.Z, s.run.history
	out.SetupTime, out.SolveTime = s.setup, time.Since(ready)
	return nil
}

// prepare does what there is to do before the method can run. What was finished stays, and
// an error leaves the rest for the next time.
func (s *solver) prepare() error {
	if s.form != nil && s.pending != 0 && !slices.Equal(s.form.uses, usesOf(&s.user)) {
		s.form, s.run, s.pending = nil, nil, newMatrices
	}
	if s.form == nil {
		f, err := newForm(&s.user, &s.stop, s.options.Threads, s.options.Memory)
		if err != nil {
			return err
		}
		s.form = f
	}
	if s.run == nil {
		s.form.memory.taken, s.form.kkt = s.form.bytes, 0 // what an attempt before took is gone
		r, err := newRunner(s.form)
		if err != nil {
			return err
		}
		s.run = r
	}
	if s.pending == 0 {
		return nil
	}
	f := s.form
	f.fill(&s.user, s.pending)
	if s.pending >= newObjective { // it scales P
		if err := s.load(); err != nil {
			return err
		}
	}
	if f.stop.Reached(0) {
		return errStopped
	}
	s.run.judge = s.options.Judge(&s.user)
	s.pending = 0
	return nil
}

// load puts the numbers of the form into the Newton systems, which are analysed
// anew if these numbers do not allow the elimination of columns.
func (s *solver) load() error {
	if s.run.k.load() || s.form.stop.Reached(0) {
		return nil
	}
	k, err := newKKT(s.form, s.run.cones, true)
	if err != nil {
		s.run = nil // its cones have another form already
		return err
	}
	s.run.k, s.run.direct.root, s.run.direct.rooted = k, nil, false
	k.load()
	return nil
}

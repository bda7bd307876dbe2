// Package adapter is what the adapters of solver libraries share: a problem with its updates, its scaling, and the
// points of a Solve judged on the caller's data. An adapter adds a [Library], the form in which its library sees a
// problem, and its settings.
package adapter

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/scaling"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/mirror"
	"github.com/conetune/conetune/internal/stop"
)

// Library is a solver library with one problem. The data that it is given are those of the caller in the scale of the
// library.
type Library interface {
	backends.Solver // by a [Solver] that is embedded
	common() *Solver
	// Make sets the problem up anew.
	Make(data *backends.Problem) error
	// Push gives a problem that is set up the new numbers u of data. After an error it is set up anew.
	Push(data *backends.Problem, u backends.Update) error
	// Run solves the problem.
	Run(ctx context.Context, r *Run) (*backends.Solution, error)
	// Free lets go what Make has set up, if there is anything.
	Free()
}

// Solver implements [backends.Solver] and [backends.Tightener] by a library. It leaves to backends.Open what that does
// for all backends: no calls after Close, cones that the library has, points of the right lengths, times.
type Solver struct {
	User    backends.Problem  // the caller's problem with the updates so far
	Scale   *scaling.Scaling  // from User to Data, nil for none
	Data    *backends.Problem // what the library has, nil before Make
	Options backends.Options
	// Warm is what WarmStart gave for the next Run, and GoOn says that only the tolerance has changed since the last.
	Warm *backends.Point
	GoOn bool

	// NoRescaling gives the library badly scaled problems as they are.
	NoRescaling bool

	library Library
	ended   bool // a Run, and neither numbers nor start have changed since
}

var (
	_ backends.Solver    = (*Solver)(nil)
	_ backends.Tightener = (*Solver)(nil)
)

// Setup sets p up with the library that open returns for the settings of the options, which pass the checks.
func Setup[T any](
	b backends.ConicBackend, p *backends.Problem, o backends.Options, checks func(T) []Check,
	open func(set T, o backends.Options) Library,
) (backends.Solver, error) {
	set, err := settings(o, b.Name(), checks)
	if err != nil {
		return nil, err
	}
	return Begin(open(set, o.WithDefaults()), p, o)
}

// Begin sets p up with a library.
func Begin(l Library, p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s := l.common()
	s.User, s.Options, s.library = *p, o.WithDefaults(), l
	if err := s.Renew(); err != nil {
		return nil, err
	}
	return l, nil
}

func (s *Solver) common() *Solver { return s }

// Renew sets up anew from the caller's problem.
func (s *Solver) Renew() error {
	s.Drop()
	scale := s.scaling(&s.User)
	data := scale.Problem(&s.User)
	if err := s.library.Make(data); err != nil {
		return err
	}
	s.Scale, s.Data = scale, data
	return nil
}

func (s *Solver) scaling(p *backends.Problem) *scaling.Scaling {
	if s.NoRescaling {
		return nil
	}
	return scaling.New(p)
}

// Drop frees the library's part; the next Solve sets up anew.
func (s *Solver) Drop() {
	s.library.Free()
	s.Data, s.GoOn, s.ended = nil, false, false
}

// Update changes the numbers in place, or sets up anew where the library does not take them so. Badly scaled matrices
// are scaled anew, by the next Solve.
func (s *Solver) Update(u backends.Update) error {
	s.GoOn, s.ended = false, false
	next := s.User.Updated(u)
	matrices := u.P != nil || u.A != nil
	switch {
	case s.Data == nil:
	case matrices && (s.Scale != nil || s.scaling(&next) != nil):
		s.Drop()
	default:
		if s.push(&next, u) == nil {
			break
		}
		old := s.User
		s.User = next
		if err := s.Renew(); err != nil {
			s.User = old
			return err
		}
	}
	s.User = next
	return nil
}

// push gives the library the numbers u of next, whose matrices are not scaled if they are new.
func (s *Solver) push(next *backends.Problem, u backends.Update) error {
	data := *s.Data
	if u.P != nil {
		data.P = next.P
	}
	if u.A != nil {
		data.A = next.A
	}
	if u.Q != nil {
		data.Q = s.Scale.Objective(next.Q)
		u.Q = data.Q
	}
	if u.B != nil {
		data.B = s.Scale.Rows(next.B)
		u.B = data.B
	}
	err := s.library.Push(&data, u)
	if err == nil {
		s.Data = &data
	}
	return err
}

// SetEps changes the tolerance.
func (s *Solver) SetEps(eps float64) error {
	s.Options.Eps, s.GoOn = eps, s.ended
	return nil
}

// WarmStart keeps the point for the next Solve.
func (s *Solver) WarmStart(p backends.Point) error {
	s.Warm = &backends.Point{X: slices.Clone(p.X), S: slices.Clone(p.S), Z: slices.Clone(p.Z)}
	s.GoOn, s.ended = false, false
	return nil
}

// farStart is how many times larger than the data the residuals of a start may be.
const farStart = 1e3

// Far says whether a start is so much farther from a solution than zero, whose residuals are q and b, that a
// first-order method would take longer from there.
func (s *Solver) Far(start backends.Point) bool {
	p := &s.User
	x, z := start.X, start.Z
	if x == nil {
		x = make([]float64, len(p.Q))
	}
	if z == nil {
		z = make([]float64, len(p.B))
	}
	dual, _ := backends.Stationarity(p, x, z)
	primal, slack := 0.0, p.Slack(x)
	for row, c := range backends.Rows(p.Cones) {
		primal = max(primal, c.Distance(slack[row:row+c.Dim]))
	}
	size := func(v []float64) float64 { return max(1, dense.MaxAbs(v)) }
	return !(size(dual) <= farStart*size(p.Q) && primal <= farStart*size(p.B))
}

// Close frees the memory of the library.
func (s *Solver) Close() error {
	s.Drop()
	return nil
}

// Solve runs the library.
func (s *Solver) Solve(ctx context.Context) (*backends.Solution, error) {
	r := &Run{
		Limit: stop.Limit(ctx, s.Options.TimeLimit), Judge: s.Options.Judge(&s.User), Excess: math.Inf(1),
		Stop: new(mirror.Interrupt), solver: s, begin: time.Now(),
	}
	defer r.watch(ctx)()
	if s.Data == nil {
		if err := s.Renew(); err != nil {
			return nil, err
		}
	}
	if s.Warm != nil && s.Far(*s.Warm) {
		s.Warm = nil
	}
	s.ended = true
	out, err := s.library.Run(ctx, r)
	s.GoOn = false
	if err != nil {
		return nil, err
	}
	out.Iterations = r.Iterations
	return out, nil
}

package native

import (
	"context"
	"errors"
	"time"

	"github.com/conetune/conetune/backends"
)

// pending is what has to be done with the numbers of the problem before a Solve.
type pending uint8

const (
	newObjective pending = 1 << iota // q
	newRightSide                     // b
	newMatrices                      // P and A
	allNumbers   = newObjective | newRightSide | newMatrices
)

// Solve does what is left of the set-up and runs the method.
func (s *solver) Solve(ctx context.Context) (*backends.Solution, error) {
	s.stop.Begin(ctx, s.options.TimeLimit)
	defer s.stop.End()
	begin := time.Now()
	err := s.prepare()
	ready := time.Now()
	s.setup += ready.Sub(begin)
	if errors.Is(err, errStopped) {
		return &backends.Solution{Status: endOf(&s.stop), Message: "ended within the set-up", SetupTime: s.setup}, nil
	}
	if err != nil {
		return nil, err
	}
	sol := s.run.run(ctx, s.options, s.settings, s.warm, s.resume)
	s.warm, s.resume = nil, sol.Status == backends.Optimal
	sol.SetupTime, sol.SolveTime = s.setup, time.Since(ready)
	return sol, nil
}

// prepare does what there is to do before the method can run. What was finished stays, and
// an error leaves the rest for the next time.
func (s *solver) prepare() error {
	if s.form == nil {
		f, err := newForm(&s.user, &s.stop, s.options.Memory)
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
	switch {
	case s.pending&newMatrices != 0:
		f.fill(&s.user)
	case s.pending&newObjective != 0:
		f.fillObjective(&s.user)
		f.fillRightSide(&s.user)
	default:
		f.fillRightSide(&s.user)
	}
	if s.pending&(newMatrices|newObjective) != 0 { // the objective scales P
		if f.stop.Reached(0) {
			return errStopped
		}
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
	k, err := newNewton(s.form, s.run.cones, s.run.starts, true)
	if err != nil {
		s.run = nil // its cones have another form already
		return err
	}
	s.run.k, s.run.direct.root = k, nil
	k.load()
	return nil
}

// Package stop ends long computations in time, when their context ends or their
// time is over.
//
// A computation of one goroutine shares one [Stop] and tells it, now and then, how much it has
// done since; every millisecond or so of work the context and the clock are looked at.
// Once the end is reached it stays reached: loops leave at once, and what they leave
// behind is unfinished. Whoever would keep a result asks [Stop.Reached] first.
//
// A [Stop] starts no goroutine, so that it works where nothing runs beside a
// computation, as in js/wasm.
package stop

import (
	"context"
	"errors"
	"time"
)

// Interval is the work between two looks at the context and the clock, in
// operations of about a nanosecond.
const Interval = 1 << 20

// Stop says when to end. A nil Stop never does. It is for one goroutine.
type Stop struct {
	ctx      context.Context
	deadline time.Time // zero: none
	interval int
	left     int // work until the next look
	cause    error
	reached  bool
}

// Every returns a Stop that looks after so much work, for tests; the zero Stop takes [Interval].
func Every(work int) *Stop { return &Stop{interval: work} }

// Begin arms s for a computation that ends with ctx or, if limit is positive, after
// that time. A computation before is forgotten.
func (s *Stop) Begin(ctx context.Context, limit time.Duration) {
	if s.interval <= 0 {
		s.interval = Interval
	}
	*s = Stop{ctx: ctx, interval: s.interval, left: s.interval}
	if limit > 0 {
		s.deadline = time.Now().Add(limit)
	}
}

// Copy is a Stop for another goroutine that works for the same computation.
func (s *Stop) Copy() *Stop {
	if s == nil {
		return nil
	}
	out := *s
	return &out
}

// End lets the context go; s is never reached until the next Begin.
func (s *Stop) End() { *s = Stop{interval: s.interval} }

// Reached says whether to end, work being what was done since the last call. It
// looks at the context and the clock only when enough work has come together.
func (s *Stop) Reached(work int) bool {
	if s == nil {
		return false
	}
	if s.left -= work; s.left > 0 {
		return s.reached
	}
	return s.Look()
}

// Look is Reached with a look at the context and the clock in any case.
func (s *Stop) Look() bool {
	if s == nil {
		return false
	}
	s.left = s.interval
	if s.reached || s.ctx == nil {
		return s.reached
	}
	if s.cause = s.ctx.Err(); s.cause == nil {
		s.cause = s.late()
	}
	s.reached = s.cause != nil
	return s.reached
}

// late says whether the time is over. The deadline of the context counts also
// where the timer that ends it has had no turn.
func (s *Stop) late() error {
	at, ok := s.ctx.Deadline()
	if s.deadline.IsZero() && !ok {
		return nil
	}
	now := time.Now()
	if !s.deadline.IsZero() && !now.Before(s.deadline) || ok && !now.Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}

// Limit returns the time that a computation has which begins now, 0 for no bound: the
// limit, if it is positive, or less if ctx has a deadline before.
func Limit(ctx context.Context, limit time.Duration) time.Duration {
	if at, ok := ctx.Deadline(); ok {
		if left := max(time.Until(at), time.Nanosecond); limit <= 0 || left < limit {
			return left
		}
	}
	return max(0, limit)
}

// Cause says why the end was reached: context.DeadlineExceeded when the time was over,
// else what the context says; nil if it was not reached.
func (s *Stop) Cause() error {
	if s == nil {
		return nil
	}
	return s.cause
}

// Patience is how long computations may take to notice that their context has ended, before nobody waits for them any
// more. With what there is to do afterwards, an interrupted command is to end within a tenth of a second.
const Patience = 25 * time.Millisecond

// ErrLeft says that a computation was left to itself.
var ErrLeft = errors.New("stop: nobody waits for it any more")

// Wait returns what f returns, which runs beside, or [ErrLeft] where ctx has ended and f has not been done so much
// patience later: then f is left to itself, and the caller uses nothing of what it works on. A panic of f is one of the
// caller.
func Wait[T any](ctx context.Context, patience time.Duration, f func() (T, error)) (T, error) {
	if ctx.Done() == nil {
		return f()
	}
	type outcome struct {
		result T
		err    error
		panic  any
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			ended <- o
		}()
		o.result, o.err = f()
	}()
	var o outcome
	select {
	case o = <-ended:
	case <-ctx.Done():
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case o = <-ended:
		case <-timer.C:
			o.err = ErrLeft
		}
	}
	if o.panic != nil {
		panic(o.panic)
	}
	return o.result, o.err
}

// Do is [Wait] with [Patience]; where nobody waits for f, the result is what is said to be unfinished.
func Do[T any](ctx context.Context, unfinished T, f func() (T, error)) (T, error) {
	result, err := Wait(ctx, Patience, f)
	if errors.Is(err, ErrLeft) {
		return unfinished, nil
	}
	return result, err
}

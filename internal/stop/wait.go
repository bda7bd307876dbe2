package stop

import (
	"context"
	"time"
)

// Patience is how long computations may take to notice that their context has ended, before nobody waits for them any
// more. With what there is to do afterwards, an interrupted command is to end within a tenth of a second.
const Patience = 25 * time.Millisecond

// Wait returns what f returns, which runs beside, or false where ctx has ended and f has not been done [Patience]
// later: then f is left to itself, and the caller uses nothing of what it works on. A panic of f is one of the caller.
func Wait[T any](ctx context.Context, f func() T) (result T, done bool) {
	return WaitFor(ctx, Patience, f)
}

// WaitFor is Wait with another patience.
func WaitFor[T any](ctx context.Context, patience time.Duration, f func() T) (result T, done bool) {
	if ctx.Done() == nil {
		return f(), true
	}
	type outcome struct {
		result T
		panic  any
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			ended <- o
		}()
		o.result = f()
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
			return result, false
		}
	}
	if o.panic != nil {
		panic(o.panic)
	}
	return o.result, true
}

// Do is [Wait] for an f with an error; where nobody waits for it, the result is what is said to be unfinished.
func Do[T any](ctx context.Context, unfinished T, f func() (T, error)) (T, error) {
	type both struct {
		result T
		err    error
	}
	b, done := Wait(ctx, func() (b both) {
		b.result, b.err = f()
		return b
	})
	if !done {
		return unfinished, nil
	}
	return b.result, b.err
}

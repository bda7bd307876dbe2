package backends

import (
	"context"
	"errors"
)

// EndedBy returns the status of a Solve that ended because its context did: TimeLimit
// after a deadline, else Cancelled. It panics if the context is nil.
func EndedBy(ctx context.Context) Status {
	if ctx == nil {
		panic("backends: EndedBy: the context is nil")
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return TimeLimit
	}
	return Cancelled
}

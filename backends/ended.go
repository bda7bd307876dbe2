package backends

import (
	"context"
	"errors"
)

// EndedBy returns the status of a Solve that ended because its context did: TimeLimit
// after a deadline, else Cancelled.
func EndedBy(ctx context.Context) Status {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return TimeLimit
	}
	return Cancelled
}

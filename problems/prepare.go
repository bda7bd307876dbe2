package problems

import (
	"context"
	"time"
)

// perNumber is the least that it takes, for each of its numbers, to make a table ready for a fit: its rows are put
// together, its columns summed and multiplied with each other.
const perNumber = 8 * time.Nanosecond

// Prepare is what to ask before a table of so many numbers is made ready for a fit, none of which can be stopped
// within: it returns the error of the context where that has ended, and [context.DeadlineExceeded] where it will have
// ended before the fit begins.
func Prepare(ctx context.Context, numbers int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && time.Until(at) < time.Duration(numbers)*perNumber {
		return context.DeadlineExceeded
	}
	return nil
}

package backendtest

import (
	"context"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/planted"
)

// planted asks for the answers to programs that package planted makes, of which none may
// be wrong, and nine in ten must be given. The command conicfuzz does the same at length.
func (s suite) planted(run planted.Run) func(*testing.T) {
	return func(t *testing.T) {
		run.Backends, run.Options, run.First = []backends.ConicBackend{s.backend}, s.options.backend(), 1
		run.Options.MaxIterations = 20000 // enough for the methods of first order to be right or to give up
		tally := run.Do(context.Background())
		for _, f := range tally.Findings {
			t.Errorf("%v, %v: %v: %s", f.ID, f.Class, f.Outcome, f.Detail)
		}
		right, all := 0, 0
		for row, c := range tally.Counts {
			if row.Class != planted.Weak {
				right, all = right+c.Outcomes[planted.Right], all+c.Total()
			}
		}
		if all < run.N/2 || right < all*9/10 {
			t.Errorf("%d of %d answers are right, the others undecided, expected 9 in 10", right, all)
		}
	}
}

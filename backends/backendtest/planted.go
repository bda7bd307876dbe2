package backendtest

import (
	"cmp"
	"context"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/planted"
)

// planted asks for the answers to programs that package planted makes, of which none may be wrong, and so many must be
// given as the options say. The command conicfuzz does the same at length.
func (s suite) planted(run planted.Run) func(*testing.T) {
	return func(t *testing.T) {
		run.Backends, run.Options, run.First = []backends.ConicBackend{s.backend}, s.options.backend(), 1
		run.Options.MaxIterations = cmp.Or(s.options.MaxIterations, 500)
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
		least := cmp.Or(s.options.Answers, 0.9)
		if all < run.N/2 || float64(right) < least*float64(all) {
			t.Errorf("%d of %d answers are right, the others undecided, expected a share of %g", right, all, least)
		}
	}
}

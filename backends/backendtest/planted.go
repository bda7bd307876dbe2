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
		for _, fault := range run.Do(context.Background()).Faults(cmp.Or(s.options.Answers, 0.9), run.N/2) {
			t.Error(fault)
		}
	}
}

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

// hostile has programs that no one means seriously, with limits that leave most of them undecided. Every call has to
// return, with an error or with a solution whose parts are finite and of the right lengths. After numbers as large as
// there are, a solver answers as if nothing had been. The environment variables HOSTILE_FIRST and HOSTILE_SEEDS replace
// the first seed and their number.
func (s suite) hostile(t *testing.T) {
	run := planted.Run{Mode: planted.Hostile, Backends: []backends.ConicBackend{s.backend},
		Options: backends.Options{Settings: s.options.Settings}, First: uint64(fromEnvironment("HOSTILE_FIRST", 1)),
		N: fromEnvironment("HOSTILE_SEEDS", 300)}
	for _, fault := range run.Do(context.Background()).Faults(0, 1) {
		t.Error(fault)
	}
}

package tune

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/table/input"
)

// runBootstrap makes the choice on samples of the rows, of which the report has those that have a model.
func (job *tuneJob) runBootstrap(ctx context.Context, o *input.Outer, show *progress) (err error) {
	at := show.counted("bootstrap", job.bootstrap, "samples")
	if job.sampled, err = job.Bootstrap(ctx, o, job.bootstrap, job.Data.Seed, at); err != nil {
		return cli.Failed(fmt.Errorf("--bootstrap: %w", job.run.Rows.Explain(err)))
	}
	if len(job.sampled.Samples) > 0 { // else it was interrupted
		job.run.Bootstrap = job.sampled
	}
	return nil
}

// tellBootstrap says which samples have no model, and returns the exit status of that.
func tellBootstrap(a *cli.App, b *evaluate.Bootstrap) int {
	if b == nil {
		return cli.ExitDone
	}
	if b.Failed > 0 {
		a.Note("conetune: --bootstrap: %d of %d samples have no model: %v", b.Failed, b.Of, b.Why)
	}
	if b.Stopped {
		a.Note("conetune: --bootstrap: interrupted after %d of %d samples", len(b.Samples)+b.Failed, b.Of)
		return cli.ExitInterrupted
	}
	return cli.ExitDone
}

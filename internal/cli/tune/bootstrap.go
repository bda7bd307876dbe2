package tune

import (
	"context"
	"fmt"
	"time"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/table/input"
)

// runBootstrap makes the choice on samples of the rows.
func (job *tuneJob) runBootstrap(ctx context.Context, o *input.Outer, show *progress) (*evaluate.Bootstrap, error) {
	at := func(done int) {
		show.Show(0, 0, func(time.Time) string {
			return fmt.Sprintf("bootstrap: %d of %d samples", done, job.bootstrap)
		})
	}
	at(0)
	b, err := job.choice().Bootstrap(ctx, o, job.bootstrap, job.Data.Seed, at)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("--bootstrap: %w", job.run.Rows.Explain(err)))
	}
	if len(b.Samples) == 0 { // interrupted
		return nil, nil
	}
	return b, nil
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

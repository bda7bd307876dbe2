package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/conetune/conetune/tune"
)

// progress is the line on a terminal that says how far a run is. How many
// iterations there will be is not known, so that it shows numbers and not a share.
type progress struct {
	bar *progressbar.ProgressBar // nil when nobody looks
}

func (a *app) newProgress(job *tuneJob) *progress {
	if !a.terminal() || job.verbose {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetDescription(job.spec.name),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *progress) show(e tune.Event) {
	if p.bar == nil {
		return
	}
	p.bar.Describe(fmt.Sprintf("iteration %d  validation %.4g  step %.2g  violation %.2g  gap %.2g", e.K, e.Validation, e.Step, e.T, e.Gap))
	_ = p.bar.Add(1) // a bar that cannot be drawn stops nothing
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

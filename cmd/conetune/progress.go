package main

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/conetune/conetune/tune"
)

// progress is the line on a terminal that says how far a run is. How many
// iterations there will be is not known, so that it shows numbers and not a share.
type progress struct {
	container *mpb.Progress // nil when nobody looks
	bar       *mpb.Bar
	text      atomic.Value // string

	evaluations int // of a search
}

func (a *app) newProgress(job *tuneJob) *progress {
	p := &progress{evaluations: cmp.Or(job.evaluations, tune.DefaultEvaluations)}
	if !a.terminal() || job.verbose {
		return p
	}
	p.text.Store(job.spec.name)
	p.container = mpb.New(mpb.WithOutput(a.stderr), mpb.WithRefreshRate(65*time.Millisecond), mpb.WithAutoRefresh())
	p.bar = p.container.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(2),
		mpb.AppendDecorators(
			decor.Any(func(decor.Statistics) string { return p.text.Load().(string) + "  " }),
			decor.Elapsed(decor.ET_STYLE_GO),
		),
		mpb.BarRemoveOnComplete(),
	)
	return p
}

func (p *progress) show(e tune.Event) {
	if p.bar == nil {
		return
	}
	if searches(e.Method) {
		best := math.NaN()
		if e.Best != nil {
			best = *e.Best
		}
		p.text.Store(fmt.Sprintf("%s  evaluation %d of %d  best validation %.4g", e.Method, e.K, p.evaluations, best))
		p.bar.Increment()
		return
	}
	p.text.Store(fmt.Sprintf("iteration %d  validation %.4g  step %.2g  violation %.2g  gap %.2g", e.K, e.Validation, e.Step, e.T, e.Gap))
	p.bar.Increment()
}

// clear removes the line.
func (p *progress) clear() {
	if p.bar == nil {
		return
	}
	p.bar.Abort(true)
	p.container.Wait()
}

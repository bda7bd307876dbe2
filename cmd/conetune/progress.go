package main

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/conetune/conetune/tune"
)

// progress is the line on a terminal that says how far a run is. How many
// iterations there will be is not known, so that it shows numbers and not a share.
type progress struct {
	bar  *bar         // nil when nobody looks
	text atomic.Value // string

	evaluations int // of a search
}

func (a *app) newProgress(job *tuneJob) *progress {
	p := &progress{evaluations: cmp.Or(job.evaluations, tune.DefaultEvaluations)}
	if !a.terminal() || job.verbose {
		return p
	}
	p.text.Store(job.spec.name)
	p.bar = newSpinner(a.stderr, func() string { return p.text.Load().(string) })
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
		p.bar.step()
		return
	}
	p.text.Store(fmt.Sprintf("iteration %d  validation %.4g  step %.2g  violation %.2g  gap %.2g", e.K, e.Validation, e.Step, e.T, e.Gap))
	p.bar.step()
}

// clear removes the line.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.clear()
	}
}

package main

import (
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/tune"
)

// progress is the line on a terminal that says what a run is at, and how long it may still take where that can be told. With -v it is
// lines of the log instead; else, where nobody looks, nothing.
type progress struct {
	line func(text func() string) *bar // nil without a terminal
	bar  *bar                          // nil where there is no line now
	log  *slog.Logger                  // nil without -v

	sync.Mutex // of the rest, which the line is made of while the run goes on
	phase      func(now time.Time) string
	rest       rest
	event      string // about the last iteration
}

func (a *app) newProgress(job *tuneJob) *progress {
	p := &progress{log: a.logger(job.verbose), rest: rest{limit: job.timeLimit}}
	if a.terminal() && !job.verbose {
		p.line = func(text func() string) *bar { return newSpinner(a.stderr, text) }
	}
	return p
}

// set changes what the line says, and starts it where there is none.
func (p *progress) set(phase func(now time.Time) string) {
	p.Lock()
	p.phase = phase
	p.Unlock()
	switch {
	case p.bar != nil:
		p.bar.step()
	case p.line != nil:
		p.bar = p.line(func() string { return p.text(time.Now()) })
	}
}

// at shows a stage outside of the methods.
func (p *progress) at(stage string) {
	if p.log != nil {
		p.log.Info("stage", "at", stage)
	}
	p.set(func(time.Time) string { return stage })
}

// begin shows where a method is.
func (p *progress) begin(at tune.Place) {
	if p.log != nil {
		p.log.Info("stage", "method", at.Method, "at", at.String())
	}
	if p.line == nil {
		return
	}
	p.Lock()
	if p.rest.begin(at, time.Now()) {
		p.event = ""
	}
	p.Unlock()
	p.set(func(now time.Time) string {
		text := at.Method + "  " + at.String()
		for _, more := range []string{p.event, p.rest.text(now)} {
			if more != "" {
				text += "  " + more
			}
		}
		return text
	})
}

// show shows the numbers of an iteration.
func (p *progress) show(e tune.Event) {
	if p.line == nil {
		return
	}
	p.Lock()
	defer p.Unlock()
	if !e.Iterates() {
		if p.event = ""; e.Best != nil {
			p.event = fmt.Sprintf("best validation %.4g", *e.Best)
		}
		return
	}
	p.event = fmt.Sprintf("validation %.4g  step %.2g", e.Validation, e.Step)
	p.rest.iterated(math.Max(e.Step, e.T), time.Now())
}

// text is the line now.
func (p *progress) text(now time.Time) string {
	p.Lock()
	defer p.Unlock()
	return p.phase(now)
}

// clear removes the line, until the next stage begins.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.clear()
		p.bar = nil
	}
}

// rest estimates how long a method still takes:
//
//   - of a search, as long for each point that is left as for those before;
//   - of VF-iDCA, as many iterations as the measure of its stopping test takes to fall below the tolerance, where it falls as it did, each as
//     long as those before; at most those that are left until the bound on their number, where that is near.
//
// It says nothing where it does not know, and never more than a time limit leaves.
type rest struct {
	limit  time.Duration // 0: none
	method string
	begun  time.Time // the method

	place  tune.Place
	since  time.Time // the stage began
	passed time.Time // the last point or iteration ended
	last   []float64 // the measures of the last iterations
	times  []time.Duration
}

// window is the number of iterations that an estimate looks back on.
const window = 4

// nearBound is the number of iterations left of which a bound tells something.
const nearBound = 20

// falling is the factor per iteration below which the measure of the stopping test is said to fall.
const falling = 0.9

// begin is told of every place, and whether what was said of an iteration is over by it.
func (r *rest) begin(at tune.Place, now time.Time) (over bool) {
	before := r.place
	r.place = at
	if at.Method != r.method {
		r.method, r.begun = at.Method, now
		before = tune.Place{}
		over = true
	}
	if over || kind(at) != kind(before) {
		r.since, r.passed = now, now
		r.last, r.times = nil, nil
		return true
	}
	if at.Point != before.Point {
		r.passed = now
	}
	return false
}

// kind tells points of a start, points of a search and iterations apart.
func kind(at tune.Place) dca.Stage {
	switch {
	case at.Stage == dca.StageSubproblem || at.Stage == dca.StageConstrained && at.Points == 0:
		return dca.StageConstrained
	case at.Iteration == 0 && at.Stage == dca.StageConstrained:
		return dca.StagePenalty
	}
	return at.Stage
}

// iterated is told of every iteration of VF-iDCA.
func (r *rest) iterated(measure float64, now time.Time) {
	r.last = append(r.last, measure)
	r.times = append(r.times, now.Sub(r.passed))
	if len(r.last) > window {
		r.last, r.times = r.last[1:], r.times[1:]
	}
	r.passed = now
}

// text is empty where nothing is known.
func (r *rest) text(now time.Time) string {
	d, word := r.estimate(now)
	if r.limit > 0 {
		if left := max(0, r.limit-now.Sub(r.begun)); word == "" || left < d {
			d, word = left, "at most"
		}
	}
	if word == "" {
		return ""
	}
	if d < time.Second {
		return "less than 1s left"
	}
	return fmt.Sprintf("%s %s left", word, d.Round(time.Second))
}

// estimate returns the time and how sure it is, an empty word for unknown.
func (r *rest) estimate(now time.Time) (d time.Duration, word string) {
	at := r.place
	switch {
	case at.Stage == tune.StageSearch && at.Point > 0:
		return left(r.passed.Sub(r.since), float64(at.Point), float64(at.Points-at.Point), now.Sub(r.passed)), "about"
	case len(r.last) == 0 || at.Iteration == 0:
		return 0, ""
	}
	bound := float64(at.MaxIter - at.Iteration + 1)
	mean, n := time.Duration(0), len(r.last)
	for _, t := range r.times {
		mean += t
	}
	if n > 1 && r.last[n-1] > 0 {
		factor := math.Pow(r.last[n-1]/r.last[0], 1/float64(n-1))
		if factor < falling && at.Tol > 0 {
			more := max(1, math.Ceil(math.Log(at.Tol/r.last[n-1])/math.Log(factor)))
			return left(mean, float64(n), min(more, bound), now.Sub(r.passed)), "about"
		}
	}
	if bound <= nearBound {
		return left(mean, float64(n), bound, now.Sub(r.passed)), "at most"
	}
	return 0, ""
}

// left is the time of more pieces of work, some of which has passed, where done took so long.
func left(taken time.Duration, done, more float64, passed time.Duration) time.Duration {
	return max(0, time.Duration(float64(taken)/done*more)-passed)
}

package tune

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/tune"
)

// progress says what a run of conetune tune is at: on a terminal, and with -v in the log.
type progress struct {
	*cli.Status
	log   *slog.Logger // nil without -v
	rest  rest
	event string // about the last iteration
}

// at shows a stage outside of the methods.
func (p *progress) at(stage string) {
	if p.log != nil {
		p.log.Info("stage", "at", stage)
	}
	p.Show(0, 0, func(time.Time) string { return stage })
}

// counted shows how much of a stage is done, of so many of something, and nothing to begin with.
func (p *progress) counted(stage string, all int, what string) func(done int) {
	show := func(done int) {
		p.Show(0, 0, func(time.Time) string { return fmt.Sprintf("%s: %d of %d %s", stage, done, all, what) })
	}
	show(0)
	return show
}

// begin shows where a method is.
func (p *progress) begin(at dca.Place) {
	if p.log != nil {
		p.log.Info("stage", "method", at.Method, "at", at.String())
	}
	p.Lock()
	if p.rest.begin(at, time.Now()) {
		p.event = ""
	}
	event, rest := p.event, p.rest
	p.Unlock()
	p.Show(0, 0, func(now time.Time) string {
		text := at.Method + "  " + at.String()
		for _, more := range []string{event, rest.text(now)} {
			if more != "" {
				text += "  " + more
			}
		}
		return text
	})
}

// iterated keeps what there is to say of an iteration.
func (p *progress) iterated(e tune.Event) {
	p.Lock()
	defer p.Unlock()
	switch {
	case e.Iterates():
		p.event = fmt.Sprintf("validation %.4g  step %.2g", e.Validation, e.Step)
	case e.Best != nil:
		p.event = fmt.Sprintf("best validation %.4g", *e.Best)
	}
}

// rest estimates how long a method still takes: a search as long for each point that is left as for those before, any
// other at most what a time limit leaves.
type rest struct {
	limit         time.Duration // 0: none
	place         dca.Place
	begun         time.Time // the method
	since, passed time.Time // the stage began, and its last point ended
}

// begin is told of every place, and says whether another stage begins with it than the iterations of the one before.
func (r *rest) begin(at dca.Place, now time.Time) bool {
	before := r.place
	if r.place = at; at.Method != before.Method {
		r.begun = now
	}
	if at.Method == before.Method && at.Stage == before.Stage {
		if at.Point != before.Point {
			r.passed = now
		}
		return false
	}
	r.since, r.passed = now, now
	return at.Method != before.Method || at.Stage == dca.StageFinal
}

// text is empty where nothing is known.
func (r *rest) text(now time.Time) string {
	left, word := time.Duration(0), ""
	if at := r.place; at.Stage == dca.StageSearch && at.Point > 0 {
		each := r.passed.Sub(r.since) / time.Duration(at.Point)
		left, word = max(0, each*time.Duration(at.Points-at.Point)-now.Sub(r.passed)), "about"
	}
	if r.limit > 0 {
		if most := max(0, r.limit-now.Sub(r.begun)); word == "" || most < left {
			left, word = most, "at most"
		}
	}
	switch {
	case word == "":
		return ""
	case left < time.Second:
		return "less than 1s left"
	}
	return fmt.Sprintf("%s %s left", word, left.Round(time.Second))
}

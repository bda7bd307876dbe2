package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// solveProgress is the line on a terminal that says how far a solve is. It is a handler of the solver's log records, one an
// iteration.
type solveProgress struct {
	w io.Writer // nil when nobody looks

	sync.Mutex // of the rest, as a solver that nobody waits for goes on
	bar        *bar
	text       string
	over       bool
}

func (a *app) newSolveProgress(verbose bool) *solveProgress {
	if !a.terminal() || verbose {
		return &solveProgress{}
	}
	return &solveProgress{w: a.stderr}
}

// logger returns the logger that feeds the line, nil when nobody looks.
func (p *solveProgress) logger() *slog.Logger {
	if p.w == nil {
		return nil
	}
	return slog.New(p)
}

// Enabled, Handle, WithAttrs and WithGroup are those of slog.Handler.
func (p *solveProgress) Enabled(context.Context, slog.Level) bool { return true }

func (p *solveProgress) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "iteration", "objective", "primal", "dual", "gap":
			if v, ok := a.Value.Any().(float64); ok {
				text += fmt.Sprintf("  %s %.3g", a.Key, v)
			} else {
				text += fmt.Sprintf("  %s %v", a.Key, a.Value)
			}
		}
		return true
	})
	p.Lock()
	defer p.Unlock()
	if p.text = text; p.bar == nil && !p.over {
		p.bar = newSpinner(p.w, func() string {
			p.Lock()
			defer p.Unlock()
			return p.text
		})
	}
	return nil
}

func (p *solveProgress) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p *solveProgress) WithGroup(string) slog.Handler      { return p }

// clear removes the line.
func (p *solveProgress) clear() {
	p.Lock()
	bar := p.bar
	p.over = true
	p.Unlock()
	if bar != nil {
		bar.clear()
	}
}

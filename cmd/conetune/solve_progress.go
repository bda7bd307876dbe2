package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
)

// solveProgress is the line on a terminal that says how far a solve is. It is a
// handler of the solver's log records, one an iteration.
type solveProgress struct {
	w     io.Writer // nil when nobody looks
	shown time.Time
	any   bool
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

// The time between two updates of the line.
const refresh = 100 * time.Millisecond

// clearLine goes to the start of the line and empties it.
const clearLine = "\r\x1b[K"

// Enabled, Handle, WithAttrs and WithGroup are those of slog.Handler.
func (p *solveProgress) Enabled(context.Context, slog.Level) bool { return true }

func (p *solveProgress) Handle(_ context.Context, r slog.Record) error {
	if now := time.Now(); now.Sub(p.shown) < refresh {
		return nil
	} else {
		p.shown, p.any = now, true
	}
	var b strings.Builder
	b.WriteString(clearLine + r.Message)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "iteration", "objective", "primal", "dual", "gap":
			if v, ok := a.Value.Any().(float64); ok {
				fmt.Fprintf(&b, "  %s %.3g", a.Key, v)
			} else {
				fmt.Fprintf(&b, "  %s %v", a.Key, a.Value)
			}
		}
		return true
	})
	_, err := io.WriteString(p.w, b.String())
	return err
}

func (p *solveProgress) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p *solveProgress) WithGroup(string) slog.Handler      { return p }

// clear removes the line.
func (p *solveProgress) clear() {
	if p.any {
		_, _ = io.WriteString(p.w, clearLine)
	}
}

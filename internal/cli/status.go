package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/worklist"
)

// refresh is how often the line is drawn, barWidth how wide its bar is.
const refresh, barWidth = 100 * time.Millisecond, 24

// Status is the line on a terminal that says what goes on; where nobody looks there is none.
type Status struct {
	w          io.Writer  // nil where nobody looks
	columns    func() int // of the terminal
	sync.Mutex            // of the rest, as the line is drawn while work goes on
	line       *line      // nil where there is none now
	done, all  int
	text       func(now time.Time) string
}

// line is drawn again and again until it is stopped; what is drawn is so many columns wide.
type line struct {
	w          io.Writer
	begun      time.Time
	stop, gone chan struct{}
	wide       int
}

// NewStatus is the line of a command; with -v its log takes the place.
func (a *App) NewStatus(verbose bool) *Status {
	f, ok := a.Stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || verbose {
		return &Status{}
	}
	return &Status{w: f, columns: func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}}
}

// Show changes the line, and starts it where there is none. So much of all the work is done, 0 where that is not known.
func (s *Status) Show(done, all int, text func(now time.Time) string) {
	s.Lock()
	defer s.Unlock()
	if s.done, s.all, s.text = done, all, text; s.line == nil && s.w != nil {
		s.line = &line{w: s.w, begun: time.Now(), stop: make(chan struct{}), gone: make(chan struct{})}
		go s.draw(s.line)
	}
}

// draw draws a line until it is stopped, and removes it.
func (s *Status) draw(l *line) {
	defer close(l.gone)
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			fmt.Fprint(l.w, "\r"+strings.Repeat(" ", l.wide)+"\r")
			return
		case now := <-ticker.C:
			text, wide := cut(s.words(now, now.Sub(l.begun)), s.columns()-1)
			fmt.Fprint(l.w, "\r"+text+strings.Repeat(" ", max(0, l.wide-wide)))
			l.wide = wide
		}
	}
}

// words are those of the line: how much of a known amount of work is done, or for how long it goes on.
func (s *Status) words(now time.Time, passed time.Duration) string {
	s.Lock()
	defer s.Unlock()
	text := textfile.Printable(s.text(now))
	if s.all <= 0 {
		return text + "  " + passed.Round(time.Second).String()
	}
	full := barWidth * min(s.done, s.all) / s.all
	return fmt.Sprintf("[%s%s] %d of %d  %s", strings.Repeat("=", full), strings.Repeat("-", barWidth-full), s.done, s.all, text)
}

// cut is as much of a text as fits into so many columns, and its width.
func cut(text string, columns int) (string, int) {
	wide := 0
	for k, r := range text {
		one := 1
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			one = 2
		}
		if wide+one > columns {
			return text[:k], wide
		}
		wide += one
	}
	return text, wide
}

// Work shows how far a list of work is, and how long the rest may take where that is known.
func (s *Status) Work(p worklist.Progress) {
	s.Show(p.Done, p.All, func(time.Time) string {
		if p.Left > 0 {
			return "about " + p.Left.Round(time.Second).String() + " left"
		}
		return ""
	})
}

// Clear removes the line until it is shown again.
func (s *Status) Clear() {
	s.Lock()
	l := s.line
	s.line = nil
	s.Unlock()
	if l != nil {
		close(l.stop)
		<-l.gone
	}
}

// End removes the line, whatever a solver that nobody waits for still says.
func (s *Status) End() {
	s.Lock()
	s.w = nil
	s.Unlock()
	s.Clear()
}

// Logger has the records of a solver's iterations shown; nil where nobody looks.
func (s *Status) Logger() *slog.Logger {
	if s.w == nil {
		return nil
	}
	return slog.New(iterations{s})
}

// iterations is a handler of log records, one an iteration.
type iterations struct{ *Status }

// Enabled, Handle, WithAttrs and WithGroup are those of slog.Handler.
func (iterations) Enabled(context.Context, slog.Level) bool { return true }

func (i iterations) Handle(_ context.Context, r slog.Record) error {
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
	i.Show(0, 0, func(time.Time) string { return text })
	return nil
}

func (i iterations) WithAttrs([]slog.Attr) slog.Handler { return i }
func (i iterations) WithGroup(string) slog.Handler      { return i }

// Logger writes the solver's iterations to standard error, if asked to.
func (a *App) Logger(verbose bool) *slog.Logger {
	if !verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

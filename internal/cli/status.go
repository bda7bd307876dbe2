package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/conetune/conetune/internal/worklist"
)

// Status is the line on a terminal that says what goes on; where nobody looks there is none.
type Status struct {
	w          io.Writer // nil where nobody looks
	sync.Mutex           // of the rest, as the line is drawn while work goes on
	bar        *bar      // nil where there is no line now
	text       func(now time.Time) string
}

// NewStatus is the line of a command; with -v its log takes the place.
func (a *App) NewStatus(verbose bool) *Status {
	if f, ok := a.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !verbose {
		return &Status{w: f}
	}
	return &Status{}
}

// Show changes the line, and starts it where there is none. So much of all the work is done, 0 where that is not known.
func (s *Status) Show(done, all int, text func(now time.Time) string) {
	s.Lock()
	if s.text = text; s.bar == nil && s.w != nil {
		s.bar = newBar(s.w, int64(all), func() string {
			s.Lock()
			defer s.Unlock()
			return s.text(time.Now())
		})
	}
	bar := s.bar
	s.Unlock()
	if bar != nil && all > 0 {
		bar.set(int64(done)) // which may wait for the text
	}
}

// Work shows how far a list of work is, and how long the rest may take where that is known.
func (s *Status) Work(p worklist.Progress) {
	s.Show(p.Done, p.All, func(time.Time) string {
		if left := p.Left(); left > 0 {
			return "about " + left.Round(time.Second).String() + " left"
		}
		return ""
	})
}

// Clear removes the line until it is shown again.
func (s *Status) Clear() {
	s.Lock()
	bar := s.bar
	s.bar = nil
	s.Unlock()
	if bar != nil {
		bar.clear()
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
	return slog.New(records(s.iteration))
}

// iteration shows the record of an iteration.
func (s *Status) iteration(r slog.Record) error {
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
	s.Show(0, 0, func(time.Time) string { return text })
	return nil
}

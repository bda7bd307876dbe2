package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/conetune/conetune/internal/textfile"
)

// Logger writes the records of solvers and methods to standard error, if asked to.
func (a *App) Logger(verbose bool) *slog.Logger {
	if !verbose {
		return nil
	}
	return slog.New(records((&lines{w: a.Stderr}).write))
}

// records is a handler of log records of all levels, without attributes and groups of its own.
type records func(r slog.Record) error

// Enabled, Handle, WithAttrs and WithGroup are those of slog.Handler.
func (records) Enabled(context.Context, slog.Level) bool        { return true }
func (h records) Handle(_ context.Context, r slog.Record) error { return h(r) }
func (h records) WithAttrs([]slog.Attr) slog.Handler            { return h }
func (h records) WithGroup(string) slog.Handler                 { return h }

// lines writes log records for people: those that begin with a number of an iteration are the rows of a table, whose
// names stand above the first one, and others are a line each.
type lines struct {
	w io.Writer
	sync.Mutex
	names []string // of the table that the last record is in
}

func (l *lines) write(r slog.Record) error {
	l.Lock()
	defer l.Unlock()
	var names, values []string
	r.Attrs(func(a slog.Attr) bool {
		value := textfile.Printable(a.Value.String())
		if a.Value.Kind() == slog.KindFloat64 {
			value = fmt.Sprintf("%.4g", a.Value.Float64())
		}
		names, values = append(names, a.Key), append(values, value)
		return true
	})
	var text strings.Builder
	if len(names) == 0 || names[0] != "iteration" {
		l.names = nil
		text.WriteString(r.Message)
		for i, name := range names {
			fmt.Fprintf(&text, "  %s %s", name, values[i])
		}
	} else {
		row := func(cells []string) {
			for i, cell := range cells {
				fmt.Fprintf(&text, "%*s", max(12, len(names[i])+2), cell)
			}
		}
		if !slices.Equal(names, l.names) {
			l.names = names
			row(names)
			text.WriteByte('\n')
		}
		row(values)
	}
	text.WriteByte('\n')
	_, err := io.WriteString(l.w, text.String())
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table/input"
)

// The exit statuses of the command line.
const (
	exitDone        = 0
	exitUnsolved    = 1
	exitUsage       = 2
	exitInternal    = 70 // EX_SOFTWARE of sysexits.h
	exitMemory      = 71 // EX_OSERR
	exitInterrupted = 130
)

// exitError is an error with the exit status that it leads to. An error without
// one comes from the parsing of the command line and means bad usage.
type exitError struct {
	code int
	err  error // nil when everything has been said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// badInput says that the command line or a file is at fault.
func badInput(err error) error { return &exitError{exitUsage, err} }

func badInputf(format string, args ...any) error { return badInput(fmt.Errorf(format, args...)) }

// failed says that the run is at fault.
func failed(err error) error { return &exitError{exitUnsolved, err} }

// errInterrupted ends a command, errMemory is the cause of a context that the watchdog has cancelled.
var (
	errInterrupted = &exitError{exitInterrupted, errors.New("interrupted")}
	errMemory      = errors.New("out of memory")
)

// app is where a command reads and writes.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	args           []string          // the command line
	flags          *strings.Replacer // puts flags in the place of options
	claimed        string            // the flag whose file goes to standard output
}

// end turns the error of a command into the exit status, and says what there is to say.
func (a *app) end(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitUsage
	var known *exitError
	var lost *outputError
	switch {
	case errors.As(err, &known):
		code = known.code
	case errors.As(err, &lost):
		code = exitUnsolved
	}
	if code == exitInterrupted && context.Cause(ctx) == errMemory {
		code = exitMemory // and the watchdog has said so
		if errors.Is(err, errInterrupted) {
			return code
		}
	}
	if text := a.flags.Replace(err.Error()); text != "" {
		a.note("conetune: %s", strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	}
	return code
}

// note writes a line to standard error; a message is all it is, so nothing is
// done about a failure. Names of files and columns in it cannot command a terminal.
func (a *app) note(format string, args ...any) {
	_, _ = io.WriteString(a.stderr, textfile.Printable(fmt.Sprintf(format, args...))+"\n")
}

// printJSON writes one object on one line to standard output.
func (a *app) printJSON(v any) error {
	if err := writeJSON(a.stdout, v); err != nil {
		return failed(err)
	}
	return nil
}

// writeJSON writes one object on one line. Numbers that are not finite, which JSON has no way to write, are null: one of them is no
// reason to lose the others.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	var unsupported *json.UnsupportedValueError
	if !errors.As(err, &unsupported) {
		return err
	}
	text, err := finitejson.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// print writes a finished text for people to standard output, or to standard error where a file goes to standard
// output. Names in it cannot command a terminal.
func (a *app) print(text string) error {
	w := a.stdout
	if a.claimed != "" {
		w = a.stderr
	}
	if _, err := io.WriteString(w, textfile.Printable(text)); err != nil {
		return failed(err)
	}
	return nil
}

// terminal says whether standard error is one.
func (a *app) terminal() bool {
	f, ok := a.stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interruptible runs work that does not watch a context, such as reading a file,
// and stops waiting for it when the context ends.
func interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	o, done := stop.WaitFor(ctx, 0, func() (o outcome) {
		o.value, o.err = work()
		return o
	})
	if !done {
		return o.value, errInterrupted
	}
	return o.value, o.err
}

// tell writes the findings about the tables, a line for each.
func (a *app) tell(notes []input.Note) {
	for _, n := range notes {
		a.note("%s: %s", n.File, strings.ReplaceAll(n.Text, "\n", " "))
	}
}

// flagged are findings with flags in the place of options.
func flagged(flags *strings.Replacer, notes []input.Note) []input.Note {
	for k := range notes {
		notes[k].Text = flags.Replace(notes[k].Text)
	}
	return notes
}

// Package cli has what all commands of conetune share: where they read and write, their errors and exit statuses,
// flags, the line of status, and lists of work.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table"
)

// The exit statuses of the command line.
const (
	ExitDone        = 0
	ExitUnsolved    = 1
	ExitUsage       = 2
	ExitInternal    = 70 // EX_SOFTWARE of sysexits.h
	ExitMemory      = 71 // EX_OSERR
	ExitInterrupted = 130
)

// ExitError is an error with the exit status that it leads to. An error without
// one comes from the parsing of the command line and means bad usage.
type ExitError struct {
	Code int
	err  error // nil when everything has been said already
}

func (e *ExitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *ExitError) Unwrap() error { return e.err }

// BadInput says that the command line or a file is at fault; nil where there is no error.
func BadInput(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{ExitUsage, err}
}

func BadInputf(format string, args ...any) error { return BadInput(fmt.Errorf(format, args...)) }

// Failed says that the run is at fault.
func Failed(err error) error { return &ExitError{ExitUnsolved, err} }

// errInterrupted ends a command, errMemory is the cause of a context that the watchdog has cancelled.
var (
	ErrInterrupted = &ExitError{ExitInterrupted, errors.New("interrupted")}
	ErrMemory      = errors.New("out of memory")
)

// App is where a command reads and writes.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Args           []string          // the command line
	Flags          *strings.Replacer // puts flags in the place of options
	claimed        string            // the flag whose file goes to standard output
}

// End turns the error of a command into the exit status, and says what there is to say.
func (a *App) End(ctx context.Context, err error) int {
	if err == nil {
		return ExitDone
	}
	code := ExitUsage
	var known *ExitError
	var lost *outputError
	switch {
	case errors.As(err, &known):
		code = known.Code
	case errors.As(err, &lost):
		code = ExitUnsolved
	}
	if code == ExitInterrupted && context.Cause(ctx) == ErrMemory {
		code = ExitMemory // and the watchdog has said so
		if errors.Is(err, ErrInterrupted) {
			return code
		}
	}
	if text := a.Flags.Replace(err.Error()); text != "" {
		a.Note("conetune: %s", strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	}
	return code
}

// Note writes a line to standard error; a message is all it is, so nothing is
// done about a failure. Names of files and columns in it cannot command a terminal.
func (a *App) Note(format string, args ...any) {
	_, _ = io.WriteString(a.Stderr, textfile.Printable(fmt.Sprintf(format, args...))+"\n")
}

// PrintJSON writes one object on one line to standard output.
func (a *App) PrintJSON(v any) error {
	if err := WriteJSON(a.Stdout, v); err != nil {
		return Failed(err)
	}
	return nil
}

// WriteJSON writes one object on one line. Numbers that are not finite, which JSON has no way to write, are null: one
// of them is no reason to lose the others.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); !ok {
		return err
	}
	text, err := finitejson.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Print writes a finished text for people to standard output, or to standard error where a file goes to standard
// output. Names in it cannot command a terminal.
func (a *App) Print(text string) error {
	w := a.Stdout
	if a.claimed != "" {
		w = a.Stderr
	}
	if _, err := io.WriteString(w, textfile.Printable(text)); err != nil {
		return Failed(err)
	}
	return nil
}

// Interruptible runs work that does not watch a context, such as reading a file,
// and stops waiting for it when the context ends.
func Interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	result, err := stop.Wait(ctx, 0, work)
	if errors.Is(err, stop.ErrLeft) {
		err = ErrInterrupted
	}
	return result, err
}

// Tell writes the findings about the tables, a line for each.
func (a *App) Tell(notes []table.Finding) {
	for _, n := range notes {
		a.Note("%s: %s", n.File, strings.ReplaceAll(n.Text, "\n", " "))
	}
}

// Flagged are findings with flags in the place of options.
func Flagged(flags *strings.Replacer, notes []table.Finding) []table.Finding {
	for k := range notes {
		notes[k].Text = flags.Replace(notes[k].Text)
	}
	return notes
}

// StandardStream is the name of standard output where a file is written, and of standard input where one is read.
const StandardStream = "-"

// outputError says that standard output does not take what is written to it.
type outputError struct{ err error }

func (e *outputError) Error() string { return "standard output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// Output is a standard output that remembers its first failure, so that what a library writes without looking, such as
// a help text, is not lost silently.
type Output struct {
	W   io.Writer
	Err error
}

func (o *Output) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := o.W.Write(p)
	if err != nil {
		if cause, ok := errors.AsType[*fs.PathError](err); ok {
			err = cause.Err
		}
		o.Err = &outputError{err}
	}
	return n, o.Err
}

// ClosedOutput stands for a standard output that was closed when the program began.
type ClosedOutput struct{}

func (ClosedOutput) Write([]byte) (int, error) {
	return 0, errors.New("it is closed; >/dev/null is for those who want nothing")
}

// CheckOutput says why the file of a flag, if it was given, cannot be expected to be written, or that it would be in
// the place of others, which are what.
func CheckOutput(flag, path, what string, others ...string) error {
	if path == "" || path == StandardStream {
		return nil
	}
	for _, other := range others {
		if other != "" && Absolute(other) == Absolute(path) {
			return BadInputf("%s %s: would overwrite %s", flag, path, what)
		}
	}
	if err := atomicfile.Check(path); err != nil {
		return BadInputf("%s: %w", flag, err)
	}
	return nil
}

// WriteFile writes what encode produces to the file of a flag, or to standard output.
func (a *App) WriteFile(flag, path string, encode func(io.Writer) error) (err error) {
	if path == StandardStream {
		err = encode(a.Stdout)
	} else {
		err = atomicfile.Write(path, encode)
	}
	return FileError(flag, err)
}

// FileError says that the file of a flag could not be written; nil where it could.
func FileError(flag string, err error) error {
	var lost *outputError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &lost):
		return Failed(err)
	}
	return Failed(fmt.Errorf("%s: %w", flag, err))
}

// ClaimOutput takes standard output for the file of a flag, if that is where it goes: what would be printed there goes
// to standard error then. It cannot be for two, nor for --json as well.
func (a *App) ClaimOutput(flag, path string, asJSON bool) error {
	switch {
	case path != StandardStream:
		return nil
	case asJSON:
		return BadInputf("%s -: standard output is for the object of --json", flag)
	case a.claimed != "":
		return BadInputf("%s -: standard output is for the file of %s", flag, a.claimed)
	}
	a.claimed = flag
	return nil
}

// PlaceOf says where a file is, for people.
func PlaceOf(path string) string {
	if path == StandardStream {
		return "standard output"
	}
	return path
}

// CheckFolder wants a folder in --out.
func CheckFolder(path string) error {
	switch path {
	case "":
		return BadInputf("--out DIR is missing")
	case StandardStream:
		return BadInputf("--out -: expected a folder")
	}
	return nil
}

// Absolute returns a path by which two names of a file can be compared.
func Absolute(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// The exit statuses of the command line.
const (
	exitDone        = 0
	exitUnsolved    = 1
	exitUsage       = 2
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

var errInterrupted = &exitError{exitInterrupted, errors.New("interrupted")}

// app is where a command writes.
type app struct {
	stdout, stderr io.Writer
}

// run runs one command line and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	a := &app{stdout: stdout, stderr: stderr}
	defer func() {
		if p := recover(); p != nil {
			a.note("conetune: internal error: %v\n%s", p, debug.Stack())
			code = exitUnsolved
		}
	}()
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code = exitUsage
	var known *exitError
	if errors.As(err, &known) {
		code = known.code
	}
	if text := err.Error(); text != "" {
		a.note("conetune: %s", strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "conetune",
		Short: "Choose the hyperparameters of a model by bilevel optimisation",
		Long: `conetune chooses the hyperparameters of a regression model: those whose model,
fitted to the training rows, has the smallest error on the validation rows. It
solves that bilevel program with VF-iDCA, a sequence of convex conic programs.

Results go to standard output, everything else to standard error.
Exit status: 0 done; 1 ended without an answer of the asked quality (the status
says why); 2 bad usage or bad input; 130 interrupted.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return badInput(flagError(err)) })
	root.SetVersionTemplate("conetune {{.Version}}\n")
	root.AddCommand(a.tuneCommand(), a.predictCommand(), a.generateCommand(), a.solveCommand(), a.backendsCommand(), a.benchCommand())
	return root
}

// flagError says what a flag expects, in place of the message of the parser that
// read it.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	expected := map[string]string{
		"float64": "a number", "int": "an integer", "uint64": "an integer that is not negative",
		"duration": "a time with its unit such as 90s or 5m", "bool": "true or false",
	}[invalid.GetFlag().Value.Type()]
	if expected == "" {
		return err
	}
	return fmt.Errorf("--%s: %q found, expected %s", invalid.GetFlag().Name, invalid.GetValue(), expected)
}

// note writes a line to standard error; a message is all it is, so nothing is
// done about a failure.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, format+"\n", args...)
}

// printJSON writes one object on one line.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return failed(fmt.Errorf("standard output: %w", err))
	}
	return nil
}

// print writes a finished text to standard output.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return failed(fmt.Errorf("standard output: %w", err))
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
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			done <- o
		}()
		o.value, o.err = work()
	}()
	select {
	case o := <-done:
		if o.panic != nil {
			panic(o.panic)
		}
		return o.value, o.err
	case <-ctx.Done():
		var zero T
		return zero, errInterrupted
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/conetune/conetune/internal/atomicfile"
)

// standardStream is the name of standard output where a file is written, and of standard input where one is read.
const standardStream = "-"

// outputError says that standard output does not take what is written to it.
type outputError struct{ err error }

func (e *outputError) Error() string { return "standard output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// output is a standard output that remembers its first failure, so that what a library writes without looking, such as a
// help text, is not lost silently.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		o.err = &outputError{err}
	}
	return n, o.err
}

// closedOutput stands for a standard output that was closed when the program began.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, errors.New("it is closed; >/dev/null is for those who want nothing")
}

// checkOutput says whether writeFile to a path can be expected to work.
func checkOutput(path string) error {
	if path == standardStream {
		return nil
	}
	return atomicfile.Check(path)
}

// writeFile writes what encode produces to a file, or to standard output.
func (a *app) writeFile(path string, encode func(io.Writer) error) error {
	if path == standardStream {
		return encode(a.stdout)
	}
	return atomicfile.Write(path, encode)
}

// fileError says that the file of a flag could not be written.
func fileError(flag string, err error) error {
	var lost *outputError
	if err == nil || errors.As(err, &lost) {
		return err
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// claimOutput takes standard output for the file of a flag, if that is where it goes: what would be printed there goes to standard error
// then. It cannot be for two, nor for --json as well.
func (a *app) claimOutput(flag, path string, asJSON bool) error {
	switch {
	case path != standardStream:
		return nil
	case asJSON:
		return badInputf("%s -: standard output is for the object of --json", flag)
	case a.claimed != "":
		return badInputf("%s -: standard output is for the file of %s", flag, a.claimed)
	}
	a.claimed = flag
	return nil
}

// placeOf says where a file is, for people.
func placeOf(path string) string {
	if path == standardStream {
		return "standard output"
	}
	return path
}

// checkFolder rejects the name of a stream for a folder.
func checkFolder(path string) error {
	if path == standardStream {
		return badInput(fmt.Errorf("--out -: expected a folder"))
	}
	return nil
}

// absolute returns a path by which two names of a file can be compared.
func absolute(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

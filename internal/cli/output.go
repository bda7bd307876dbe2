package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/conetune/conetune/internal/atomicfile"
)

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
		var cause *fs.PathError
		if errors.As(err, &cause) {
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

// CheckOutput says whether writeFile to a path can be expected to work.
func CheckOutput(path string) error {
	if path == StandardStream {
		return nil
	}
	return atomicfile.Check(path)
}

// WriteFile writes what encode produces to a file, or to standard output.
func (a *App) WriteFile(path string, encode func(io.Writer) error) error {
	if path == StandardStream {
		return encode(a.Stdout)
	}
	return atomicfile.Write(path, encode)
}

// FileError says that the file of a flag could not be written.
func FileError(flag string, err error) error {
	var lost *outputError
	if err == nil || errors.As(err, &lost) {
		return err
	}
	return fmt.Errorf("%s: %w", flag, err)
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

// CheckFolder rejects the name of a stream for a folder.
func CheckFolder(path string) error {
	if path == StandardStream {
		return BadInput(fmt.Errorf("--out -: expected a folder"))
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

func Sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

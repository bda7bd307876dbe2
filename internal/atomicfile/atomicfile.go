// Package atomicfile writes a file in one step: whoever opens it sees the old
// contents or all of the new ones, and an error leaves the old ones.
//
// Files that are not regular, such as a terminal, a pipe or /dev/null, are
// written directly, since a rename would replace them. A symbolic link is
// followed, not replaced.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Check says whether Write to path can be expected to work, without leaving
// anything behind: its folder must exist and take new files, and path must not
// be a directory.
func Check(path string) error {
	t, err := resolve(path)
	if err != nil {
		return err
	}
	if t.direct {
		f, err := os.OpenFile(t.name, os.O_WRONLY, 0)
		if err != nil {
			return explain(path, err)
		}
		return f.Close()
	}
	f, err := create(t)
	if err != nil {
		return explain(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Write writes the file that encode produces, replacing an existing one.
func Write(path string, encode func(io.Writer) error) (err error) {
	t, err := resolve(path)
	if err != nil {
		return err
	}
	var f *os.File
	if t.direct {
		f, err = os.OpenFile(t.name, os.O_WRONLY, 0)
	} else {
		f, err = create(t)
	}
	if err != nil {
		return explain(path, err)
	}
	defer func() {
		if err != nil {
			f.Close() // a second Close after the one below does nothing
			if !t.direct {
				os.Remove(f.Name())
			}
		}
	}()
	w := bufio.NewWriter(f)
	if err := encode(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return explain(path, err)
	}
	if err := f.Close(); err != nil {
		return explain(path, err)
	}
	if t.direct {
		return nil
	}
	if err := os.Rename(f.Name(), t.name); err != nil {
		return explain(path, err)
	}
	return nil
}

// target is where a path leads.
type target struct {
	name   string // with links followed
	direct bool   // exists and is not a regular file
	mode   fs.FileMode
}

func resolve(path string) (target, error) {
	t := target{name: path, mode: 0o666} // less the umask, as for any new file
	if real, err := filepath.EvalSymlinks(path); err == nil {
		t.name = real
	}
	info, err := os.Stat(t.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return t, explain(path, err)
	case info.IsDir():
		return t, fmt.Errorf("%s: is a directory, expected the name of a file to write", path)
	}
	t.direct = !info.Mode().IsRegular()
	t.mode = info.Mode().Perm()
	return t, nil
}

// create opens a new file beside the target, with the mode of the target.
func create(t target) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(t.name), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(t.name), rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, t.mode)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		return f, err
	}
}

// explain names the file that the caller asked for, not the one beside it.
func explain(path string, err error) error {
	reason := err
	var cause *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: cannot be written: there is no directory %s", path, filepath.Dir(path))
	case errors.As(err, &cause):
		reason = cause.Err
	case errors.As(err, &link):
		reason = link.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, reason)
}

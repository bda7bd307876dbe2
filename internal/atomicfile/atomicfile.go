// Package atomicfile writes a file in one step: whoever opens it sees the old
// contents or all of the new ones, also after a crash of the machine, and an error
// leaves the old ones.
//
// The contents go to a file beside it, .NAME.xxxxxxxx.tmp, which is forced to disk and
// then renamed, and so is the folder. What a killed process has left of such files is
// removed with the next Check or Write of the same name, see [Clean].
//
// Files that are not regular, such as a terminal, a pipe or /dev/null, are
// written directly, since a rename would replace them. A symbolic link is
// followed, not replaced; one that leads nowhere is an error, and so is a file
// that is read-only.
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

	"github.com/conetune/conetune/internal/filelock"
)

// Check says whether Write to path can be expected to work, without leaving
// anything behind: its folder must exist and take new files, and path must not
// be a directory, a read-only file or a link that leads nowhere. A named pipe is not opened,
// since its reader would take the end of that for the end of the data.
func Check(path string) error {
	t, err := resolve(path)
	if err != nil {
		return err
	}
	if t.pipe {
		return nil
	}
	f, err := t.open()
	if err != nil {
		return explain(path, err)
	}
	err = f.Close()
	if !t.direct {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return explain(path, err)
}

// Write writes the file that encode produces, replacing an existing one. It comes back when the file is on disk.
func Write(path string, encode func(io.Writer) error) (err error) {
	t, err := resolve(path)
	if err != nil {
		return err
	}
	f, err := t.open()
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
		return plain(path, err)
	}
	steps := []func() error{w.Flush, f.Close}
	if !t.direct {
		rename := func() error { return os.Rename(f.Name(), t.name) }
		folder := func() error { return syncFolder(filepath.Dir(t.name)) }
		steps = []func() error{w.Flush, f.Sync, f.Close, rename, folder}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return explain(path, err)
		}
	}
	return nil
}

// WriteBytes writes a file of this text.
func WriteBytes(path string, text []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Create opens a file for writing that grows while others may read it, empties it if it is there, and follows the rules
// of Write for what is not replaced. The file is not written in one step.
func Create(path string) (*os.File, error) {
	t, err := resolve(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|dontWait, 0o666)
	return f, explain(path, err)
}

// SyncFolder forces the names in a folder to disk: a file that is new there has its name after a crash of the machine.
// It does nothing where the system or the file system cannot.
func SyncFolder(dir string) error { return explain(dir, syncFolder(dir)) }

// target is where a path leads.
type target struct {
	name   string // with links followed
	direct bool   // exists and is not a regular file
	pipe   bool
	mode   fs.FileMode
}

func resolve(path string) (target, error) {
	t := target{name: path, mode: 0o666} // less the umask, as for any new file
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		t.name = real
	} else if link, readErr := os.Readlink(path); readErr == nil {
		if errors.Is(err, fs.ErrNotExist) {
			return t, fmt.Errorf("%s: cannot be written: it is a symbolic link to %s, which is not there", path, link)
		}
		return t, explain(path, err)
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
	t.pipe = info.Mode()&fs.ModeNamedPipe != 0
	t.mode = info.Mode().Perm()
	// The mode is asked, not the system: an administrator may write to any file, but did not mean to.
	if !t.direct && t.mode&0o222 == 0 {
		return t, fmt.Errorf("%s: cannot be written: it is read-only", path)
	}
	return t, nil
}

// open opens what is written: the target itself where it is written directly, and else a new file beside it; a rename
// would not ask whether the old one may be written to.
func (t target) open() (*os.File, error) {
	f, err := os.OpenFile(t.name, os.O_WRONLY|dontWait, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || t.direct:
		return f, err
	default:
		f.Close()
	}
	return create(t)
}

// create opens a new file beside the target, with the mode of the target, and takes its lock, which tells [Clean] that
// somebody writes to it.
func create(t target) (*os.File, error) {
	dir, base := filepath.Split(t.name)
	clean(filepath.Clean(dir), base)
	for try := 0; ; try++ {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, t.mode)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		} else if err != nil {
			return nil, err
		}
		// Between making and locking, another process may have taken the file for one that was left.
		if err := filelock.Try(f); !errors.Is(err, filelock.ErrLocked) && stillThere(f) || try >= 100 {
			return f, nil
		}
		f.Close()
		os.Remove(name)
	}
}

// stillThere says whether the name of a file is still that of this file.
func stillThere(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.Name())
	return err == nil && os.SameFile(open, named)
}

// plain explains an error of the file, and leaves one of what was to be written as it is.
func plain(path string, err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok && cause.Op == "write" {
		return explain(path, err)
	}
	return err
}

// explain names the file that the caller asked for, not the one beside it.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	reason := err
	var cause *fs.PathError
	var link *os.LinkError
	_, missing := os.Stat(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) && missing == nil: // /proc, for example
		return fmt.Errorf("%s: cannot be written: %s takes no new files", path, filepath.Dir(path))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: cannot be written: there is no directory %s", path, filepath.Dir(path))
	case noReader(err):
		return fmt.Errorf("%s: cannot be written: it is a pipe that nobody reads", path)
	case errors.As(err, &cause):
		reason = cause.Err
	case errors.As(err, &link):
		reason = link.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, reason)
}

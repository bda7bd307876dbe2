package textfile

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write writes a file through encode, gzipped when the path ends in .gz. It
// writes next to the path under another name and renames at the end: whoever
// opens the path sees the old file or the whole new one, and after an error the
// old one.
func Write(path string, encode func(w io.Writer) error) (err error) {
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return &Error{File: path, Reason: "is a directory, expected the name of a file to write"}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return writeError(path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := encodeTo(f, strings.HasSuffix(strings.ToLower(path), ".gz"), encode); err != nil {
		return writeError(path, err)
	}
	// CreateTemp makes files that only their owner may read.
	if err := f.Chmod(0o644); err != nil {
		return writeError(path, err)
	}
	if err := f.Close(); err != nil {
		return writeError(path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return writeError(path, err)
	}
	return nil
}

func encodeTo(f io.Writer, compress bool, encode func(w io.Writer) error) error {
	buffer := bufio.NewWriterSize(f, bufferSize)
	if compress {
		packed := gzip.NewWriter(buffer) // without name and time: the same bytes every time
		if err := encode(packed); err != nil {
			return err
		}
		if err := packed.Close(); err != nil {
			return err
		}
	} else if err := encode(buffer); err != nil {
		return err
	}
	return buffer.Flush()
}

func writeError(path string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	reason := err.Error()
	var cause *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = fmt.Sprintf("no such directory %s", filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		reason = "permission denied"
	case errors.As(err, &cause):
		reason = cause.Err.Error()
	}
	return &Error{File: path, Reason: "cannot be written: " + reason, Err: err}
}

package textfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is one to write, see [Write].
type File struct {
	Name   string
	Encode func(w io.Writer) error
}

// WriteDir writes files into a folder, which is made if needed; one that holds anything is an error. After an error
// nothing is left of what was written.
func WriteDir(dir string, files []File) (err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &Error{File: dir, Reason: "cannot be made: " + err.Error(), Err: err}
		}
		defer func() {
			if err != nil {
				os.Remove(dir)
			}
		}()
	case err != nil:
		return &Error{File: dir, Reason: "is not a directory that can be written to", Err: err}
	case len(entries) > 0:
		return &Error{File: dir, Reason: fmt.Sprintf("is not empty (%s), expected a new or an empty directory",
			entries[0].Name())}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := Write(path, f.Encode); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				os.Remove(path)
			}
		}()
	}
	return nil
}

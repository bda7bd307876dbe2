package textfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteDir fills a folder by calls of the function that fill is given, which writes one file of the folder at the path
// it passes on. The folder is made if needed; one that holds anything is an error. After an error nothing is left of
// what was written.
func WriteDir(dir string, fill func(write func(name string, encode func(path string) error) error) error) (err error) {
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
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				os.Remove(path)
			}
		}
	}()
	return fill(func(name string, encode func(path string) error) error {
		path := filepath.Join(dir, name)
		if err := encode(path); err != nil {
			return err
		}
		written = append(written, path)
		return nil
	})
}

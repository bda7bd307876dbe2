package textfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckDir says what is wrong where a folder cannot be read that has some files.
func CheckDir(dir, files string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{File: dir, Reason: "no such directory", Err: err}
	case err != nil:
		return &Error{File: dir, Reason: "cannot be read: " + err.Error(), Err: err}
	case !info.IsDir():
		return &Error{File: dir, Reason: "is a file, expected a directory with " + files}
	}
	return nil
}

// CSV are endings of names of tables.
var CSV = []string{".csv", ".csv.gz"}

// InDir returns the path of the one file of that name that is there, with one of some endings, or the empty string.
func InDir(dir, base string, endings ...string) (string, error) {
	found := ""
	for _, ending := range endings {
		name := base + ending
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if found != "" {
			both := filepath.Base(found) + " and " + name
			return "", &Error{File: dir, Reason: "has both " + both + ", expected one of them"}
		}
		found = path
	}
	return found, nil
}

// File is one to write, see [Write].
type File struct {
	Name   string
	Encode func(w io.Writer) error
}

// WriteDir writes files into a folder, which is made if needed; one that holds anything is an error. After an error
// nothing is left of what was written.
func WriteDir(dir string, files []File) error {
	entries, err := os.ReadDir(dir)
	made := errors.Is(err, fs.ErrNotExist)
	switch {
	case made:
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &Error{File: dir, Reason: "cannot be made: " + err.Error(), Err: err}
		}
	case err != nil:
		return &Error{File: dir, Reason: "is not a directory that can be written to", Err: err}
	case len(entries) > 0:
		return &Error{File: dir, Reason: fmt.Sprintf("is not empty (%s), expected a new or an empty directory",
			entries[0].Name())}
	}
	for k, f := range files {
		if err := Write(filepath.Join(dir, f.Name), f.Encode); err != nil {
			for _, there := range files[:k] {
				os.Remove(filepath.Join(dir, there.Name))
			}
			if made {
				os.Remove(dir)
			}
			return err
		}
	}
	return nil
}

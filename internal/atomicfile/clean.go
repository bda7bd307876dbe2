package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/filelock"
)

// staleAge is how old a file must be to count as left behind where the file system has no locks.
const staleAge = 24 * time.Hour

// Clean removes what killed processes have left in a folder of files that they were writing. Files that somebody writes
// to stay: they are locked, or, where there are no locks, younger than a day. What cannot be removed stays, too.
func Clean(dir string) { clean(dir, "") }

// clean removes the leftovers of one file, or with an empty name of all.
func clean(dir, base string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if of, ok := writing(e.Name()); ok && (base == "" || of == base) && e.Type().IsRegular() {
			removeStale(filepath.Join(dir, e.Name()))
		}
	}
}

// writing takes the name of a file apart that create made.
func writing(name string) (base string, ok bool) {
	rest, ok := strings.CutSuffix(name, ".tmp")
	if !ok || len(rest) < len(".x.00000000") || rest[0] != '.' {
		return "", false
	}
	base, number := rest[1:len(rest)-9], rest[len(rest)-9:]
	return base, number[0] == '.' && strings.Trim(number[1:], "0123456789abcdef") == ""
}

func removeStale(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	switch err := filelock.Try(f); {
	case errors.Is(err, filelock.ErrLocked):
		return
	case err != nil:
		info, statErr := f.Stat()
		if statErr != nil || time.Since(info.ModTime()) < staleAge {
			return
		}
	}
	_ = os.Remove(path) // somebody else may have done it
}

package paper

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
)

// Files is a folder of real data: LIBSVM files under the names that they have in the LIBSVM repository, plain or
// gzipped (then with or without the ending .gz). Each is read once. It is safe for use by several goroutines. The empty
// folder has none.
type Files struct {
	Dir string

	open sync.Map
}

type file struct {
	data *dataset.Data
	sum  string
	err  error
}

// find returns the path of the first name that is there, or the empty string.
func (f *Files) find(names []string) string {
	if f == nil || f.Dir == "" {
		return ""
	}
	for _, name := range names {
		for _, ending := range []string{"", ".gz"} {
			path := filepath.Join(f.Dir, name+ending)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}

// missing says why there is no file of these names; empty if there is one, or none is needed.
func (f *Files) missing(names []string) string {
	switch {
	case names == nil || f.find(names) != "":
		return ""
	case f == nil || f.Dir == "":
		return fmt.Sprintf("needs the file %s: give its folder with --data DIR", names[0])
	}
	return fmt.Sprintf("no file %s, plain or .gz, in the folder of --data", strings.Join(names, " or "))
}

// read returns the table of the first name that is there, with the checksum of the file.
func (f *Files) read(names []string) (*dataset.Data, string, error) {
	path := f.find(names)
	if path == "" {
		return nil, "", fmt.Errorf("%s", f.missing(names))
	}
	opened, _ := f.open.LoadOrStore(path, sync.OnceValue(func() (have file) {
		if have.data, have.err = input.ReadFile(path, ""); have.err == nil {
			have.sum, have.err = checksum(path)
		}
		return have
	}))
	have := opened.(func() file)()
	return have.data, have.sum, have.err
}

// checksum is the beginning of the SHA-256 of a file, enough to tell files apart.
func checksum(path string) (string, error) {
	text, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(text))[:12], err
}

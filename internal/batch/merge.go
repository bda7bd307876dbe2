package batch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/worklist"
)

// Merge puts the results of several folders, parts of one plan, into a new one, with the files of the jobs and the
// summary of all. The outcome says how many jobs are missing still.
func Merge(dirs []string, into string) (*Outcome, error) {
	out, err := worklist.Merge(jobs, dirs, into)
	if err != nil {
		return nil, err
	}
	for _, o := range Outputs {
		for _, dir := range dirs {
			if err := copyFiles(filepath.Join(dir, o.Folder), filepath.Join(into, o.Folder), o.Ending); err != nil {
				return nil, err
			}
		}
	}
	return out, WriteSummary(into, out.Records)
}

// copyFiles copies the files with an ending from a folder that may not be there.
func copyFiles(from, to, ending string) error {
	list, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for _, f := range list {
		if f.IsDir() || filepath.Ext(f.Name()) != ending || f.Name()[0] == '.' {
			continue
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		if err := copyFile(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

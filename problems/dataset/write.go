package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/formats/textfile"
)

// WriteDir writes a split into a folder that [ReadDir] reads: train.csv.gz, val.csv.gz
// and, if there is one, test.csv.gz, with 17 significant digits. The folder is made
// if needed; one that holds anything is an error. After an error nothing is left
// of what was written.
func WriteDir(s *Split, dir string) error {
	if err := s.Validate(); err != nil {
		return err
	}
	return writeTables(dir, []namedSet{{"train", s.Train}, {"val", s.Val}, {"test", s.Test}}, nil)
}

// WriteFoldsDir writes a cross-validation into a folder that [ReadFoldsDir] reads: data.csv.gz, folds.csv and, if there
// are test rows, test.csv.gz. For the folder see [WriteDir].
func WriteFoldsDir(c *CrossValidation, dir string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	return writeTables(dir, []namedSet{{"data", c.Data}, {"test", c.Test}}, c.Folds)
}

// writeTables writes the tables that are there, and the folds if there are any, into a new or an empty folder.
func writeTables(dir string, sets []namedSet, folds []Fold) (err error) {
	if d := sets[0].data; d.Target != "y" && slices.Contains(d.Features, "y") {
		return fmt.Errorf("dataset: the feature \"y\" would be read back as the target instead of %q, give it another name", d.Target)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &formats.Error{File: dir, Reason: "cannot be made: " + err.Error(), Err: err}
		}
		defer func() {
			if err != nil {
				os.Remove(dir)
			}
		}()
	case err != nil:
		return &formats.Error{File: dir, Reason: "is not a directory that can be written to", Err: err}
	case len(entries) > 0:
		return &formats.Error{File: dir, Reason: fmt.Sprintf("is not empty (%s), expected a new or an empty directory", entries[0].Name())}
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				os.Remove(path)
			}
		}
	}()
	write := func(name string, encode func(path string) error) error {
		path := filepath.Join(dir, name)
		if err := encode(path); err != nil {
			return err
		}
		written = append(written, path)
		return nil
	}
	for _, set := range sets {
		if set.data == nil {
			continue
		}
		if err := write(set.name+".csv.gz", func(path string) error { return csvfile.Write(path, (*formats.Table)(set.data)) }); err != nil {
			return err
		}
	}
	if folds == nil {
		return nil
	}
	return write("folds.csv", func(path string) error {
		return textfile.Write(path, func(w io.Writer) error { return encodeFolds(w, folds) })
	})
}

package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/csvfile"
)

// WriteDir writes a split into a folder that [ReadDir] reads: train.csv.gz, val.csv.gz
// and, if there is one, test.csv.gz, with 17 significant digits. The folder is made
// if needed; one that holds anything is an error. After an error nothing is left
// of what was written.
func WriteDir(s *Split, dir string) (err error) {
	if err := s.Validate(); err != nil {
		return err
	}
	if target := s.Train.Target; target != "y" && slices.Contains(s.Train.Features, "y") {
		return fmt.Errorf("dataset: the feature \"y\" would be read back as the target instead of %q, give it another name", target)
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
	for _, set := range []struct {
		name string
		data *Data
	}{{"train", s.Train}, {"val", s.Val}, {"test", s.Test}} {
		if set.data == nil {
			continue
		}
		path := filepath.Join(dir, set.name+".csv.gz")
		if err := csvfile.Write(path, (*formats.Table)(set.data)); err != nil {
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

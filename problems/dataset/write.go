package dataset

import (
	"fmt"
	"io"
	"slices"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/internal/textfile"
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
func writeTables(dir string, sets []namedSet, folds []Fold) error {
	if d := sets[0].data; d.Target != "y" && slices.Contains(d.Features, "y") {
		return fmt.Errorf("dataset: the feature \"y\" would be read back as the target instead of %q, give it another name", d.Target)
	}
	return textfile.WriteDir(dir, func(write func(string, func(string) error) error) error {
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
	})
}

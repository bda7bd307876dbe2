package dataset

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table/split"
)

// WriteDir writes a split into a folder that input.ReadDir reads: train.csv.gz, val.csv.gz and, if there is one,
// test.csv.gz, with 17 significant digits. The folder is made if needed; one that holds anything is an error. After an
// error nothing is left of what was written.
func WriteDir(s *Split, dir string) error {
	if err := s.Validate(); err != nil {
		return err
	}
	return writeTables(dir, []namedSet{{"train", s.Train}, {"val", s.Val}, {"test", s.Test}}, nil)
}

// WriteFoldsDir writes a cross-validation into a folder that Source.Dir of package table/input names: data.csv.gz,
// folds.csv and, if there are test rows, test.csv.gz. For the folder see [WriteDir].
func WriteFoldsDir(c *CrossValidation, dir string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	return writeTables(dir, []namedSet{{"data", c.Data}, {"test", c.Test}}, c.Folds)
}

// writeTables writes the tables that are there, and the folds if there are any, into a new or an empty folder.
func writeTables(dir string, sets []namedSet, folds []split.Fold) error {
	if d := sets[0].data; d.Target != "y" && slices.Contains(d.Features, "y") {
		return fmt.Errorf("dataset: the feature \"y\" would be read back as the target instead of %q, give it another name",
			d.Target)
	}
	var files []textfile.File
	for _, set := range sets {
		if set.data != nil {
			files = append(files, textfile.File{Name: set.name + ".csv.gz", Encode: set.data.encodeCSV})
		}
	}
	if folds != nil {
		encode := func(w io.Writer) error { return encodeFolds(w, folds, len(sets[0].data.Y)) }
		files = append(files, textfile.File{Name: "folds.csv", Encode: encode})
	}
	return textfile.WriteDir(dir, files)
}

// encodeCSV writes the table with all its zeros, the target first.
func (d *Data) encodeCSV(w io.Writer) error {
	n, p := d.Dims()
	row := make([]float64, 1+p)
	return textfile.EncodeCSV(w, append([]string{d.Target}, d.Features...), n, func(i int) []float64 {
		row[0] = d.Y[i]
		d.Fill(row[1:], i)
		return row
	})
}

// encodeFolds writes the table of folds: fold by fold, the rows for training first.
func encodeFolds(w io.Writer, folds []split.Fold, n int) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "fold,row,role")
	for k, f := range folds {
		for _, i := range f.Training(n) {
			fmt.Fprintf(b, "%d,%d,train\n", k, i)
		}
		for _, i := range f.Val {
			fmt.Fprintf(b, "%d,%d,val\n", k, i)
		}
	}
	return b.Flush()
}

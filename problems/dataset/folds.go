package dataset

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table/split"
)

// CrossValidation is a table with its folds, and rows for a last look at what came
// out. Test may be nil.
type CrossValidation struct {
	Data  *Data
	Folds []split.Fold
	Test  *Data
	// Gaps are entries of Data that have values of their own in each fold; nil for none.
	Gaps *Gaps
}

// CrossValidate deals the rows of d out to t folds, see [split.RandomFolds].
func CrossValidate(d *Data, t int, seed uint64, classes []int) (*CrossValidation, error) {
	n, _ := d.Dims()
	folds, err := split.RandomFolds(n, t, 1, seed, classes)
	if err != nil {
		return nil, err
	}
	return &CrossValidation{Data: d, Folds: folds}, nil
}

// Validate checks the table, that there are at least two folds, that each has rows
// to train and rows to validate, that these are rows of the table and no row is in
// a fold twice, and that the test rows fit.
func (c *CrossValidation) Validate() error {
	if c == nil {
		return fmt.Errorf("dataset: no data")
	}
	if err := c.Data.Validate(); err != nil {
		return err
	}
	n, _ := c.Data.Dims()
	if err := split.CheckFolds(c.Folds, n); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if err := c.Gaps.validate(c); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if c.Test == nil {
		return nil
	}
	if err := c.Test.validateLike(c.Data); err != nil {
		return fmt.Errorf("%w (test set)", err)
	}
	if diff := difference(c.Data, c.Test); diff != "" {
		return fmt.Errorf("dataset: the test set does not fit the data: %s", diff)
	}
	return nil
}

// foldColumns are the columns of a table of folds.
var foldColumns = []string{"fold", "row", "role"}

// readFolds reads the folds of a table of n rows.
func readFolds(path string, n int) ([]split.Fold, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return readFoldsSource(s, n)
}

func readFoldsSource(s *textfile.Source, n int) ([]split.Fold, error) {
	var folds []split.Fold
	var fields [][]byte
	header := false
	for {
		line, err := s.Line()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if textfile.IsBlank(line) {
			continue
		}
		var reason string
		if fields, reason = csvfile.Fields(fields[:0], line); reason != "" {
			return nil, s.Errorf(s.LineNumber(), "", "is not CSV: %s", reason)
		}
		if len(fields) != len(foldColumns) {
			return nil, s.Errorf(s.LineNumber(), "", "has %d fields, expected %d: fold,row,role", len(fields), len(foldColumns))
		}
		if !header {
			for i, name := range foldColumns {
				if string(fields[i]) != name {
					return nil, s.Errorf(s.LineNumber(), fmt.Sprintf("column %d", i+1), "is %s, expected the name %q", textfile.Quote(fields[i]), name)
				}
			}
			header = true
			continue
		}
		if folds, err = addToFold(s, folds, fields, n); err != nil {
			return nil, err
		}
	}
	if !header {
		return nil, s.Errorf(0, "", "is empty, expected a line fold,row,role and lines such as 0,17,train")
	}
	if err := split.CheckFolds(folds, n); err != nil {
		return nil, s.Errorf(0, "", "%v", err)
	}
	return folds, nil
}

// What a fold and a row of a fold take of the budget of memory.
const (
	foldBytes = 64
	rowBytes  = 16
)

// addToFold adds one line.
func addToFold(s *textfile.Source, folds []split.Fold, fields [][]byte, n int) ([]split.Fold, error) {
	var number [2]int
	for i := range number {
		v, err := strconv.Atoi(string(fields[i]))
		if err != nil || v < 0 || v >= n {
			return nil, s.Errorf(s.LineNumber(), fmt.Sprintf("column %d (%q)", i+1, foldColumns[i]), "%s found, expected a number from 0 to %d", textfile.Quote(fields[i]), n-1)
		}
		number[i] = v
	}
	fold, row := number[0], number[1]
	for fold >= len(folds) {
		s.Take(foldBytes)
		folds = append(folds, split.Fold{})
	}
	s.Take(rowBytes)
	switch string(fields[2]) {
	case "train":
		folds[fold].Train = append(folds[fold].Train, row)
	case "val":
		folds[fold].Val = append(folds[fold].Val, row)
	default:
		return nil, s.Errorf(s.LineNumber(), `column 3 ("role")`, "%s found, expected train or val", textfile.Quote(fields[2]))
	}
	return folds, nil
}

// HasFolds says whether a folder has a table of folds, so that [ReadFoldsDir] is for it and not [ReadDir].
func HasFolds(dir string) bool {
	path, err := oneOf(dir, "folds", ".csv", ".csv.gz")
	return err != nil || path != ""
}

// ReadFoldsDir reads a cross-validation from a folder: the table data, the table folds
// with the columns fold, row and role, and perhaps the table test, each as .csv or
// .csv.gz, the tables data and test also as .svm or .svm.gz. Folds count from 0, and so do rows, in data; a role is train or val. The target is the
// column "y" or the first. Errors about a file are a [*formats.Error]. [WriteFoldsDir]
// writes such folders.
func ReadFoldsDir(dir string) (*CrossValidation, error) {
	paths, err := tables(dir, "data", "folds", "test")
	if err != nil {
		return nil, err
	}
	var cv CrossValidation
	if cv.Data, err = Read(paths[0], ""); err != nil {
		return nil, err
	}
	n, _ := cv.Data.Dims()
	if cv.Folds, err = readFolds(paths[1], n); err != nil {
		return nil, err
	}
	if paths[2] == "" {
		return &cv, nil
	}
	all, err := ReadBeside(cv.Data, paths[2])
	if err != nil {
		return nil, err
	}
	cv.Data, cv.Test = all[0], all[1]
	return &cv, nil
}

// encodeFolds writes the table of folds: fold by fold, the rows for training first.
func encodeFolds(w io.Writer, folds []split.Fold) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s,%s,%s\n", foldColumns[0], foldColumns[1], foldColumns[2])
	for k, f := range folds {
		for _, i := range f.Train {
			fmt.Fprintf(b, "%d,%d,train\n", k, i)
		}
		for _, i := range f.Val {
			fmt.Fprintf(b, "%d,%d,val\n", k, i)
		}
	}
	return b.Flush()
}

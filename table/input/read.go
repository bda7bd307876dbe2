package input

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

// ReadFile reads a table of numbers: a file in the format of LIBSVM, or a table whose target has that name, y where it
// is empty and there is such a column, and else that of the first.
func ReadFile(path, target string) (*dataset.Data, error) {
	var in Input
	defer in.Close()
	var targets []string
	if target != "" {
		targets = []string{target}
	}
	return in.Rows(path, targets)
}

// Rows reads a table of numbers, see [ReadFile].
func (in *Input) Rows(path string, targets []string) (*dataset.Data, error) {
	n, err := in.together(targets, false, path)
	if err != nil {
		return nil, err
	}
	return n.all[0], nil
}

// ReadColumns reads columns of numbers of a table as features, all where it has no list, and targets that need not be
// there: where one of them is not, the rows have none, and where a number of them is missing it is NaN.
func ReadColumns(path string, features []string, targets ...string) (*dataset.Data, error) {
	var in Input
	defer in.Close()
	t, err := in.Table(path, Numbers)
	if err != nil {
		return nil, err
	}
	if features == nil {
		features = t.Names()
	}
	d, err := columnsOf(t, targets, features, false, true)
	return d, err
}

// ReadDir reads a split from the files train, val and test of a folder, each as .csv or .csv.gz, with the target in the
// column y or the first and numbers in all columns, or in the format of LIBSVM as .svm or .svm.gz. The test file may be
// missing. [dataset.WriteDir] writes such folders.
func ReadDir(dir string) (*dataset.Split, error) {
	s, r := &Source{Dir: dir}, &Rows{}
	defer s.Close()
	err := s.readDir(r, false)
	return r.Split, err
}

// readDir reads a folder without folds, or with them: the table data, the table folds with the columns fold, row and
// role, and perhaps the table test, each as .csv or .csv.gz, the tables data and test also as .svm or .svm.gz. Folds
// count from 0, and so do rows, in data; a role is train or val. The target is the column y or the first.
// [dataset.WriteFoldsDir] writes such folders.
func (s *Source) readDir(r *Rows, folds bool) error {
	names := []string{"train", "val", "test"}
	if folds {
		names = []string{"data", "folds", "test"}
	}
	paths, err := tables(s.Dir, names...)
	if err != nil {
		return err
	}
	list := ""
	if folds {
		list, paths[1] = paths[1], ""
	}
	n, err := s.input.together(nil, s.Several, paths...)
	if err != nil {
		return err
	}
	r.Split = &dataset.Split{Train: n.all[0], Val: n.all[1], Test: n.all[2]}
	if folds {
		rows, _ := n.all[0].Dims()
		r.Repeats, r.CV = 1, &dataset.CrossValidation{Data: n.all[0], Test: n.all[2]}
		r.CV.Folds, err = readFolds(list, rows)
	}
	return err
}

// hasFolds says whether a folder has a table of folds.
func hasFolds(dir string) bool {
	path, err := textfile.InDir(dir, "folds", textfile.CSV...)
	return err != nil || path != ""
}

// endings are those of the files of a folder.
var endings = append(slices.Clip(textfile.CSV), ".svm", ".svm.gz")

// tables returns the paths of the tables of a folder, each with one of the endings. All but the last one must be
// there, which is empty where it is missing.
func tables(dir string, names ...string) ([]string, error) {
	last := len(names) - 1
	err := textfile.CheckDir(dir, strings.Join(names[:last], ".csv and ")+".csv")
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(names))
	for i, name := range names {
		if paths[i], err = textfile.InDir(dir, name, endings...); err != nil {
			return nil, err
		}
		if paths[i] == "" && i < last {
			return nil, &textfile.Error{File: dir, Reason: "lacks " + name + ".csv or " + name + ".csv.gz (or .svm, .svm.gz)"}
		}
	}
	return paths, nil
}

// readFolds reads the folds of a table of n rows.
func readFolds(path string, n int) ([]split.Fold, error) {
	return textfile.ReadFile(path, func(s *textfile.Source) ([]split.Fold, error) { return readFoldsSource(s, n) })
}

func readFoldsSource(s *textfile.Source, n int) ([]split.Fold, error) {
	columns, err := textfile.NewColumns(s, "fold, row and role", "fold", "row", "role")
	if err != nil {
		return nil, err
	}
	var folds []split.Fold
	for {
		fields, err := columns.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		number := func(name string) int {
			text := fields[columns.Index(name)]
			v, bad := strconv.Atoi(string(text))
			if bad != nil || v < 0 || v >= n {
				err = s.Errorf(s.LineNumber(), name, "%s found, expected a number from 0 to %d", textfile.Quote(text), n-1)
			}
			return v
		}
		row, fold := number("row"), number("fold")
		if err != nil {
			return nil, err
		}
		for fold >= len(folds) {
			s.Take(foldBytes)
			folds = append(folds, split.Fold{})
		}
		s.Take(rowBytes)
		switch role := fields[columns.Index("role")]; string(role) {
		case "train":
			folds[fold].Train = append(folds[fold].Train, row)
		case "val":
			folds[fold].Val = append(folds[fold].Val, row)
		default:
			return nil, s.Errorf(s.LineNumber(), "role", "%s found, expected train or val", textfile.Quote(role))
		}
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

package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/textfile"
)

// Read reads a CSV or LIBSVM file, plain or gzipped. target names the target
// column of a CSV file; empty means the column "y", or the first where there is no
// "y". Errors about the file are a [*formats.Error].
func Read(path, target string) (*Data, error) {
	t, err := formats.ReadTable(path, formats.Options{Target: target})
	if err != nil {
		return nil, err
	}
	return FromTable(t), nil
}

// FromTable are the rows of a file, which share its memory; nil for nil.
func FromTable(t *formats.Table) *Data {
	if t == nil {
		return nil
	}
	return &Data{X: t.X, Y: t.Y, Features: t.Features, Target: t.Target}
}

// ReadLike reads a file that must have the target and the features of train, as
// its validation or test rows do. A CSV file must have the same columns in the
// same order; a LIBSVM file may end at a smaller index, not at a larger one. It is sparse if train is.
// Errors about the file are a [*formats.Error].
func ReadLike(path string, train *Data) (*Data, error) {
	s, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return readLike(s, train)
}

func readLike(s *textfile.Source, train *Data) (*Data, error) {
	t, err := formats.ReadTableSource(s, formats.Options{Target: train.Target, Names: train.Features})
	if err != nil {
		return nil, err
	}
	d := FromTable(t)
	if diff := difference(train, d); diff != "" {
		return nil, s.Errorf(0, "", "does not fit the training set: %s", diff)
	}
	d.Features = train.Features
	return d.like(train), nil
}

// ReadFiles reads the files of a split; an empty test means none. target is as for
// [Read]. LIBSVM files have as many features as the one with the largest index, see [ReadBeside].
func ReadFiles(train, val, test, target string) (*Split, error) {
	rows, err := Read(train, target)
	if err != nil {
		return nil, err
	}
	all, err := ReadBeside(rows, val, test)
	if err != nil {
		return nil, err
	}
	return &Split{Train: all[0], Val: all[1], Test: all[2]}, nil
}

// ReadDir reads a split from the files train, val and test of a folder, each as
// .csv or .csv.gz, with the target in the column "y" or the first, or in the format of LIBSVM as .svm or .svm.gz. The test file may be
// missing. [WriteDir] writes such folders.
func ReadDir(dir string) (*Split, error) {
	paths, err := tables(dir, "train", "val", "test")
	if err != nil {
		return nil, err
	}
	return ReadFiles(paths[0], paths[1], paths[2], "")
}

// endings are those of the files of a folder.
var endings = []string{".csv", ".csv.gz", ".svm", ".svm.gz"}

// tables returns the paths of the tables of a folder, each with one of the endings. All but the last one must be
// there, which is empty where it is missing.
func tables(dir string, names ...string) ([]string, error) {
	last := len(names) - 1
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &formats.Error{File: dir, Reason: "no such directory", Err: err}
	case err != nil:
		return nil, &formats.Error{File: dir, Reason: "cannot be read: " + err.Error(), Err: err}
	case !info.IsDir():
		return nil, &formats.Error{File: dir, Reason: "is a file, expected a directory with " + strings.Join(names[:last], ".csv and ") + ".csv"}
	}
	paths := make([]string, len(names))
	for i, name := range names {
		if paths[i], err = oneOf(dir, name, endings...); err != nil {
			return nil, err
		}
		if paths[i] == "" && i < last {
			return nil, &formats.Error{File: dir, Reason: "lacks " + name + ".csv or " + name + ".csv.gz (or .svm, .svm.gz)"}
		}
	}
	return paths, nil
}

// oneOf returns the path of the one file of that name that is there, or the empty string.
func oneOf(dir, base string, endings ...string) (string, error) {
	found := ""
	for _, ending := range endings {
		name := base + ending
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if found != "" {
			return "", &formats.Error{File: dir, Reason: "has both " + filepath.Base(found) + " and " + name + ", expected one of them"}
		}
		found = path
	}
	return found, nil
}

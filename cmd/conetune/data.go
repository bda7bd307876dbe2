package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/problems/dataset"
)

// defaultSplit and defaultSplitTested divide a table unless --split says how,
// the second one where the test rows come from a file of their own.
const (
	defaultSplit       = "0.5/0.25/rest"
	defaultSplitTested = "0.67/rest"
)

// dataFlags say where the rows come from.
type dataFlags struct {
	dir, train, val, test, data, split, target string
	folds                                      int
}

func (d *dataFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&d.data, "data", "", "one table, `FILE`, that is divided by --split")
	fs.StringVar(&d.split, "split", "", "rows for `TRAIN/VAL/TEST`: numbers (50), shares (0.5 or 50%) or the word rest (default "+defaultSplit+"; with --test "+defaultSplitTested+")")
	fs.StringVar(&d.train, "train", "", "training table, `FILE`")
	fs.StringVar(&d.val, "val", "", "validation table, `FILE`")
	fs.StringVar(&d.test, "test", "", "test table, `FILE`, with --train or --data (default: none, or a part of --data)")
	fs.StringVar(&d.dir, "dir", "", "folder `DIR` with train, val and perhaps test")
	fs.StringVar(&d.target, "target", "", "`NAME` of the target column (default: y, or the first)")
	fs.IntVar(&d.folds, "folds", 0, "")
	// A name that users of other models will try; check says what to do instead.
	_ = fs.MarkHidden("folds") // fails only for a flag that is not there
}

// check rejects contradictions, before any file is opened.
func (d *dataFlags) check(fs *pflag.FlagSet) error {
	if fs.Changed("folds") {
		return badInputf("--folds: cross-validation is not available for regression models; divide the rows with --split")
	}
	for _, name := range []string{"data", "split", "train", "val", "test", "dir", "target"} {
		if fs.Changed(name) && fs.Lookup(name).Value.String() == "" {
			return badInputf("--%s is empty", name)
		}
	}
	var forms []string
	for _, name := range []string{"data", "train", "dir"} {
		if fs.Changed(name) {
			forms = append(forms, "--"+name)
		}
	}
	switch {
	case len(forms) == 0 && d.val != "":
		return badInputf("--val needs --train")
	case len(forms) == 0:
		return badInputf("no data: give --data FILE, or --train FILE and --val FILE, or --dir DIR")
	case len(forms) > 1:
		return badInputf("%s contradict each other: give one of --data, --train, --dir", strings.Join(forms, " and "))
	case d.train != "" && d.val == "":
		return badInputf("--train needs --val FILE, the rows on which hyperparameters are chosen (or give --data FILE, which is divided)")
	case d.train == "" && d.val != "":
		return badInputf("--val goes with --train, not with %s", forms[0])
	case d.dir != "" && d.test != "":
		return badInputf("--test goes with --data or --train; --dir takes the test rows of the folder")
	case d.dir != "" && d.target != "":
		return badInputf("--target goes with --data or --train; in a folder the target is the column y, or the first")
	case d.data == "" && d.split != "":
		return badInputf("--split goes with --data, not with %s", forms[0])
	}
	return nil
}

// files are the files or folders as given.
func (d *dataFlags) files() []string {
	var list []string
	for _, f := range []string{d.dir, d.data, d.train, d.val, d.test} {
		if f != "" {
			list = append(list, f)
		}
	}
	return list
}

// rule is the rule of the split, or nothing where the files are divided already.
func (d *dataFlags) rule() string {
	switch {
	case d.data == "" || d.split != "":
		return d.split
	case d.test != "":
		return defaultSplitTested
	}
	return defaultSplit
}

// describe says where the rows come from, in a few words.
func (d *dataFlags) describe(seed uint64) string {
	where := strings.Join(d.files(), ", ")
	if rule := d.rule(); rule != "" {
		where += fmt.Sprintf(" (split %s, seed %d)", rule, seed)
	}
	return where
}

// read reads the tables and divides them.
func (d *dataFlags) read(seed uint64) (*dataset.Split, error) {
	s, err := d.readSplit(seed)
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		return nil, badInput(err)
	}
	// One row has no spread: nothing can be standardised or fitted to it.
	if n, _ := s.Train.Dims(); n < 2 {
		return nil, badInputf("%s: %d training row, expected at least 2", strings.Join(d.files(), ", "), n)
	}
	return s, nil
}

func (d *dataFlags) readSplit(seed uint64) (*dataset.Split, error) {
	switch {
	case d.dir != "":
		return dataset.ReadDir(d.dir)
	case d.train != "":
		return dataset.ReadFiles(d.train, d.val, d.test, d.target)
	}
	s, err := dataset.ReadAndSplit(d.data, d.rule(), seed, d.target)
	if err != nil || d.test == "" {
		return s, err
	}
	if s.Test != nil {
		return nil, fmt.Errorf("--split %s leaves test rows, but --test names a file with them: give two parts", d.rule())
	}
	s.Test, err = dataset.ReadLike(d.test, s.Train)
	return s, err
}

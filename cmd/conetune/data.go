package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/table/input"
)

// dataFlags say where the rows come from.
type dataFlags struct {
	input.Source
	target                   string
	rowFeatures, colFeatures string // of a matrix
	matrix                   bool   // the data are entries of a matrix
}

func (d *dataFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&d.Data, "data", "", "one table, `FILE`, that is split into folds, or divided by --split")
	fs.StringVar(&d.Split, "split", "", "rows for `TRAIN/VAL/TEST`, or with --folds FOLDS/TEST: numbers (50), shares (0.5 or 50%) or the word rest (default: all, folds of all rows; for entries of a matrix "+input.DefaultSplit+", with --test "+input.DefaultSplitTested+")")
	fs.StringVar(&d.Train, "train", "", "training table, `FILE`")
	fs.StringVar(&d.Val, "val", "", "validation table, `FILE`")
	fs.StringVar(&d.Test, "test", "", "test table, `FILE`, with --train or --data (default: none, or the part of --data that --split leaves)")
	fs.StringVar(&d.Dir, "dir", "", "folder `DIR` with train, val and perhaps test")
	fs.StringVar(&d.rowFeatures, "row-features", "", "table with a line of features for each row of the matrix, `FILE`, for matrix-completion with --data")
	fs.StringVar(&d.colFeatures, "col-features", "", "the same for each column, `FILE`")
	fs.StringVar(&d.target, "target", "", "`NAME` of the target column (default: y); for multi-task those of all targets, A,B,..")
	d.registerColumns(fs)
	fs.Var(&foldCount{&d.Source}, "folds", fmt.Sprintf("choose by cross-validation: split the rows of --data into `T` folds, or all: each row, or group of --group, is one (default: %d, as many as there are rows for, unless --split divides the rows)", input.DefaultFolds))
	fs.IntVar(&d.Repeats, "repeats", 0, "split the rows into folds `R` times, and choose by the mean (default: 1 to 3 by the size of the table; 1 for svm and with --preset paper)")
}

// check rejects contradictions, before any file is opened.
func (d *dataFlags) check(fs *pflag.FlagSet) error {
	switch {
	case fs.Changed("folds") && !d.Each && d.Folds < 2:
		return badInputf("--folds is %d, expected at least 2", d.Folds)
	case fs.Changed("repeats") && d.Repeats < 1:
		return badInputf("--repeats is %d, expected at least 1", d.Repeats)
	case fs.Changed("repeats") && (!d.CrossValidates() || d.Dir != ""):
		return badInputf("--repeats goes with the folds of --data FILE")
	}
	if err := d.checkColumns(fs); err != nil {
		return err
	}
	var forms []string
	for _, name := range []string{"data", "train", "dir"} {
		if fs.Changed(name) {
			forms = append(forms, "--"+name)
		}
	}
	if d.matrix {
		if option := d.ForColumns(); option != "" {
			return badInputf("%s goes with tables of features, not with entries of a matrix", option)
		}
		return d.checkMatrix(forms)
	}
	if option := d.ForColumns(); option != "" && d.Dir != "" {
		return badInputf("%s goes with --data or --train; the tables of a folder are ready as they are", option)
	}
	if streams := d.streams(); streams > 1 {
		return badInputf("standard input, -, is named %d times: it can be one of the tables", streams)
	}
	switch {
	case fs.Changed("row-features") || fs.Changed("col-features"):
		return badInputf("--row-features and --col-features go with matrix-completion")
	case d.CrossValidates() && (d.Train != "" || d.Val != ""):
		return badInputf("--train and --val: the model is chosen by cross-validation; give --data FILE and --folds T, or --dir DIR")
	case d.CrossValidates() && len(forms) == 0:
		return badInputf("no data: give --data FILE, or --dir DIR")
	case d.CrossValidates() && d.Dir != "" && fs.Changed("folds"):
		return badInputf("--folds goes with --data; --dir takes the folds of the folder")
	case len(forms) == 0 && d.Val != "":
		return badInputf("--val needs --train")
	case len(forms) == 0:
		return badInputf("no data: give --data FILE, or --train FILE and --val FILE, or --dir DIR")
	case len(forms) > 1:
		return badInputf("%s contradict each other: give one of --data, --train, --dir", strings.Join(forms, " and "))
	case d.Train != "" && d.Val == "":
		return badInputf("--train needs --val FILE, the rows on which hyperparameters are chosen (or give --data FILE, which is divided)")
	case d.Train == "" && d.Val != "":
		return badInputf("--val goes with --train, not with %s", forms[0])
	case d.Dir != "" && d.Test != "":
		return badInputf("--test goes with --data or --train; --dir takes the test rows of the folder")
	case d.Dir != "" && d.target != "" && d.Several:
		return badInputf("--target goes with --data or --train; in a folder the targets are the columns y1, y2, ..")
	case d.Dir != "" && d.target != "":
		return badInputf("--target goes with --data or --train; in a folder the target is the column y, or the first")
	case d.Data == "" && d.Split != "":
		return badInputf("--split goes with --data, not with %s", forms[0])
	}
	return d.checkDesign(fs)
}

// checkTargets reads the names of the targets.
func (d *dataFlags) checkTargets() error {
	switch {
	case d.target == "" && d.Several && d.Dir == "":
		return badInputf("--target is missing: the names of all targets, such as --target a,b")
	case d.target == "":
		return nil
	case !d.Several:
		d.Wanted.Targets = []string{d.target}
		return nil
	}
	list := strings.Split(d.target, ",")
	for k, name := range list {
		switch {
		case name == "":
			return badInputf("--target %s: target %d has no name", d.target, k+1)
		case slices.Contains(list[:k], name):
			return badInputf("--target %s: %q is named twice", d.target, name)
		}
	}
	if len(list) < 2 {
		return badInputf("--target %s: one target, expected several, such as --target a,b", d.target)
	}
	d.Wanted.Targets = list
	return nil
}

// checkMatrix is check for entries of a matrix.
func (d *dataFlags) checkMatrix(forms []string) error {
	switch {
	case d.Train != "" || d.Val != "":
		return badInputf("--train and --val: entries of a matrix come in one file, which is divided; give --data FILE, or --dir DIR")
	case d.Split == input.SplitAll:
		return badInputf("--split all is for folds; entries of a matrix are for training, validation or test")
	case d.target != "":
		return badInputf("--target: the value of an entry is in the column value")
	case len(forms) == 0:
		return badInputf("no data: give --data FILE, or --dir DIR")
	case len(forms) > 1:
		return badInputf("%s contradict each other: give one of --data, --dir", strings.Join(forms, " and "))
	case d.Dir != "" && d.Test != "":
		return badInputf("--test goes with --data; --dir takes the test entries of the folder")
	case d.Dir != "" && (d.rowFeatures != "" || d.colFeatures != ""):
		return badInputf("--row-features and --col-features go with --data; --dir takes the features of the folder")
	case d.Dir != "" && d.Split != "":
		return badInputf("--split goes with --data, not with --dir")
	}
	return nil
}

// readMatrix reads the entries and features of a matrix. groups is the value of --groups.
func (d *dataFlags) readMatrix(number string) (*matcomp.Data, error) {
	var grouping matcomp.Grouping // of the folder, or the default
	if number != "" {
		m, err := strconv.Atoi(number)
		if err != nil {
			return nil, badInputf("--groups is %q, expected a number of equal groups of the row and of the column features", number)
		}
		grouping = func(side string, names []string) (*groups.Groups, error) {
			g, err := groups.Equal(len(names), m)
			if err != nil {
				return nil, fmt.Errorf("--groups: %s features: %w", side, err)
			}
			return g, nil
		}
	}
	var data *matcomp.Data
	var err error
	if d.Dir != "" {
		data, err = matcomp.ReadDir(d.Dir, grouping)
	} else {
		data, err = matcomp.ReadAndSplit(matcomp.Files{Entries: d.Data, Test: d.Test, Row: d.rowFeatures, Col: d.colFeatures}, d.Rule(), d.Seed, grouping)
	}
	if err != nil {
		return nil, badInput(err)
	}
	return data, nil
}

// files are the files or folders as given.
func (d *dataFlags) files() []string {
	list := d.Files()
	for _, f := range []string{d.rowFeatures, d.colFeatures} {
		if f != "" {
			list = append(list, f)
		}
	}
	return list
}

// describe says where rows come from, in a few words.
func (d *dataFlags) describe(rows *input.Rows) string {
	where := strings.Join(d.files(), ", ")
	var how []string
	if rule := d.Rule(); rule != "" {
		how = append(how, "split "+rule)
	}
	if d.CrossValidates() && d.Data != "" {
		how = append(how, d.describeFolds(rows)...)
	}
	if d.ByChance(rows) {
		how = append(how, fmt.Sprintf("seed %d", d.Seed))
	}
	if how != nil {
		where += " (" + strings.Join(how, ", ") + ")"
	}
	return where
}

// describeFolds says how rows were split into folds, in a few words.
func (d *dataFlags) describeFolds(rows *input.Rows) []string {
	folds := count(rows.FoldCount(), "fold")
	switch by := rows.Division; {
	case by.Fold != "":
		folds += " of column " + by.Fold
	case by.Group != "":
		folds += " by group " + by.Group
	case by.Time != "":
		folds += " by time " + by.Time
	case d.Each:
		folds += " of one row"
	}
	list := []string{folds}
	if rows.Repeats > 1 {
		list = append(list, count(rows.Repeats, "repeat"))
	}
	return list
}

// streams counts how often standard input is named.
func (d *dataFlags) streams() (n int) {
	for _, path := range []string{d.Data, d.Train, d.Val, d.Test} {
		if path == input.Stream {
			n++
		}
	}
	return n
}

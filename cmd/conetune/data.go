package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
)

// defaultSplit and defaultSplitTested divide the entries of a matrix unless --split says how,
// the second one where the test entries come from a file of their own; other tables have defaultFolds.
const (
	defaultSplit       = "0.5/0.25/rest"
	defaultSplitTested = "0.67/rest"
	defaultFolds       = 5
)

// dataFlags say where the rows come from.
type dataFlags struct {
	dir, train, val, test, data, split, target string
	folds                                      foldCount
	repeats                                    int
	once                                       bool // one deal by default
	rowFeatures, colFeatures                   string
	crossValidation                            bool // the model is chosen by cross-validation
	matrix                                     bool // the data are entries of a matrix
	several                                    bool // there are several targets
	mostClasses                                int  // of a target of labels, 0 for two
	targets                                    []string
	columns                                    columnFlags
	input                                      dataInput
	reading                                    *reading // of tables of columns, once they are read; nil for other data
	dealt                                      *dealt   // the folds, once there are some
}

func (d *dataFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&d.data, "data", "", "one table, `FILE`, that is dealt out to folds, or divided by --split")
	fs.StringVar(&d.split, "split", "", "rows for `TRAIN/VAL/TEST`, or with --folds FOLDS/TEST: numbers (50), shares (0.5 or 50%) or the word rest (default: all, folds of all rows; for entries of a matrix "+defaultSplit+", with --test "+defaultSplitTested+")")
	fs.StringVar(&d.train, "train", "", "training table, `FILE`")
	fs.StringVar(&d.val, "val", "", "validation table, `FILE`")
	fs.StringVar(&d.test, "test", "", "test table, `FILE`, with --train or --data (default: none, or the part of --data that --split leaves)")
	fs.StringVar(&d.dir, "dir", "", "folder `DIR` with train, val and perhaps test")
	fs.StringVar(&d.rowFeatures, "row-features", "", "table with a line of features for each row of the matrix, `FILE`, for matrix-completion with --data")
	fs.StringVar(&d.colFeatures, "col-features", "", "the same for each column, `FILE`")
	fs.StringVar(&d.target, "target", "", "`NAME` of the target column (default: y); for multi-task those of all targets, A,B,..")
	d.columns.register(fs)
	fs.Var(&d.folds, "folds", fmt.Sprintf("choose by cross-validation: deal the rows of --data out to `T` folds, or all: each row, or group of --group, is one (default: %d, as many as there are rows for, unless --split divides the rows)", defaultFolds))
	fs.IntVar(&d.repeats, "repeats", 0, "deal the rows out to folds `R` times, and choose by the mean (default: 1 to 3 by the size of the table; 1 for svm and with --preset paper)")
}

// check rejects contradictions, before any file is opened.
func (d *dataFlags) check(fs *pflag.FlagSet) error {
	switch {
	case fs.Changed("folds") && !d.folds.all && d.folds.number < 2:
		return badInputf("--folds is %d, expected at least 2", d.folds.number)
	case fs.Changed("repeats") && d.repeats < 1:
		return badInputf("--repeats is %d, expected at least 1", d.repeats)
	case fs.Changed("repeats") && (!d.crossValidation || d.dir != ""):
		return badInputf("--repeats goes with the folds of --data FILE")
	}
	if err := d.columns.check(fs); err != nil {
		return err
	}
	for _, name := range []string{"data", "split", "train", "val", "test", "dir", "target", "row-features", "col-features"} {
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
	if d.matrix {
		if name := d.columns.changed(fs); name != "" {
			return badInputf("--%s goes with tables of features, not with entries of a matrix", name)
		}
		return d.checkMatrix(forms)
	}
	d.columns.given = d.columns.changed(fs)
	if name := d.columns.given; name != "" && d.dir != "" {
		return badInputf("--%s goes with --data or --train; the tables of a folder are ready as they are", name)
	}
	if streams := d.streams(); streams > 1 {
		return badInputf("standard input, -, is named %d times: it can be one of the tables", streams)
	}
	switch {
	case fs.Changed("row-features") || fs.Changed("col-features"):
		return badInputf("--row-features and --col-features go with matrix-completion")
	case d.crossValidation && (d.train != "" || d.val != ""):
		return badInputf("--train and --val: the model is chosen by cross-validation; give --data FILE and --folds T, or --dir DIR")
	case d.crossValidation && len(forms) == 0:
		return badInputf("no data: give --data FILE, or --dir DIR")
	case d.crossValidation && d.dir != "" && fs.Changed("folds"):
		return badInputf("--folds goes with --data; --dir takes the folds of the folder")
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
	case d.dir != "" && d.target != "" && d.several:
		return badInputf("--target goes with --data or --train; in a folder the targets are the columns y1, y2, ..")
	case d.dir != "" && d.target != "":
		return badInputf("--target goes with --data or --train; in a folder the target is the column y, or the first")
	case d.data == "" && d.split != "":
		return badInputf("--split goes with --data, not with %s", forms[0])
	}
	return d.checkDesign(fs)
}

// checkTargets reads the names of several targets.
func (d *dataFlags) checkTargets() error {
	if d.dir != "" {
		return nil
	}
	if d.target == "" {
		return badInputf("--target is missing: the names of all targets, such as --target a,b")
	}
	d.targets = strings.Split(d.target, ",")
	for k, name := range d.targets {
		switch {
		case name == "":
			return badInputf("--target %s: target %d has no name", d.target, k+1)
		case slices.Contains(d.targets[:k], name):
			return badInputf("--target %s: %q is named twice", d.target, name)
		}
	}
	if len(d.targets) < 2 {
		return badInputf("--target %s: one target, expected several, such as --target a,b", d.target)
	}
	d.target = d.targets[0] // in a file of LIBSVM the others are read as features
	return nil
}

// checkMatrix is check for entries of a matrix.
func (d *dataFlags) checkMatrix(forms []string) error {
	switch {
	case d.train != "" || d.val != "":
		return badInputf("--train and --val: entries of a matrix come in one file, which is divided; give --data FILE, or --dir DIR")
	case d.split == splitAll:
		return badInputf("--split all is for folds; entries of a matrix are for training, validation or test")
	case d.target != "":
		return badInputf("--target: the value of an entry is in the column value")
	case len(forms) == 0:
		return badInputf("no data: give --data FILE, or --dir DIR")
	case len(forms) > 1:
		return badInputf("%s contradict each other: give one of --data, --dir", strings.Join(forms, " and "))
	case d.dir != "" && d.test != "":
		return badInputf("--test goes with --data; --dir takes the test entries of the folder")
	case d.dir != "" && (d.rowFeatures != "" || d.colFeatures != ""):
		return badInputf("--row-features and --col-features go with --data; --dir takes the features of the folder")
	case d.dir != "" && d.split != "":
		return badInputf("--split goes with --data, not with --dir")
	}
	return nil
}

// readMatrix reads the entries and features of a matrix. groups is the value of --groups.
func (d *dataFlags) readMatrix(seed uint64, number string) (*matcomp.Data, error) {
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
	if d.dir != "" {
		data, err = matcomp.ReadDir(d.dir, grouping)
	} else {
		data, err = matcomp.ReadAndSplit(matcomp.Files{Entries: d.data, Test: d.test, Row: d.rowFeatures, Col: d.colFeatures}, d.rule(), seed, grouping)
	}
	if err != nil {
		return nil, badInput(err)
	}
	return data, nil
}

// files are the files or folders as given.
func (d *dataFlags) files() []string {
	var list []string
	for _, f := range []string{d.dir, d.data, d.train, d.val, d.test, d.rowFeatures, d.colFeatures} {
		if f != "" {
			list = append(list, f)
		}
	}
	return list
}

// rule is the rule of the split, or nothing where the files are divided already.
func (d *dataFlags) rule() string {
	switch {
	case d.split == splitAll || d.columns.division.Fold != "":
		return ""
	case d.data == "" || d.split != "":
		return d.split
	case d.crossValidation:
		return ""
	case d.test != "":
		return defaultSplitTested
	}
	return defaultSplit
}

// describe says where the rows come from, in a few words.
func (d *dataFlags) describe(seed uint64) string {
	where := strings.Join(d.files(), ", ")
	var how []string
	if rule := d.rule(); rule != "" {
		how = append(how, "split "+rule)
	}
	if d.crossValidation && d.data != "" {
		how = append(how, d.describeFolds()...)
	}
	if d.byChance() {
		how = append(how, fmt.Sprintf("seed %d", seed))
	}
	if how != nil {
		where += " (" + strings.Join(how, ", ") + ")"
	}
	return where
}

// streams counts how often standard input is named.
func (d *dataFlags) streams() (n int) {
	for _, path := range []string{d.data, d.train, d.val, d.test} {
		if path == standardStream {
			n++
		}
	}
	return n
}

// ofColumns says whether the data are tables of columns, and not those of a folder or of LIBSVM.
func (d *dataFlags) ofColumns() bool {
	return d.data != "" && !d.input.isLIBSVM(d.data) || d.train != "" && !d.input.isLIBSVM(d.train)
}

// read reads the tables and divides them; labels says that the target is a label.
func (d *dataFlags) read(seed uint64, labels bool) (t *tables, err error) {
	if d.ofColumns() {
		t, err = d.splitTables(seed, labels)
	} else if d.columns.given != "" {
		err = fmt.Errorf("--%s goes with a table of columns; %s is in the format of LIBSVM", d.columns.given, d.files()[0])
	} else {
		t = &tables{}
		if t.split, err = d.readSplit(seed); err == nil && d.several {
			if err = t.split.Validate(); err == nil {
				t.split, t.targets, err = d.splitTargets(t.split)
			}
		}
	}
	if err == nil {
		err = t.split.Validate()
	}
	if err != nil {
		return nil, badInput(err)
	}
	// One row has no spread: nothing can be standardised or fitted to it.
	if n, _ := t.split.Train.Dims(); n < 2 {
		return nil, badInputf("%s: %d training row, expected at least 2", strings.Join(d.files(), ", "), n)
	}
	return t, nil
}

// readFolds reads the tables and deals their rows out to folds, those of two labels evenly.
func (d *dataFlags) readFolds(seed uint64, labels bool) (t *tables, err error) {
	if d.ofColumns() {
		t, err = d.foldTables(seed, labels)
	} else if d.columns.given != "" {
		err = fmt.Errorf("--%s goes with a table of columns; %s is in the format of LIBSVM", d.columns.given, d.files()[0])
	} else {
		t, err = d.foldNumbers(seed, labels)
	}
	if err == nil {
		err = t.cv.Validate()
	}
	if err != nil {
		return nil, badInput(err)
	}
	for t, f := range t.cv.Folds {
		if len(f.Train) < 2 {
			return nil, badInputf("%s: fold %d has %d training row, expected at least 2", strings.Join(d.files(), ", "), t, len(f.Train))
		}
	}
	return t, nil
}

// checkFoldRule says what is wrong with a rule that leaves so many parts.
func (d *dataFlags) checkFoldRule(rule string, parts int) error {
	switch {
	case parts > 2:
		return fmt.Errorf("--split %s: expected two parts, rows for the folds and rows for the test", rule)
	case d.test != "":
		return fmt.Errorf("--split %s leaves test rows, but --test names a file with them: leave one of the two out", rule)
	}
	return nil
}

package tune

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/problems/dataset"
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

// check rejects contradictions, before any file is opened.
func (d *dataFlags) check(fs *pflag.FlagSet) error {
	for _, name := range []string{"features", "drop", "categorical", "id", "reference", "ordered", "spline", "poly",
		"dates", "interact"} {
		value := fs.Lookup(name).Value.String()
		if fs.Changed(name) && (value == "" || slices.Contains(cli.Names(value), "")) {
			return cli.BadInputf("--%s is %q, expected names of columns, separated by commas", name, value)
		}
	}
	if err := CheckDialect(&d.Options); err != nil {
		return err
	}
	by, of := d.Wanted.Division, d.ForColumns()
	forms, columns := cli.Given(fs, "data", "train", "dir"), cli.Given(fs, "fold-column", "group", "time")
	folder, folds, none, tables := d.Dir != "", d.CrossValidates(), len(forms) == 0, d.Train != "" || d.Val != ""
	first := strings.Join(forms[:min(1, len(forms))], "")
	other, without := "the target is the column y, or the first", "--folds all"
	if d.Several {
		other = "the targets are the columns y1, y2, .."
	}
	if columns != nil && by.Group == "" {
		without = columns[0]
	}
	const chosen = "the model is chosen by cross-validation; give --data FILE and --folds T, or --dir DIR"
	return cli.CheckUse(fs,
		cli.When("folds", !d.Each && d.Folds < 2, fmt.Sprintf(" is %d, expected at least 2", d.Folds)),
		cli.When("repeats", d.Repeats < 1, fmt.Sprintf(" is %d, expected at least 1", d.Repeats)),
		cli.When("", d.streams() > 1, fmt.Sprintf("standard input, -, is named %d times: it can be one of the tables",
			d.streams())),
		cli.When("", of != "" && d.matrix, of+" goes with tables of features, not with entries of a matrix"),
		cli.When("", of != "" && folder, of+" goes with --data or --train; the tables of a folder are ready as they are"),
		cli.When("repeats", !folds || folder, " goes with the folds of --data FILE"),
		cli.When("row-features", !d.matrix, " goes with matrix-completion"),
		cli.When("col-features", !d.matrix, " goes with matrix-completion"),
		cli.When("row-features", folder, " goes with --data; --dir takes the features of the folder"),
		cli.When("col-features", folder, " goes with --data; --dir takes the features of the folder"),
		cli.When("train", d.matrix,
			" and --val: entries of a matrix come in one file, which is divided; give --data FILE, or --dir DIR"),
		cli.When("split", d.matrix && d.Split == input.SplitAll,
			" all is for folds; entries of a matrix are for training, validation or test"),
		cli.When("target", d.matrix, ": the value of an entry is in the column value"),
		cli.When("train", folds, " and --val: "+chosen),
		cli.When("val", folds && d.Train == "" && d.Data == "" && !folder, " goes with --train: "+chosen),
		cli.When("folds", folds && folder, " goes with --data; --dir takes the folds of the folder"),
		cli.When("val", none, " needs --train"),
		cli.When("", none && (d.matrix || folds), "no data: give --data FILE, or --dir DIR"),
		cli.When("", none, "no data: give --data FILE, or --train FILE and --val FILE, or --dir DIR"),
		cli.When("", len(forms) > 1,
			strings.Join(forms, " and ")+" contradict each other: give one of --data, --train, --dir"),
		cli.When("train", d.Val == "",
			" needs --val FILE, the rows on which hyperparameters are chosen (or give --data FILE, which is divided)"),
		cli.When("val", d.Train == "", " goes with --train, not with "+first),
		cli.When("test", folder, " goes with --data or --train; --dir takes the test rows of the folder"),
		cli.When("target", folder, " goes with --data or --train; in a folder "+other),
		cli.When("split", d.Data == "" && (tables || folder), " goes with --data, not with "+first),
		// How rows are divided.
		cli.When("", d.Wanted.Weights != "" && d.Wanted.Weights == d.Wanted.Offset,
			"--weights and --offset name the same column"),
		cli.When("fold-column", len(columns) > 1, " and "+strings.Join(columns[min(1, len(columns)):], ", ")+
			" contradict each other: give one of them"),
		cli.When("", len(columns) > 0 && d.Data == "" && !folder, strings.Join(columns, " and ")+
			" goes with --data FILE; the rows of --train and --val are divided already"),
		cli.When("fold-column", fs.Changed("folds"), " "+by.Fold+" says how many folds there are: leave --folds out"),
		cli.When("fold-column", d.Split != "" && d.Split != input.SplitAll,
			" "+by.Fold+" divides all rows: leave --split out, and name a file of test rows with --test"),
		cli.When("repeats", by.Fold != "" || by.Time != "" && by.Group == "" ||
			d.Each, ": chance has no part in "+without+", so that all repeats would be the same"),
		cli.When("folds", by.Time != "" && d.Each, " all and --time contradict each other: give a number of folds"),
	)
}

// checkTargets reads the names of the targets.
func (d *dataFlags) checkTargets() error {
	switch {
	case d.target == "" && d.Several && d.Dir == "":
		return cli.BadInputf("--target is missing: the names of all targets, such as --target a,b")
	case d.target == "":
		return nil
	case !d.Several:
		d.Wanted.Targets = []string{d.target}
		return nil
	}
	list, err := cli.NamesOf("target", d.target, func(name string) error {
		if name == "" {
			return fmt.Errorf("a target of %q has no name", d.target)
		}
		return nil
	})
	if err == nil && len(list) < 2 {
		err = cli.BadInputf("--target %s: one target, expected several, such as --target a,b", d.target)
	}
	d.Wanted.Targets = list
	return err
}

// readMatrix reads the entries and features of a matrix. number is the value of --groups.
func (d *dataFlags) readMatrix(number string) (*matcomp.Data, error) {
	groups := 0 // those of the folder, or the default
	var err error
	if number != "" {
		if groups, err = strconv.Atoi(number); err != nil || groups < 1 {
			return nil, cli.BadInputf("--groups is %q, expected a number of equal groups of the row and of the column features",
				number)
		}
	}
	var data *matcomp.Data
	if d.Dir != "" {
		data, err = matcomp.ReadDir(d.Dir, groups)
	} else {
		data, err = matcomp.ReadAndSplit(matcomp.Files{Entries: d.Data, Test: d.Test, Row: d.rowFeatures, Col: d.colFeatures,
			Groups: groups}, d.Rule(), d.Seed)
	}
	if err != nil {
		return nil, cli.BadInput(err)
	}
	return data, nil
}

// AllFiles are the files or folders as given.
func (d *dataFlags) AllFiles() []string {
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
	where := strings.Join(d.AllFiles(), ", ")
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
	folds := words.Count(rows.FoldCount(), "fold")
	switch by := rows.Division; {
	case by.Fold != "":
		folds += " of column " + by.Fold
	case by.Group != "" || by.Time != "":
		folds += " by " + by.String()
	case d.Each:
		folds += " of one row"
	}
	list := []string{folds}
	if rows.Repeats > 1 {
		list = append(list, words.Count(rows.Repeats, "repeat"))
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

// entriesAsRows is a table of the entries, for what counts rows.
func entriesAsRows(d *matcomp.Data) *dataset.Split {
	table := func(entries []matcomp.Entry) *dataset.Data {
		if len(entries) == 0 {
			return nil
		}
		x := mat.NewDense(len(entries), 2, nil)
		t := &dataset.Data{X: x, Features: []string{"row", "col"}, Target: "value"}
		for k, e := range entries {
			x.SetRow(k, []float64{float64(e.Row), float64(e.Col)})
			t.Y = append(t.Y, e.Value)
		}
		return t
	}
	return &dataset.Split{Train: table(d.Train), Val: table(d.Val), Test: table(d.Test)}
}

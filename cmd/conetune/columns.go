package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
)

// nameList is the value of a flag of names with commas between them.
type nameList struct{ names *[]string }

// Set implements [pflag.Value].
func (l nameList) Set(text string) error {
	*l.names = []string{}
	if text != "" {
		*l.names = strings.Split(text, ",")
	}
	return nil
}

// String implements [pflag.Value].
func (l nameList) String() string {
	if l.names == nil {
		return ""
	}
	return strings.Join(*l.names, ",")
}

// Type implements [pflag.Value].
func (l nameList) Type() string { return "string" }

// foldCount is the value of --folds.
type foldCount struct{ of *input.Source }

// foldsAll is the value for one fold for each row, or for each group.
const foldsAll = "all"

// Set implements [pflag.Value].
func (f *foldCount) Set(text string) (err error) {
	f.of.Folds, f.of.Each = 0, text == foldsAll
	if !f.of.Each {
		f.of.Folds, err = strconv.Atoi(text)
	}
	return err
}

// String implements [pflag.Value].
func (f *foldCount) String() string {
	switch {
	case f.of == nil:
	case f.of.Each:
		return foldsAll
	case f.of.Folds != 0:
		return strconv.Itoa(f.of.Folds)
	}
	return ""
}

// Type implements [pflag.Value].
func (f *foldCount) Type() string { return "folds" }

// registerDialect adds the flags that say how a table is written, where its content does not.
func registerDialect(fs *pflag.FlagSet, o *table.Options) {
	fs.StringVar(&o.Separator, "sep", "", "what stands between the cells of a table, `C`: , ; | or tab, space, comma, semicolon (default: found from the file)")
	fs.StringVar(&o.Decimal, "decimal", "", "decimal `POINT` of a table, . or , (default: found from the file)")
	fs.StringVar(&o.Encoding, "encoding", "", "`NAME` of the encoding of a table: utf-8, latin1, utf-16 (default: found from the file)")
	fs.StringVar(&o.Comment, "comment", "", "character `C` with which lines begin that are passed over, or none (default: #)")
	fs.StringVar(&o.Header, "header", "", "`YES` or no: whether the first line of a table names its columns (default: found from the file)")
	fs.StringVar(&o.Sheet, "sheet", "", "`NAME` of the sheet of a workbook (default: the first one)")
	fs.Var(nameList{&o.Missing}, "na", "texts and numbers that stand for missing values, `A,B,..`, -999 for example, beside the usual ones (docs/tables.md)")
}

func checkDialect(o *table.Options) error {
	if err := o.Validate(); err != nil {
		return badInputf("--sep, --decimal, --encoding, --comment, --header: %w", err)
	}
	return nil
}

// registerColumns adds the flags that say what the columns of a table are for.
func (d *dataFlags) registerColumns(fs *pflag.FlagSet) {
	w := &d.Wanted
	fs.Var(nameList{&w.Features}, "features", "columns `A,B,..` to use as features (default: all that can be)")
	fs.Var(nameList{&w.Drop}, "drop", "columns `A,B,..` to leave out")
	fs.Var(nameList{&w.Categorical}, "categorical", "columns `A,B,..` whose numbers are names of categories")
	fs.Var(nameList{&w.Labels}, "id", "columns `A,B,..` that name the rows and are no features, beside row names and numbers of rows, which are found; none: no column does")
	fs.StringVar((*string)(&w.Missing), "missing", "", "`RULE` for missing values of features: "+strings.Join(table.MissingRules(), ", ")+" (default: median, that of the training rows)")
	fs.StringVar(&w.Division.Fold, "fold-column", "", "column `A` that says in which fold a row validates")
	fs.StringVar(&w.Division.Group, "group", "", "column `A` whose rows of the same value stay together, in folds and in --split")
	fs.StringVar(&w.Division.Time, "time", "", "column `A` of numbers or dates: no fold is trained on rows that come later than those it validates, and --split takes the last rows for the test")
	fs.StringVar(&w.Weights, "weights", "", "column `A` of weights of rows, in fits and errors, for all models but multi-task and matrix-completion")
	fs.StringVar(&w.Offset, "offset", "", "column `A` of a known term of the value of rows, in fits, errors and predictions: the logarithm of an exposure for poisson, for example")
	fs.StringVar(&w.Event, "event", "", "column `A` that says whether the time of a row is that of its event, for cox: 0 and 1, 1 and 2, or two texts, or A=VALUE with the value of events; none where all rows have one (default: event or status)")
	registerDialect(fs, &d.Options)
}

func (d *dataFlags) checkColumns(fs *pflag.FlagSet) error {
	if rule := string(d.Wanted.Missing); rule != "" && !slices.Contains(table.MissingRules(), rule) {
		return badInputf("--missing is %q, expected one of %s", rule, strings.Join(table.MissingRules(), ", "))
	}
	for _, name := range []string{"features", "drop", "categorical", "id"} {
		if value := fs.Lookup(name).Value.String(); fs.Changed(name) && slices.Contains(strings.Split(value, ","), "") {
			return badInputf("--%s is %q, expected names of columns, separated by commas", name, value)
		}
	}
	return checkDialect(&d.Options)
}

// checkDesign rejects contradictions between the flags that say how rows are divided.
func (d *dataFlags) checkDesign(fs *pflag.FlagSet) error {
	if d.Wanted.Weights != "" && d.Wanted.Weights == d.Wanted.Offset {
		return badInputf("--weights and --offset name the same column")
	}
	var given []string
	for _, name := range []string{"fold-column", "group", "time"} {
		if fs.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	switch by := d.Wanted.Division; {
	case len(given) > 1:
		return badInputf("%s contradict each other: give one of them", strings.Join(given, " and "))
	case len(given) == 1 && d.Data == "" && d.Dir == "":
		return badInputf("%s goes with --data FILE; the rows of --train and --val are divided already", given[0])
	case by.Fold != "" && fs.Changed("folds"):
		return badInputf("--fold-column %s says how many folds there are: leave --folds out", by.Fold)
	case by.Fold != "" && d.Split != "" && d.Split != input.SplitAll:
		return badInputf("--fold-column %s divides all rows: leave --split out, and name a file of test rows with --test", by.Fold)
	case fs.Changed("repeats") && (by.Fold != "" || by.Time != "" || d.Each):
		without := "--folds all"
		if given != nil && by.Group == "" {
			without = given[0]
		}
		return badInputf("--repeats: chance has no part in %s, so that all deals would be the same", without)
	case by.Time != "" && d.Each:
		return badInputf("--folds all and --time contradict each other: give a number of folds")
	}
	return nil
}

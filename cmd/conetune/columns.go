package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/table"
)

// dialectFlags say how a file is written, where its content does not.
type dialectFlags struct {
	table.Options
	gaps string
}

func (d *dialectFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&d.Separator, "sep", "", "what stands between the cells of a table, `C`: , ; | or tab, space, comma, semicolon (default: found from the file)")
	fs.StringVar(&d.Decimal, "decimal", "", "decimal `POINT` of a table, . or , (default: found from the file)")
	fs.StringVar(&d.Encoding, "encoding", "", "`NAME` of the encoding of a table: utf-8, latin1, utf-16 (default: found from the file)")
	fs.StringVar(&d.Comment, "comment", "", "character `C` with which lines begin that are passed over, or none (default: #)")
	fs.StringVar(&d.Header, "header", "", "`YES` or no: whether the first line of a table names its columns (default: found from the file)")
	fs.StringVar(&d.Sheet, "sheet", "", "`NAME` of the sheet of a workbook (default: the first one)")
	fs.StringVar(&d.gaps, "na", "", "texts and numbers that stand for missing values, `A,B,..`, -999 for example, beside the usual ones (docs/tables.md)")
}

func (d *dialectFlags) check() error {
	if err := d.Validate(); err != nil {
		return badInputf("--sep, --decimal, --encoding, --comment, --header: %w", err)
	}
	d.Missing = names(d.gaps)
	return nil
}

// columnFlags say what the columns of a table are for.
type columnFlags struct {
	dialectFlags
	drop, features, categorical, id, missing string
	weights, offset, event                   string
	survival                                 bool // the target is a time
	division                                 table.Division
	given                                    string // the first of them that was given
}

func (c *columnFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&c.features, "features", "", "columns `A,B,..` to use as features (default: all that can be)")
	fs.StringVar(&c.drop, "drop", "", "columns `A,B,..` to leave out")
	fs.StringVar(&c.categorical, "categorical", "", "columns `A,B,..` whose numbers are names of categories")
	fs.StringVar(&c.id, "id", "", "columns `A,B,..` that name the rows and are no features, beside row names and numbers of rows, which are found; none: no column does")
	fs.StringVar(&c.missing, "missing", "", "`RULE` for missing values of features: "+strings.Join(table.MissingRules(), ", ")+" (default: median, that of the training rows)")
	c.registerDivision(fs)
	fs.StringVar(&c.weights, "weights", "", "column `A` of weights of rows, in fits and errors, for all models but multi-task and matrix-completion")
	fs.StringVar(&c.offset, "offset", "", "column `A` of a known term of the value of rows, in fits, errors and predictions: the logarithm of an exposure for poisson, for example")
	fs.StringVar(&c.event, "event", "", "column `A` that says whether the time of a row is that of its event, for cox: 0 and 1, 1 and 2, or two texts, or A=VALUE with the value of events; none where all rows have one (default: event or status)")
	c.dialectFlags.register(fs)
}

// columnFlagNames are the flags for tables of columns, which other data do not take.
var columnFlagNames = []string{"features", "drop", "categorical", "id", "missing", "na", "fold-column", "group", "time", "weights", "offset", "event", "sep", "decimal", "encoding", "comment", "header", "sheet"}

// changed is the first of these flags that was given, or empty.
func (c *columnFlags) changed(fs *pflag.FlagSet) string {
	for _, name := range columnFlagNames {
		if fs.Changed(name) {
			return name
		}
	}
	return ""
}

func (c *columnFlags) check(fs *pflag.FlagSet) error {
	if c.missing != "" && !slices.Contains(table.MissingRules(), c.missing) {
		return badInputf("--missing is %q, expected one of %s", c.missing, strings.Join(table.MissingRules(), ", "))
	}
	for name, value := range map[string]string{"features": c.features, "drop": c.drop, "categorical": c.categorical, "id": c.id} {
		if fs.Changed(name) && slices.Contains(strings.Split(value, ","), "") {
			return badInputf("--%s is %q, expected names of columns, separated by commas", name, value)
		}
	}
	return c.dialectFlags.check()
}

// wanted says what the columns are for.
func (c *columnFlags) wanted(targets []string, labels bool, mostClasses int) table.Wanted {
	return table.Wanted{
		Targets: targets, Features: names(c.features), Drop: names(c.drop), Labels: names(c.id), Categorical: names(c.categorical),
		Missing: table.Missing(c.missing), Classes: labels, MostClasses: mostClasses, Division: c.division, Weights: c.weights, Offset: c.offset,
		Survival: c.survival, Event: c.event,
	}
}

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/split"
)

// splitAll is the --split that leaves no rows for a test.
const splitAll = "all"

// foldCount is the value of --folds; the zero value is none.
type foldCount struct {
	number int
	all    bool // one for each row, or for each group
}

// Set implements [pflag.Value].
func (f *foldCount) Set(text string) error {
	if text == splitAll {
		*f = foldCount{all: true}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	*f = foldCount{number: n}
	return nil
}

// String implements [pflag.Value].
func (f *foldCount) String() string {
	switch {
	case f.all:
		return splitAll
	case f.number != 0:
		return strconv.Itoa(f.number)
	}
	return ""
}

// Type implements [pflag.Value].
func (f *foldCount) Type() string { return "folds" }

// divisionFlagNames are the flags of columns that divide the rows.
var divisionFlagNames = []string{"fold-column", "group", "time"}

// registerDivision adds the flags of columns that divide the rows.
func (c *columnFlags) registerDivision(fs *pflag.FlagSet) {
	fs.StringVar(&c.division.Fold, "fold-column", "", "column `A` that says in which fold a row validates")
	fs.StringVar(&c.division.Group, "group", "", "column `A` whose rows of the same value stay together, in folds and in --split")
	fs.StringVar(&c.division.Time, "time", "", "column `A` of numbers or dates: no fold is trained on rows that come later than those it validates, and --split takes the last rows for the test")
}

// checkDesign rejects contradictions between the flags that say how rows are divided.
func (d *dataFlags) checkDesign(fs *pflag.FlagSet) error {
	for name, value := range map[string]string{"weights": d.columns.weights, "offset": d.columns.offset} {
		if fs.Changed(name) && value == "" {
			return badInputf("--%s is empty", name)
		}
	}
	if d.columns.weights != "" && d.columns.weights == d.columns.offset {
		return badInputf("--weights and --offset name the same column")
	}
	var given []string
	for _, name := range divisionFlagNames {
		if fs.Changed(name) {
			if fs.Lookup(name).Value.String() == "" {
				return badInputf("--%s is empty", name)
			}
			given = append(given, "--"+name)
		}
	}
	switch by := d.columns.division; {
	case len(given) > 1:
		return badInputf("%s contradict each other: give one of them", strings.Join(given, " and "))
	case len(given) == 1 && d.data == "" && d.dir == "":
		return badInputf("%s goes with --data FILE; the rows of --train and --val are divided already", given[0])
	case by.Fold != "" && fs.Changed("folds"):
		return badInputf("--fold-column %s says how many folds there are: leave --folds out", by.Fold)
	case by.Fold != "" && d.split != "" && d.split != splitAll:
		return badInputf("--fold-column %s divides all rows: leave --split out, and name a file of test rows with --test", by.Fold)
	case fs.Changed("repeats") && (by.Fold != "" || by.Time != "" || d.folds.all):
		return badInputf("--repeats: chance has no part in %s, so that all deals would be the same", d.withoutChance())
	case by.Time != "" && d.folds.all:
		return badInputf("--folds all and --time contradict each other: give a number of folds")
	}
	return nil
}

// withoutChance names the flag that leaves nothing to chance.
func (d *dataFlags) withoutChance() string {
	switch {
	case d.columns.division.Fold != "":
		return "--fold-column"
	case d.columns.division.Time != "":
		return "--time"
	}
	return "--folds all"
}

// divided are the values of the columns that divide rows, nil for columns that nobody named.
type divided struct {
	fold, group []int
	at          []float64
}

// divided are those of some rows.
func (c *columns) divided(by table.Division, rows []int) divided {
	return divided{c.design.Numbers(by.Fold, rows), c.design.Numbers(by.Group, rows), c.design.Times(rows)}
}

// setApart divides the rows of a table by a rule of --split.
func (d *dataFlags) setApart(c *columns, rule string, seed uint64) (parts [][]int, err error) {
	switch by := c.divided(d.columns.division, c.rows); {
	case by.group != nil:
		parts, err = split.ByGroup(by.group, rule, seed)
	case by.at != nil:
		parts, err = split.ByTime(by.at, rule)
	default:
		parts, err = split.Random(len(c.rows), rule, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	for _, part := range parts {
		for k, i := range part {
			part[k] = c.rows[i]
		}
	}
	return parts, nil
}

// dealt are folds as they were dealt.
type dealt struct {
	folds   []split.Fold
	repeats int
}

// count is the number of folds of a deal.
func (d *dealt) count() int { return len(d.folds) / d.repeats }

// deal deals the rows of a table out to folds.
func (d *dataFlags) deal(data *dataset.Data, by divided, seed uint64, labels bool) (*dealt, error) {
	n, p := data.Dims()
	folds := d.foldsOf(n, by)
	var err error
	out := &dealt{repeats: 1}
	switch {
	case by.fold != nil:
		out.folds, err = foldsOfValues(by.fold, d.columns.division.Fold)
	case d.folds.all && by.group != nil:
		out.folds, err = foldsOfValues(by.group, d.columns.division.Group)
	case d.folds.all, by.group == nil && by.at == nil && folds == n && n > 2:
		parts := make([][]int, n)
		for i := range parts {
			parts[i] = []int{i}
		}
		out.folds, err = split.FoldsOf(parts), checkFoldMemory(data, n)
	case by.at != nil:
		if out.folds, err = split.TimeFolds(by.at, folds); err != nil {
			err = fmt.Errorf("column %q: %w", d.columns.division.Time, err)
		}
	case by.group == nil && (folds > n || n < 2):
		err = fmt.Errorf("%d folds, but %s for them", max(folds, 2), thereAre(n, "row"))
	default:
		if out.repeats = d.repeats; out.repeats == 0 {
			if out.repeats = 1; !d.once {
				out.repeats = split.Repeats(n, p)
			}
		}
		out.folds, err = d.dealByChance(data, by.group, folds, out.repeats, seed, labels)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.data, err)
	}
	return out, nil
}

// thereAre says how many there are of something.
func thereAre(n int, what string) string {
	if n == 1 {
		return "there is 1 " + what
	}
	return "there are " + count(n, what)
}

// foldsOf is the number of folds of so many rows: that of --folds, or the default as far as there are rows, groups or times for it.
func (d *dataFlags) foldsOf(n int, by divided) int {
	if d.folds.number != 0 {
		return d.folds.number
	}
	switch {
	case by.group != nil:
		n = len(split.PartsOf(by.group))
	case by.at != nil:
		times := slices.Clone(by.at)
		slices.Sort(times)
		n = len(slices.Compact(times)) - 1
	}
	return max(2, min(defaultFolds, n))
}

// dealByChance deals rows, or groups of them, out at random; those of labels evenly, as far as groups allow.
func (d *dataFlags) dealByChance(data *dataset.Data, group []int, folds, repeats int, seed uint64, labels bool) ([]split.Fold, error) {
	if group != nil {
		var class []int
		if labels {
			if kinds, err := dataset.FindClasses(data); err == nil { // else the model says why
				for _, y := range data.Y {
					class = append(class, slices.Index(kinds, y))
				}
			}
		}
		list, err := split.GroupFolds(group, folds, repeats, seed, class)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", d.columns.division.Group, err)
		}
		return list, nil
	}
	var class []int
	if labels {
		var err error
		of := dataset.Classes
		if d.mostClasses > 0 {
			of = dataset.ClassNumbers
		}
		if class, err = of(data); err != nil {
			if rule := d.rule(); rule != "" {
				err = fmt.Errorf("of the rows that --split %s leaves for the folds, %w", rule, err)
			}
			return nil, err
		}
	}
	n, _ := data.Dims()
	return split.RandomFolds(n, folds, repeats, seed, class)
}

// foldsOfValues are folds in each of which the rows of one value of a column validate.
func foldsOfValues(number []int, column string) ([]split.Fold, error) {
	parts := split.PartsOf(number)
	if len(parts) < 2 {
		return nil, fmt.Errorf("column %q has one value, expected one for each of several folds", column)
	}
	return split.FoldsOf(parts), nil
}

// checkFoldMemory refuses so many folds of a table, of which each has its own, where these are more than the budget of memory.
func checkFoldMemory(data *dataset.Data, folds int) error {
	n, p := data.Dims()
	const bytes = 2 * 8 // as it is, and scaled
	size := float64(n) * float64(p)
	if data.Sparse() {
		size = 2 * float64(data.Nonzeros())
	}
	if budget := memory.Default(); float64(folds)*size*bytes > float64(budget) {
		return fmt.Errorf("--folds all: %d folds of this table do not fit into the budget of memory, %s (--memory SIZE or GOMEMLIMIT gives more): give a number of folds", folds, memory.Format(budget))
	}
	return nil
}

// describeFolds says how the rows were dealt out, in a few words.
func (d *dataFlags) describeFolds() []string {
	folds := count(d.dealt.count(), "fold")
	switch by := d.columns.division; {
	case by.Fold != "":
		folds += " of column " + by.Fold
	case by.Group != "":
		folds += " by group " + by.Group
	case by.Time != "":
		folds += " by time " + by.Time
	case d.folds.all:
		folds += " of one row"
	}
	list := []string{folds}
	if d.dealt.repeats > 1 {
		list = append(list, count(d.dealt.repeats, "repeat"))
	}
	return list
}

// byChance says whether the seed has a part in the division of the rows.
func (d *dataFlags) byChance() bool {
	by := d.columns.division
	switch {
	case by.Fold != "" || by.Time != "" || d.data == "":
		return false
	case d.rule() != "":
		return true
	}
	return d.crossValidation && !d.folds.all
}

// dealsByDefault says whether the rows are dealt out to folds without --folds: those of one table are, unless --split divides them.
func (d *dataFlags) dealsByDefault() bool {
	return d.data != "" && d.train == "" && d.val == "" && d.dir == "" && (d.split == "" || d.split == splitAll || d.columns.division.Fold != "")
}

package input

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/split"
)

// divided are the columns that divide rows, and their values, nil for columns that nobody named.
type divided struct {
	names table.Division
	split.By
	fold []int
}

// FoldCount is the number of folds of a repeat; 0 where there are none.
func (r *Rows) FoldCount() int {
	if r.CV == nil {
		return 0
	}
	return len(r.CV.Folds) / r.Repeats
}

// OuterFolds splits rows into so many outer folds, by the design of those inside: 0 for [DefaultFolds], as far as rows,
// groups or times allow, or as many as the column of folds has.
func (s *Source) OuterFolds(o *Outer, folds int) ([]split.Fold, error) {
	outer := *s
	outer.Folds, outer.Each, outer.Repeats = folds, false, 1
	if s.Wanted.Division.Fold != "" {
		outer.Folds = 0
	}
	list, _, err := outer.splitFolds(o.Data, o.by)
	return list, err
}

// splitFolds splits the rows of a table into folds, so often.
func (s *Source) splitFolds(data *dataset.Data, by divided) (list []split.Fold, repeats int, err error) {
	n, p := data.Dims()
	folds, often := s.worth(n, p, by)
	repeats = 1
	switch {
	case by.fold != nil:
		list, err = foldsOfValues(by.fold, by.names.Fold)
	case s.Each && by.Group != nil:
		list, err = foldsOfValues(by.Group, by.names.Group)
	case s.Each, by.Group == nil && by.At == nil && folds == n && n > 2:
		list, err = split.FoldsOf(indices.Singles(n)), checkFoldMemory(data, n)
	case by.At != nil:
		if by.Group != nil {
			repeats = often
		}
		if list, err = by.Folds(n, folds, repeats, s.Seed, nil); err != nil {
			err = fmt.Errorf("column %q: %w", by.names.Time, err)
		}
	case by.Group == nil && (folds > n || n < 2):
		err = fmt.Errorf("%d folds, but %s for them", max(folds, 2), thereAre(n, "row"))
	default:
		repeats = often
		list, err = s.randomFolds(data, by, folds, repeats)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.Data, err)
	}
	return list, repeats, nil
}

// thereAre says how many there are of something.
func thereAre(n int, what string) string {
	if n == 1 {
		return "there is 1 " + what
	}
	return fmt.Sprintf("there are %d %ss", n, what)
}

// worth are folds and repeats of so many rows and features: those that are wanted, or where neither is ten folds of a
// small table, twice where one is a matter of chance, as the fits take no time and those of five folds lack a fifth of
// the rows; else, and in time, where the first fit has the rows of one block, [DefaultFolds]. There are no more than
// rows, groups or times allow.
func (s *Source) worth(n, p int, by divided) (folds, repeats int) {
	const fewest, few, small = 250, 1000, 50_000 // rows, and entries of a table
	folds, repeats = DefaultFolds, max(s.Repeats, 1)
	if s.Repeats == 0 && n <= few && n*p <= small {
		if n <= fewest {
			repeats = 2
		}
		if by.At == nil {
			folds = 2 * DefaultFolds
		}
	}
	if s.Folds != 0 {
		return s.Folds, repeats
	}
	switch {
	case by.At != nil:
		times := slices.Clone(by.At)
		slices.Sort(times)
		n = len(slices.Compact(times)) - 1
	case by.Group != nil:
		n = len(split.PartsOf(by.Group))
	}
	return max(2, min(folds, n)), repeats
}

// randomFolds splits rows, or groups of them, at random; those of labels evenly, as far as groups allow.
func (s *Source) randomFolds(data *dataset.Data, by divided, folds, repeats int) ([]split.Fold, error) {
	var class []int
	switch {
	case !s.Wanted.Classes:
	case by.Group != nil:
		if kinds, err := dataset.FindClasses(data, dataset.MostClasses); err == nil { // else the model says why
			for _, y := range data.Y {
				class = append(class, slices.Index(kinds, y))
			}
		}
	default:
		var err error
		if class, err = dataset.ClassNumbers(data, max(s.Wanted.MostClasses, 2)); err != nil {
			if rule := s.Rule(); rule != "" {
				err = fmt.Errorf("of the rows that Source.Split %s leaves for the folds, %w", rule, err)
			}
			return nil, err
		}
	}
	list, err := by.Folds(len(data.Y), folds, repeats, s.Seed, class)
	if err != nil && by.Group != nil {
		err = fmt.Errorf("column %q: %w", by.names.Group, err)
	}
	return list, err
}

// foldsOfValues are folds in each of which the rows of one value of a column validate.
func foldsOfValues(number []int, column string) ([]split.Fold, error) {
	parts := split.PartsOf(number)
	if len(parts) < 2 {
		return nil, fmt.Errorf("column %q has one value, expected one for each of several folds", column)
	}
	return split.FoldsOf(parts), nil
}

// checkFoldMemory refuses so many folds of a table, of which each has its own, where these are more than the budget of
// memory.
func checkFoldMemory(data *dataset.Data, folds int) error {
	n, p := data.Dims()
	const bytes = 2 * 8 // as it is, and scaled
	size := float64(n) * float64(p)
	if data.Sparse() {
		size = 2 * float64(data.Nonzeros())
	}
	if budget := memory.Default(); float64(folds)*size*bytes > float64(budget) {
		return fmt.Errorf(
			"Source.Each: %d folds of this table do not fit into the budget of memory, %s (%s): give a number of "+
				"folds", folds, memory.Format(budget), memory.More)
	}
	return nil
}

// ByChance says whether the seed has a part in the division of rows.
func (s *Source) ByChance(r *Rows) bool {
	switch {
	case r.Division.Fold != "" || r.Division.Time != "" && r.Division.Group == "" || s.Data == "":
		return false
	case s.Rule() != "":
		return true
	}
	return r.CV != nil && !s.Each
}

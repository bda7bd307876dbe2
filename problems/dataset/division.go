package dataset

import (
	"slices"

	"github.com/conetune/conetune/internal/crew"
)

// Division is a table whose rows are divided for the choice of hyperparameters: a [Split], or a [CrossValidation].
type Division interface {
	// Validate checks the rows.
	Validate() error
	// Table returns the rows that give features, targets and their units: the training rows of a split, and all rows that
	// were split into folds.
	Table() *Data
	// Parts returns pairs of training and validation rows: one pair for a split, one for each fold.
	Parts() []*Split
	// Count is the number of these pairs, and Training and Validation are the rows of one of them, to be read only: the
	// training rows of all folds take several times the memory of the targets.
	Count() int
	Training(t int) *Data
	Validation(t int) *Data
	// Tests returns the test rows, nil where there are none.
	Tests() *Data
	// Map returns the same division with the targets f(y).
	Map(f func(y float64) float64) Division
}

var (
	_ Division = (*Split)(nil)
	_ Division = (*CrossValidation)(nil)
)

// Table returns the training rows.
func (s *Split) Table() *Data { return s.Train }

// Parts returns the split without its test rows.
func (s *Split) Parts() []*Split { return []*Split{{Train: s.Train, Val: s.Val}} }

// Count is 1.
func (s *Split) Count() int { return 1 }

// Training returns the training rows.
func (s *Split) Training(int) *Data { return s.Train }

// Validation returns the validation rows.
func (s *Split) Validation(int) *Data { return s.Val }

// Tests returns the test rows.
func (s *Split) Tests() *Data { return s.Test }

// Map returns the split with the targets f(y).
func (s *Split) Map(f func(y float64) float64) Division { return changed(s, mapping(f)) }

// Table returns all rows of the folds.
func (c *CrossValidation) Table() *Data { return c.Data }

// Parts returns the rows of each fold, to be read only.
func (c *CrossValidation) Parts() []*Split {
	parts := make([]*Split, len(c.Folds))
	crew.All(len(parts), func(t int) { parts[t] = &Split{Train: c.Training(t), Val: c.Validation(t)} })
	return parts
}

// Count is the number of folds.
func (c *CrossValidation) Count() int { return len(c.Folds) }

// Training returns the training rows of fold t, to be read only.
func (c *CrossValidation) Training(t int) *Data {
	return c.Gaps.Filled(c.Data, t, c.Folds[t].Training(len(c.Data.Y)))
}

// Validation returns the validation rows of fold t, to be read only.
func (c *CrossValidation) Validation(t int) *Data { return c.Gaps.Filled(c.Data, t, c.Folds[t].Val) }

// Tests returns the test rows.
func (c *CrossValidation) Tests() *Data { return c.Test }

// Map returns the cross-validation with the targets f(y).
func (c *CrossValidation) Map(f func(y float64) float64) Division { return changed(c, mapping(f)) }

// mapping puts the targets f(y) in the place of those of a table.
func mapping(f func(y float64) float64) func(d *Data) {
	return func(d *Data) {
		d.Y = slices.Clone(d.Y)
		for i, y := range d.Y {
			d.Y[i] = f(y)
		}
	}
}

// changed is a division with copies of its tables that change makes others.
func changed(v Division, change func(d *Data)) Division {
	each := func(d *Data) *Data {
		if d == nil {
			return nil
		}
		out := *d
		change(&out)
		return &out
	}
	if c, folds := v.(*CrossValidation); folds {
		return &CrossValidation{Data: each(c.Data), Folds: c.Folds, Test: each(c.Test), Gaps: c.Gaps}
	}
	s := v.(*Split)
	return &Split{Train: each(s.Train), Val: each(s.Val), Test: each(s.Test)}
}

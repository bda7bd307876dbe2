package dataset

import (
	"fmt"

	"github.com/conetune/conetune/table/split"
)

// CrossValidation is a table with its folds, and rows for a last look at what came
// out. Test may be nil.
type CrossValidation struct {
	Data  *Data
	Folds []split.Fold
	Test  *Data
	// Gaps are entries of Data that have values of their own in each fold; nil for none.
	Gaps *Gaps
}

// CrossValidate splits the rows of d into t folds, see [split.By.Folds].
func CrossValidate(d *Data, t int, seed uint64, classes []int) (*CrossValidation, error) {
	n, _ := d.Dims()
	folds, err := split.By{}.Folds(n, t, 1, seed, classes)
	if err != nil {
		return nil, err
	}
	return &CrossValidation{Data: d, Folds: folds}, nil
}

// SplitRows splits the rows of d at random, without overlap, into the sets of spec, see [split.By.Sets]: for training,
// validation and, if there is a third one, the test.
func SplitRows(d *Data, spec string, seed uint64) (*Split, error) {
	n, _ := d.Dims()
	parts, err := split.By{}.Sets(n, spec, seed)
	if err != nil {
		return nil, err
	}
	var s Split
	for k, set := range []**Data{&s.Train, &s.Val, &s.Test}[:len(parts)] {
		*set = d.Rows(parts[k])
	}
	return &s, nil
}

// Validate checks the table, that there are at least two folds, that each has rows
// to train and rows to validate, that these are rows of the table and no row is in
// a fold twice, and that the test rows fit.
func (c *CrossValidation) Validate() error {
	if c == nil {
		return fmt.Errorf("dataset: no data")
	}
	if err := c.Data.Validate(); err != nil {
		return err
	}
	n, _ := c.Data.Dims()
	if err := split.CheckFolds(c.Folds, n); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if err := c.Gaps.validate(c); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	if c.Test == nil {
		return nil
	}
	if err := c.Test.validate(c.Data); err != nil {
		return fmt.Errorf("%w (test set)", err)
	}
	if diff := Difference(c.Data, c.Test); diff != "" {
		return fmt.Errorf("dataset: the test set does not fit the data: %s", diff)
	}
	return nil
}

package dataset

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/indices"
)

// Gaps are the entries of the table of a cross-validation whose values the user's table lacks. What stands in their
// place is learned from training rows, and so it is another value in each fold.
type Gaps struct {
	// Row and Feature are those of the entries, by rising rows. In a sparse table they are stored entries.
	Row, Feature []int
	// Fill has a list for each fold, with the value for each feature that has gaps.
	Fill [][]float64
}

// of are the features of the gaps of a row.
func (g *Gaps) of(row int) []int {
	if g == nil {
		return nil
	}
	from, found := slices.BinarySearch(g.Row, row)
	if !found {
		return nil
	}
	to := from + 1
	for to < len(g.Row) && g.Row[to] == row {
		to++
	}
	return g.Feature[from:to]
}

// Filled returns the rows of a table as they are in fold t, in the order of index, which are to be read only.
func (g *Gaps) Filled(d *Data, t int, index []int) *Data {
	if g == nil {
		return d.Rows(index)
	}
	return d.rows(index, g, g.Fill[t])
}

// Table is the whole table as it is in fold t: itself without gaps, and else a copy.
func (g *Gaps) Table(d *Data, t int) *Data {
	if g == nil {
		return d
	}
	n, _ := d.Dims()
	all := indices.Range(0, n)
	return g.Filled(d, t, all)
}

// validate rejects entries that the table does not have, and values that are no numbers.
func (g *Gaps) validate(c *CrossValidation) error {
	if g == nil {
		return nil
	}
	n, p := c.Data.Dims()
	switch {
	case len(g.Row) != len(g.Feature):
		return fmt.Errorf("%d rows and %d features of gaps", len(g.Row), len(g.Feature))
	case len(g.Fill) != len(c.Folds):
		return fmt.Errorf("values for the gaps of %d folds, expected %d", len(g.Fill), len(c.Folds))
	case !slices.IsSorted(g.Row):
		return fmt.Errorf("the rows of gaps do not rise")
	}
	for t, fill := range g.Fill {
		if len(fill) != p {
			return fmt.Errorf("fold %d has values for the gaps of %d features, expected %d", t, len(fill), p)
		}
		for _, v := range fill {
			if expected := Expected(v); expected != "" {
				return fmt.Errorf("fold %d has %g in a gap, expected %s", t, v, expected)
			}
		}
	}
	for k, i := range g.Row {
		if i < 0 || i >= n || g.Feature[k] < 0 || g.Feature[k] >= p {
			return fmt.Errorf("a gap in row %d and feature %d of a table of %d rows and %d features", i, g.Feature[k], n, p)
		}
	}
	return nil
}

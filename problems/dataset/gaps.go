package dataset

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/indices"
)

// Gaps are the entries of the table of a cross-validation that are learned from training rows, such as what stands in
// the place of a missing value, and so have another value in each fold.
type Gaps struct {
	// Row and Feature are those of the entries, by rising rows. In a sparse table they are stored entries.
	Row, Feature []int
	// Values has a list for each fold, with that of each entry.
	Values [][]float64
}

// of are the features of the entries of a row, and their places among all.
func (g *Gaps) of(row int) (features []int, from int) {
	if g == nil {
		return nil, 0
	}
	from, found := slices.BinarySearch(g.Row, row)
	if !found {
		return nil, 0
	}
	to := from + 1
	for to < len(g.Row) && g.Row[to] == row {
		to++
	}
	return g.Feature[from:to], from
}

// More is how much larger each entry is in each fold than in the table.
func (g *Gaps) More(d *Data) [][]float64 {
	out := make([][]float64, len(g.Values))
	for t, values := range g.Values {
		out[t] = slices.Clone(values)
		for k, i := range g.Row {
			out[t][k] -= d.X.At(i, g.Feature[k])
		}
	}
	return out
}

// Filled returns the rows of a table as they are in fold t, in the order of index, which are to be read only.
func (g *Gaps) Filled(d *Data, t int, index []int) *Data {
	if g == nil {
		return d.Rows(index)
	}
	return d.rows(index, g, g.Values[t])
}

// Table is the whole table as it is in fold t: itself without gaps, and else a copy.
func (g *Gaps) Table(d *Data, t int) *Data {
	if g == nil {
		return d
	}
	n, _ := d.Dims()
	return g.Filled(d, t, indices.Range(0, n))
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
	case len(g.Values) != len(c.Folds):
		return fmt.Errorf("values for the gaps of %d folds, expected %d", len(g.Values), len(c.Folds))
	case !slices.IsSorted(g.Row):
		return fmt.Errorf("the rows of gaps do not rise")
	}
	for t, values := range g.Values {
		if len(values) != len(g.Row) {
			return fmt.Errorf("fold %d has values for %d gaps, expected %d", t, len(values), len(g.Row))
		}
		for _, v := range values {
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

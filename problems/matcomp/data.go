package matcomp

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
)

// Entry is a known entry of the matrix, with indices from 0.
type Entry struct {
	Row, Col int
	Value    float64
}

// Data are the known entries of a matrix, divided, and what is known of its rows and columns.
type Data struct {
	// Rows and Cols are the size of the matrix.
	Rows, Cols int
	// Row and Col are the features of the rows and of the columns.
	Row, Col Features
	// Train, Val and Test are the known entries; Test may be empty. No entry is there twice.
	Train, Val, Test []Entry
}

// Features are features of the rows or of the columns of the matrix. The zero value stands for none.
type Features struct {
	// X has a line for each row, or column, of the matrix and a column for each feature.
	X *mat.Dense
	// Names are the names of the features.
	Names []string
	// Groups are their groups, one for each feature.
	Groups *groups.Groups
}

// side is what is known of the rows of the matrix, or of its columns.
type side struct {
	*Features
	name      string
	size      *int               // how many there are
	of        func(Entry) int    // that of an entry
	x         *mat.Dense         // the features in the unit of the model; nil without
	transform *dataset.Transform // to that unit; nil where it is that of the data
}

// sides are the rows and the columns, in the units of the data.
func (d *Data) sides() [2]side {
	return [2]side{
		{Features: &d.Row, name: "row", size: &d.Rows, of: func(e Entry) int { return e.Row }, x: d.Row.X},
		{Features: &d.Col, name: "col", size: &d.Cols, of: func(e Entry) int { return e.Col }, x: d.Col.X},
	}
}

// count is the number of features.
func (f *Features) count() int {
	if f.X == nil {
		return 0
	}
	_, p := f.X.Dims()
	return p
}

// Validate checks sizes, indices, groups, and that all numbers are finite.
func (d *Data) Validate() error {
	switch {
	case d == nil:
		return fmt.Errorf("matcomp: no data")
	case d.Rows < 1 || d.Cols < 1:
		return fmt.Errorf("matcomp: a matrix of %d x %d, expected at least one row and one column", d.Rows, d.Cols)
	case len(d.Train) == 0:
		return fmt.Errorf("matcomp: no training entries")
	case len(d.Val) == 0:
		return fmt.Errorf("matcomp: no validation entries")
	}
	if err := d.Row.validate("row", d.Rows); err != nil {
		return err
	}
	if err := d.Col.validate("column", d.Cols); err != nil {
		return err
	}
	seen := make(map[[2]int]string, len(d.Train)+len(d.Val)+len(d.Test))
	for _, set := range d.sets() {
		for k, e := range *set.entries {
			switch before, twice := seen[[2]int{e.Row, e.Col}]; {
			case e.Row < 0 || e.Row >= d.Rows || e.Col < 0 || e.Col >= d.Cols:
				return fmt.Errorf("matcomp: %s entry %d is at (%d, %d), outside a matrix of %d x %d with indices from 0", set.name,
					k+1, e.Row, e.Col, d.Rows, d.Cols)
			case twice:
				return fmt.Errorf("matcomp: entry (%d, %d) is there twice, in the %s and in the %s set", e.Row, e.Col, before,
					set.name)
			case dataset.Expected(e.Value) != "":
				return fmt.Errorf("matcomp: the value of %s entry (%d, %d) is %v, expected %s", set.name, e.Row, e.Col, e.Value,
					dataset.Expected(e.Value))
			}
			seen[[2]int{e.Row, e.Col}] = set.name
		}
	}
	return nil
}

// entrySet are entries with the name of their set in words, and in the column set of a file of entries.
type entrySet struct {
	name, file string
	entries    *[]Entry
}

func (d *Data) sets() []entrySet {
	return []entrySet{{"training", "train", &d.Train}, {"validation", "val", &d.Val}, {"test", "test", &d.Test}}
}

// validate checks features of the rows or columns of the matrix.
func (f *Features) validate(what string, rows int) error {
	if f.X == nil {
		if len(f.Names) > 0 || f.Groups != nil {
			return fmt.Errorf("matcomp: names or groups of %s features, but no features", what)
		}
		return nil
	}
	n, p := f.X.Dims()
	switch {
	case n != rows:
		return fmt.Errorf("matcomp: features of %d %ss, the matrix has %d", n, what, rows)
	case len(f.Names) != p:
		return fmt.Errorf("matcomp: %d names for %d %s features", len(f.Names), p, what)
	}
	if err := f.Groups.Check(p, false); err != nil {
		return fmt.Errorf("matcomp: groups of the %s features: %w", what, err)
	}
	for i := range n {
		for j, v := range f.X.RawRowView(i) {
			if expected := dataset.Expected(v); expected != "" {
				return fmt.Errorf("matcomp: feature %q of %s %d is %v, expected %s", f.Names[j], what, i, v, expected)
			}
		}
	}
	return nil
}

package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Labels are the two values of the target, the smaller one first.
type Labels [2]float64

// FindLabels looks the two values of the target up. The error says what else it has.
func FindLabels(d *Data) (Labels, error) {
	const most = 4
	var values []float64
	for _, y := range d.Y {
		if !slices.Contains(values, y) {
			if values = append(values, y); len(values) > most {
				break
			}
		}
	}
	slices.Sort(values)
	var names []string
	for _, v := range values[:min(most, len(values))] {
		names = append(names, fmt.Sprint(v))
	}
	switch {
	case len(values) == 1:
		return Labels{}, fmt.Errorf("all rows have the label %s in %q, expected two labels", names[0], d.Target)
	case len(values) > most:
		return Labels{}, fmt.Errorf("%q has more than %d values (%s, ..), expected two labels", d.Target, most, strings.Join(names, ", "))
	case len(values) > 2:
		return Labels{}, fmt.Errorf("%q has %d values (%s), expected two labels", d.Target, len(values), strings.Join(names, ", "))
	}
	return Labels{values[0], values[1]}, nil
}

// Class is 0 or 1 for the two labels.
func (l Labels) Class(y float64) int {
	if y == l[1] {
		return 1
	}
	return 0
}

// Check rejects other labels.
func (l Labels) Check(d *Data) error {
	for i, y := range d.Y {
		if y != l[0] && y != l[1] {
			return fmt.Errorf("row %d has the label %v, expected %v or %v", i, y, l[0], l[1])
		}
	}
	return nil
}

// Counts are the numbers of rows with the two labels.
func (l Labels) Counts(d *Data) (n [2]int) {
	for _, y := range d.Y {
		n[l.Class(y)]++
	}
	return n
}

// Weighed are the sums of the weights of the rows with the two labels, their numbers where rows have no weights.
func (l Labels) Weighed(d *Data) (n [2]float64) {
	for i, w := range d.weights() {
		n[l.Class(d.Y[i])] += w
	}
	return n
}

// CheckLabels returns the two labels of a division, and says why where the targets are others, or why a classifier cannot
// be trained: training rows without one of the labels. Validation rows may lack one.
func CheckLabels(v Division) (Labels, error) {
	l, err := FindLabels(v.Table())
	if err != nil {
		return l, fmt.Errorf("training rows: %w", err)
	}
	switch v := v.(type) {
	case *CrossValidation:
		if err := l.CheckFolds(v); err != nil {
			return l, err
		}
	case *Split:
		if err := l.Check(v.Val); err != nil {
			return l, fmt.Errorf("validation rows: %w", err)
		}
	}
	if test := v.Tests(); test != nil {
		if err := l.Check(test); err != nil {
			return l, fmt.Errorf("test rows: %w", err)
		}
	}
	return l, nil
}

// CheckFolds rejects folds that lack a label among their training rows. Validation rows may lack one, as where each row validates by itself.
func (l Labels) CheckFolds(cv *CrossValidation) error {
	for t, f := range cv.Folds {
		var n [2]int
		for _, i := range f.Train {
			n[l.Class(cv.Data.Y[i])]++
		}
		for k := range n {
			if n[k] == 0 {
				return fmt.Errorf("fold %d has no training row with the label %v: deal the rows of each label out to several folds", t, l[k])
			}
		}
	}
	return nil
}

// Classes returns 0 for rows with the smaller label and 1 for those with the larger one, for
// [CrossValidate], which then deals the rows of both out evenly. The error says why
// the target of d is not one of two labels, or that a label has one row only, without which a fold cannot be trained.
func Classes(d *Data) ([]int, error) {
	l, err := FindLabels(d)
	if err != nil {
		return nil, err
	}
	for k, n := range l.Counts(d) {
		if n < 2 {
			return nil, fmt.Errorf("one row has the label %v, which the fold that it validates would lack: expected at least 2", l[k])
		}
	}
	classes := make([]int, len(d.Y))
	for i, y := range d.Y {
		classes[i] = l.Class(y)
	}
	return classes, nil
}

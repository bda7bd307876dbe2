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
	return l, trainable(v, l[:])
}

// Classes returns 0 for rows with the smaller label and 1 for those with the larger one, for
// [CrossValidate], which then deals the rows of both out evenly. The error says why
// the target of d is not one of two labels, or that a label has one row only, without which a fold cannot be trained.
func Classes(d *Data) ([]int, error) {
	if _, err := FindLabels(d); err != nil {
		return nil, err
	}
	return ClassNumbers(d)
}

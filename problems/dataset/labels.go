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

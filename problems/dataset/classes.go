package dataset

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// MostClasses bounds the classes of a target: more of them are numbers rather than classes.
const MostClasses = 100

// mostLabels is how many values of a target are told that are not two.
const mostLabels = 4

// FindClasses returns the values of the target in rising order, its classes, of which there are two, or with another
// bound up to so many. The error says what else it has.
func FindClasses(d *Data, most int) ([]float64, error) {
	seen := map[float64]bool{}
	var values []float64
	for _, y := range d.Y {
		if !seen[y] {
			seen[y] = true
			if values = append(values, y); len(values) > max(most, mostLabels) {
				break
			}
		}
	}
	slices.Sort(values)
	switch {
	case len(values) == 1:
		expected := "two labels"
		if most > 2 {
			expected = "at least two classes"
		}
		return nil, fmt.Errorf("all rows have the label %v in %q, expected %s", values[0], d.Target, expected)
	case len(values) <= most:
		return values, nil
	case most > 2:
		return nil, fmt.Errorf("%q has more than %d values, expected so many classes at most", d.Target, most)
	}
	many, names := fmt.Sprint(len(values)), strings.Split(strings.Trim(fmt.Sprint(values), "[]"), " ")
	if len(values) > mostLabels {
		many, names[mostLabels] = fmt.Sprint("more than ", mostLabels), ".."
	}
	return nil, fmt.Errorf("%q has %s values (%s), expected two labels", d.Target, many, strings.Join(names, ", "))
}

// Sign is -1 for the first of two classes and 1 for the other.
func Sign(classes []float64, y float64) float64 {
	if y == classes[1] {
		return 1
	}
	return -1
}

// CheckClasses returns the classes of a division, those of its table, see [FindClasses], and says why where a
// classifier cannot be trained: validation or test rows of another class, or training rows that lack one. Validation
// rows may lack one.
func CheckClasses(v Division, most int) ([]float64, error) {
	classes, err := FindClasses(v.Table(), most)
	if err != nil {
		return nil, fmt.Errorf("training rows: %w", err)
	}
	known := func(name string, d *Data) error {
		for i, y := range d.Y {
			if _, ok := slices.BinarySearch(classes, y); !ok {
				expected := "which no training row has"
				if len(classes) == 2 {
					expected = fmt.Sprintf("expected %v or %v", classes[0], classes[1])
				}
				return fmt.Errorf("%s rows: row %d has the label %v, %s", name, i, y, expected)
			}
		}
		return nil
	}
	for t := range v.Count() {
		if err := known("validation", v.Validation(t)); err != nil {
			return nil, err
		}
		seen := make([]bool, len(classes))
		for _, y := range v.Training(t).Y {
			k, _ := slices.BinarySearch(classes, y)
			seen[k] = true
		}
		if k := slices.Index(seen, false); k >= 0 {
			return nil, fmt.Errorf(
				"fold %d has no training row with the label %v: split the rows of each label into several folds", t, classes[k])
		}
	}
	if test := v.Tests(); test != nil {
		return classes, known("test", test)
	}
	return classes, nil
}

// ClassNumbers returns the number of the class of each row, see [FindClasses], for [CrossValidate], which then splits
// the rows of each evenly. The error says why they are no classes, or that one has one row only, without which a fold
// cannot be trained.
func ClassNumbers(d *Data, most int) ([]int, error) {
	classes, err := FindClasses(d, most)
	if err != nil {
		return nil, err
	}
	out, count := make([]int, len(d.Y)), make([]int, len(classes))
	for i, y := range d.Y {
		out[i], _ = slices.BinarySearch(classes, y)
		count[out[i]]++
	}
	k, single := -1, 0
	for c, n := range slices.Backward(count) {
		if n == 1 {
			k, single = c, single+1
		}
	}
	if k < 0 {
		return out, nil
	}
	if len(classes) > 10 && 2*single > len(classes) {
		return nil, fmt.Errorf("%q has %d values, %d of them in one row each: these are numbers rather than labels, which "+
			"models of regression take",
			d.Target, len(classes), single)
	}
	return nil, fmt.Errorf("one row has the label %v, which the fold that it validates would lack: expected at least 2",
		classes[k])
}

// Balanced are weights of classes, in their order, with which the rows of all have the same sum of weights, and those
// of all together the sum that they have without.
func (d *Data) Balanced(classes []float64) []float64 {
	out := make([]float64, len(classes))
	for i, w := range d.RowWeights() {
		k, _ := slices.BinarySearch(classes, d.Y[i])
		out[k] += w
	}
	total := floats.Sum(out)
	for k, n := range out {
		out[k] = total / (float64(len(out)) * n)
	}
	return out
}

// Weighed returns the rows with their weights times those of their classes.
func (d *Data) Weighed(classes, weights []float64) *Data {
	out := *d
	out.Weights = slices.Clone(d.RowWeights())
	for i, y := range d.Y {
		if k, known := slices.BinarySearch(classes, y); known {
			out.Weights[i] *= weights[k]
		}
	}
	return &out
}

// Weighed returns the division with [Data.Weighed] rows.
func Weighed(v Division, classes, weights []float64) Division {
	return changed(v, func(d *Data) { *d = *d.Weighed(classes, weights) })
}

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

// values are those of the target in rising order, not more than most and one.
func (d *Data) values(most int) []float64 {
	seen := map[float64]bool{}
	var values []float64
	for _, y := range d.Y {
		if !seen[y] {
			seen[y] = true
			if values = append(values, y); len(values) > most {
				break
			}
		}
	}
	slices.Sort(values)
	return values
}

// FindClasses returns the values of the target in rising order, the classes of a [CheckClasses].
func FindClasses(d *Data) ([]float64, error) {
	values := d.values(MostClasses)
	switch {
	case len(values) > MostClasses:
		return nil, fmt.Errorf("%q has more than %d values, expected so many classes at most", d.Target, MostClasses)
	case len(values) == 1:
		return nil, fmt.Errorf("all rows have the label %v in %q, expected at least two classes", values[0], d.Target)
	}
	return values, nil
}

// CheckClasses returns the classes of a division, those of its table, and says why where a classifier cannot be
// trained: validation or test rows of another class, or training rows that lack one.
func CheckClasses(v Division) ([]float64, error) {
	classes, err := FindClasses(v.Table())
	if err != nil {
		return nil, fmt.Errorf("training rows: %w", err)
	}
	return classes, trainable(v, classes)
}

// trainable says why a classifier of the classes cannot be trained.
func trainable(v Division, classes []float64) error {
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
	for t, p := range v.Parts() {
		if err := known("validation", p.Val); err != nil {
			return err
		}
		seen := make([]bool, len(classes))
		for _, y := range p.Train.Y {
			k, _ := slices.BinarySearch(classes, y)
			seen[k] = true
		}
		if k := slices.Index(seen, false); k >= 0 {
			return fmt.Errorf("fold %d has no training row with the label %v: split the rows of each label into several folds",
				t, classes[k])
		}
	}
	if test := v.Tests(); test != nil {
		return known("test", test)
	}
	return nil
}

// ClassNumbers returns the number of the class of each row, for [CrossValidate]. The error says why they are no
// classes, or that one has one row only, without which a fold cannot be trained.
func ClassNumbers(d *Data) ([]int, error) {
	classes, err := FindClasses(d)
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

// Labels are the two values of the target, the smaller one first.
type Labels [2]float64

// findLabels looks the two values of the target up. The error says what else it has.
func findLabels(d *Data) (Labels, error) {
	values := d.values(mostLabels)
	switch len(values) {
	case 1:
		return Labels{}, fmt.Errorf("all rows have the label %v in %q, expected two labels", values[0], d.Target)
	case 2:
		return Labels{values[0], values[1]}, nil
	}
	many, names := fmt.Sprint(len(values)), strings.Split(strings.Trim(fmt.Sprint(values), "[]"), " ")
	if len(values) > mostLabels {
		many, names[mostLabels] = fmt.Sprint("more than ", mostLabels), ".."
	}
	return Labels{}, fmt.Errorf("%q has %s values (%s), expected two labels", d.Target, many, strings.Join(names, ", "))
}

// Class is 0 or 1 for the two labels.
func (l Labels) Class(y float64) int {
	if y == l[1] {
		return 1
	}
	return 0
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

// Weighed returns the division with the weights of rows times those of their classes.
func Weighed(v Division, classes, weights []float64) Division {
	return changed(v, func(d *Data) {
		d.Weights = slices.Clone(d.RowWeights())
		for i, y := range d.Y {
			if k, known := slices.BinarySearch(classes, y); known {
				d.Weights[i] *= weights[k]
			}
		}
	})
}

// CheckLabels returns the two labels of a division, and says why where the targets are others, or why a classifier
// cannot be trained: training rows without one of the labels. Validation rows may lack one.
func CheckLabels(v Division) (Labels, error) {
	l, err := findLabels(v.Table())
	if err != nil {
		return l, fmt.Errorf("training rows: %w", err)
	}
	return l, trainable(v, l[:])
}

// Classes returns 0 for rows with the smaller label and 1 for those with the larger one, for [CrossValidate], which
// then splits the rows of both evenly. The error says why the target of d is not one of two labels, or that a label
// has one row only, without which a fold cannot be trained.
func Classes(d *Data) ([]int, error) {
	if _, err := findLabels(d); err != nil {
		return nil, err
	}
	return ClassNumbers(d)
}

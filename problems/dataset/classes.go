package dataset

import (
	"fmt"
	"slices"
)

// MostClasses bounds the classes of a target: more of them are numbers rather than classes.
const MostClasses = 100

// FindClasses returns the values of the target in rising order, the classes of a [CheckClasses].
func FindClasses(d *Data) ([]float64, error) {
	seen := map[float64]bool{}
	var values []float64
	for _, y := range d.Y {
		if !seen[y] {
			seen[y] = true
			if values = append(values, y); len(values) > MostClasses {
				return nil, fmt.Errorf("%q has more than %d values, expected so many classes at most", d.Target, MostClasses)
			}
		}
	}
	slices.Sort(values)
	if len(values) == 1 {
		return nil, fmt.Errorf("all rows have the label %v in %q, expected at least two classes", values[0], d.Target)
	}
	return values, nil
}

// CheckClasses returns the classes of a division, those of its table, and says why where a classifier cannot be trained: validation or test
// rows of another class, or training rows that lack one.
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
			return fmt.Errorf("fold %d has no training row with the label %v: deal the rows of each label out to several folds", t, classes[k])
		}
	}
	if test := v.Tests(); test != nil {
		return known("test", test)
	}
	return nil
}

// ClassNumbers returns the number of the class of each row, for [CrossValidate]. The error says why they are no classes, or that one has one row only,
// without which a fold cannot be trained.
func ClassNumbers(d *Data) ([]int, error) {
	classes, err := FindClasses(d)
	if err != nil {
		return nil, err
	}
	out, count := make([]int, len(d.Y)), make([]int, len(classes))
	for i, y := range d.Y {
		k, _ := slices.BinarySearch(classes, y)
		out[i] = k
		count[k]++
	}
	if k := slices.Index(count, 1); k >= 0 {
		if single := ones(count); len(classes) > 10 && 2*single > len(classes) {
			return nil, fmt.Errorf("%q has %d values, %d of them in one row each: these are numbers rather than labels, which models of regression take", d.Target, len(classes), single)
		}
		return nil, fmt.Errorf("one row has the label %v, which the fold that it validates would lack: expected at least 2", classes[k])
	}
	return out, nil
}

// ones counts the classes of one row.
func ones(count []int) (n int) {
	for _, c := range count {
		if c == 1 {
			n++
		}
	}
	return n
}

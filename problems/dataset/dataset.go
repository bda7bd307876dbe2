// Package dataset holds regression data and splits it into the training,
// validation and test rows on which the hyperparameters of a model are chosen:
// reading and writing, random splits and folds, standardisation, and the
// synthetic data of the experiments.
//
// # Shapes
//
// A [Data] of n rows and p features has an n x p matrix X and targets Y of length
// n, in the units of the user's file. The sets of a [Split] have the same
// features in the same order.
//
// # Randomness
//
// Whatever is random takes a seed and uses PCG of math/rand/v2: the same seed gives
// the same bytes.
//
// # Source
//
// The synthetic data are those of Gao, Ye, Yin, Zeng and Zhang, Value Function
// Based Difference-of-Convex Algorithm for Bilevel Hyperparameter Selection
// Problems, ICML 2022, section 4 and its supplement; see [Generate].
package dataset

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

// Data is a regression table.
type Data struct {
	// X is n x p, a row an observation, a column a feature.
	X *mat.Dense
	// Y holds the n targets.
	Y []float64
	// Features are the p names of the columns of X.
	Features []string
	// Target is the name of Y.
	Target string
}

// Split holds the rows for fitting, for choosing hyperparameters, and for a last
// look at what came out. Test may be nil.
type Split struct {
	Train, Val, Test *Data
}

// Dims returns the number n of rows and the number p of features.
func (d *Data) Dims() (n, p int) {
	if d == nil || d.X == nil {
		return 0, 0
	}
	return d.X.Dims()
}

// Rows returns a copy of the rows with these indices, in this order. It panics
// when an index is out of range.
func (d *Data) Rows(index []int) *Data {
	_, p := d.Dims()
	part := &Data{Y: make([]float64, len(index)), Features: d.Features, Target: d.Target}
	if len(index) > 0 && p > 0 {
		part.X = mat.NewDense(len(index), p, nil)
	}
	for k, i := range index {
		part.Y[k] = d.Y[i]
		if part.X != nil {
			copy(part.X.RawRowView(k), d.X.RawRowView(i))
		}
	}
	return part
}

// Validate checks that there is at least one row and one feature, that the shapes
// of X, Y and Features fit together, that the names of the features differ, and
// that all numbers are finite, and no larger than [Largest].
func (d *Data) Validate() error {
	if d == nil || d.X == nil {
		return fmt.Errorf("dataset: no data")
	}
	n, p := d.Dims()
	switch {
	case n == 0:
		return fmt.Errorf("dataset: no rows")
	case p == 0:
		return fmt.Errorf("dataset: no features")
	case len(d.Y) != n:
		return fmt.Errorf("dataset: %d targets for %d rows of X", len(d.Y), n)
	case len(d.Features) != p:
		return fmt.Errorf("dataset: %d feature names for %d columns of X", len(d.Features), p)
	}
	seen := make(map[string]bool, p)
	for _, name := range d.Features {
		if seen[name] {
			return fmt.Errorf("dataset: two features are called %s", textfile.Quote([]byte(name)))
		}
		seen[name] = true
	}
	for i := range n {
		if expected := Expected(d.Y[i]); expected != "" {
			return fmt.Errorf("dataset: target of row %d is %g, expected %s", i, d.Y[i], expected)
		}
		for j, v := range d.X.RawRowView(i) {
			if expected := Expected(v); expected != "" {
				return fmt.Errorf("dataset: %q of row %d is %g, expected %s", d.Features[j], i, v, expected)
			}
		}
	}
	return nil
}

// Largest bounds the absolute values of a table: sums of their squares over its rows are finite numbers.
const Largest = 1e150

// Expected says what is expected in the place of a value that is not finite or too large, and is empty for all others.
func Expected(v float64) string {
	switch {
	case math.Abs(v) <= Largest: // not NaN
		return ""
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "a finite number"
	}
	return fmt.Sprintf("at most %g in absolute value, whose square is a finite number", float64(Largest))
}

// Validate checks each set, and that validation and test rows have the features
// and the target of the training rows, by name and in the same order. Test may be
// nil.
func (s *Split) Validate() error {
	if s == nil {
		return fmt.Errorf("dataset: no data")
	}
	for _, set := range s.sets() {
		if set.data == nil && set.name == "test" {
			continue
		}
		if err := set.data.Validate(); err != nil {
			return fmt.Errorf("%w (%s set)", err, set.name)
		}
		if diff := difference(s.Train, set.data); diff != "" {
			return fmt.Errorf("dataset: the %s set does not fit the training set: %s", set.name, diff)
		}
	}
	return nil
}

type namedSet struct {
	name string
	data *Data
}

func (s *Split) sets() []namedSet {
	return []namedSet{{"training", s.Train}, {"validation", s.Val}, {"test", s.Test}}
}

// difference says in which way the columns of d are not those of the training
// set, or returns the empty string.
func difference(train, d *Data) string {
	if train.Target != d.Target {
		return fmt.Sprintf("its target is %s, expected %s", textfile.Quote([]byte(d.Target)), textfile.Quote([]byte(train.Target)))
	}
	missing, extra := without(train.Features, d.Features), without(d.Features, train.Features)
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("it lacks %s and has %s that the training set lacks", list(missing), list(extra))
	case len(missing) > 0:
		return "it lacks " + list(missing)
	case len(extra) > 0:
		return "it has " + list(extra) + " that the training set lacks"
	case len(train.Features) != len(d.Features):
		return fmt.Sprintf("it has %d features, expected %d", len(d.Features), len(train.Features))
	}
	for j, name := range train.Features {
		if d.Features[j] != name {
			return fmt.Sprintf("its feature %d is %s, expected %s (the same order of columns)", j+1, textfile.Quote([]byte(d.Features[j])), textfile.Quote([]byte(name)))
		}
	}
	return ""
}

// without returns the names that are not in others.
func without(names, others []string) []string {
	in := make(map[string]bool, len(others))
	for _, name := range others {
		in[name] = true
	}
	var rest []string
	for _, name := range names {
		if !in[name] {
			rest = append(rest, name)
		}
	}
	return rest
}

// list quotes the first few names.
func list(names []string) string {
	const most = 5
	text := "column "
	if len(names) > 1 {
		text = "columns "
	}
	for k, name := range names {
		if k == most {
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		}
		if k > 0 {
			text += ", "
		}
		text += textfile.Quote([]byte(name))
	}
	return text
}

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
// # Sparse tables
//
// A file of whose entries less than a quarter is not zero gives a sparse X, in compressed rows, and so may a user.
// Splits and folds then have the nonzeros of their rows, columns are scaled without centring (see [Scaling]), and no
// zero is filled in. Rows, products and sums go through the methods of [Data], which are the same for both kinds of
// tables.
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
	"slices"
	"sync"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// Data is a regression table.
type Data struct {
	// X is n x p, a row an observation, a column a feature: dense, such as a [*mat.Dense], or sparse, a [*sparse.CSR] with
	// rising indices in each row, which stays sparse in all that is made of it.
	X mat.Matrix
	// Y holds the n targets, the first ones where there are several.
	Y []float64
	// Targets are those of a model of several, n x q, and TargetNames their names, y1, y2, .. where it is nil.
	Targets     *mat.Dense
	TargetNames []string
	// Weights are what the rows count in means over them, positive numbers of any unit; nil for equal ones. See package
	// regression for the models that take them.
	Weights []float64
	// Offset are known terms of the predictions of the rows, which a model adds to what it estimates, in the unit of that:
	// the logarithm of an exposure for example; nil for none. See package regression.
	Offset []float64
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
	if d.empty() {
		return 0, 0
	}
	return d.X.Dims()
}

// empty says that there is no X.
func (d *Data) empty() bool {
	if d == nil {
		return true
	}
	switch x := d.X.(type) {
	case nil:
		return true
	case *mat.Dense:
		return x == nil
	case *sparse.CSR:
		return x == nil
	}
	return false
}

// Validate checks that there is at least one row and one feature, that the shapes
// of X, Y and Features fit together, that the names of the features differ, that
// all numbers are finite, and no larger than [Largest], and that the indices of a sparse X rise in each row.
func (d *Data) Validate() error { return d.validate(nil) }

// validate is Validate for a table whose names are not looked at where they are those of another one; nil for none.
func (d *Data) validate(train *Data) error {
	if d.empty() {
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
	if train == nil || d == train || !sameNames(d.Features, train.Features) {
		seen := make(map[string]bool, len(d.Features))
		for _, name := range d.Features {
			if seen[name] {
				return fmt.Errorf("dataset: two features are called %s", textfile.Quote([]byte(name)))
			}
			seen[name] = true
		}
	}
	switch {
	case d.Weights != nil && len(d.Weights) != n:
		return fmt.Errorf("dataset: %d weights for %d rows of X", len(d.Weights), n)
	case d.Offset != nil && len(d.Offset) != n:
		return fmt.Errorf("dataset: %d entries of the offset for %d rows of X", len(d.Offset), n)
	}
	for i, o := range d.Offset {
		if expected := Expected(o); expected != "" {
			return fmt.Errorf("dataset: offset of row %d is %g, expected %s", i, o, expected)
		}
	}
	for i, w := range d.Weights {
		if !(w > 0) || Expected(w) != "" {
			return fmt.Errorf("dataset: weight of row %d is %g, expected a positive number", i, w)
		}
	}
	if err := d.validateTargets(); err != nil {
		return err
	}
	var lock sync.Mutex
	first, failed := n, error(nil)
	crew.Ranges(n, func(from, to int) {
		for i := from; i < to; i++ {
			if err := d.validateRow(i); err != nil {
				lock.Lock()
				defer lock.Unlock()
				if i < first {
					first, failed = i, err
				}
				return
			}
		}
	})
	return failed
}

func (d *Data) validateRow(i int) error {
	if expected := Expected(d.Y[i]); expected != "" {
		return fmt.Errorf("dataset: target of row %d is %g, expected %s", i, d.Y[i], expected)
	}
	index, value := d.Row(i)
	last, p := -1, len(d.Features)
	for k, v := range value {
		j := k
		if index != nil {
			if j = index[k]; j <= last || j >= p {
				return fmt.Errorf("dataset: sparse row %d has column %d after %d, expected rising ones below %d", i, j, last, p)
			}
			last = j
		}
		if !(math.Abs(v) <= Largest) {
			return fmt.Errorf("dataset: %q of row %d is %g, expected %s", d.Features[j], i, v, Expected(v))
		}
	}
	return nil
}

// ValuesOf are the values of target k of several in some sets, one set after the other, without those that are nil or
// have no Targets.
func ValuesOf(k int, sets ...*Data) []float64 {
	var out []float64
	for _, d := range sets {
		if d != nil && d.Targets != nil {
			out = append(out, mat.Col(nil, k, d.Targets)...)
		}
	}
	return out
}

// NamesOfTargets are those of several targets, y1, y2, .. where they have none.
func (d *Data) NamesOfTargets() []string {
	if d.TargetNames != nil {
		return d.TargetNames
	}
	names := make([]string, d.targetCount())
	for k := range names {
		names[k] = fmt.Sprintf("y%d", k+1)
	}
	return names
}

// targetCount is the number of targets of a model of several.
func (d *Data) targetCount() int {
	if d.Targets == nil {
		return 0
	}
	_, q := d.Targets.Dims()
	return q
}

func (d *Data) validateTargets() error {
	if d.Targets == nil {
		return nil
	}
	n, q := d.Targets.Dims()
	switch {
	case n != len(d.Y):
		return fmt.Errorf("dataset: %d rows of targets for %d rows of X", n, len(d.Y))
	case d.TargetNames != nil && len(d.TargetNames) != q:
		return fmt.Errorf("dataset: %d names of targets, expected %d", len(d.TargetNames), q)
	}
	for k, name := range d.TargetNames {
		if slices.Contains(d.TargetNames[:k], name) {
			return fmt.Errorf("dataset: two targets have the name %q", name)
		}
	}
	for i := range n {
		for k, y := range d.Targets.RawRowView(i) {
			if expected := Expected(y); expected != "" {
				return fmt.Errorf("dataset: target %d of row %d is %g, expected %s", k, i, y, expected)
			}
		}
	}
	return nil
}

// Largest bounds the absolute values of a table, as in files.
const Largest = textfile.LargestEntry

// Expected says what is expected in the place of a value that is not finite or too large, and is empty for all others.
func Expected(v float64) string {
	switch {
	case math.Abs(v) <= Largest: // not NaN
		return ""
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "a finite number"
	}
	return fmt.Sprintf("at most %g in absolute value: sums of squares of larger ones overflow (take another unit)",
		float64(Largest))
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
		if err := set.data.validate(s.Train); err != nil {
			return fmt.Errorf("%w (%s set)", err, set.name)
		}
		if diff := Difference(s.Train, set.data); diff != "" {
			return fmt.Errorf("dataset: the %s set does not fit the training set: %s", set.name, diff)
		}
	}
	return nil
}

// sameNames says that two lists are one.
func sameNames(a, b []string) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

type namedSet struct {
	name string
	data *Data
}

func (s *Split) sets() []namedSet {
	return []namedSet{{"training", s.Train}, {"validation", s.Val}, {"test", s.Test}}
}

// Difference says in which way the columns of d are not those of the training
// set, or returns the empty string.
func Difference(train, d *Data) string {
	if train.Target != d.Target {
		return fmt.Sprintf("its target is %s, expected %s", textfile.Quote([]byte(d.Target)),
			textfile.Quote([]byte(train.Target)))
	}
	if q := d.targetCount(); q != train.targetCount() {
		return fmt.Sprintf("it has %d targets, expected %d", q, train.targetCount())
	}
	if len(train.TargetNames) == len(d.TargetNames) && !slices.Equal(train.TargetNames, d.TargetNames) {
		return fmt.Sprintf("its targets are %q, expected %q", d.TargetNames, train.TargetNames)
	}
	if sameNames(train.Features, d.Features) {
		return ""
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
			return fmt.Sprintf("its feature %d is %s, expected %s (the same order of columns)", j+1,
				textfile.Quote([]byte(d.Features[j])), textfile.Quote([]byte(name)))
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
	return words.Plural(len(names), "column") + " " + textfile.Names(names)
}

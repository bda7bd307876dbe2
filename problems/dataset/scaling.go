package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/words"
)

// Scaling is the unit to which features are brought.
type Scaling int

const (
	// ByTable is ByLargest for a sparse table of a thousand features or more, and ByDeviation for others: a few columns,
	// indicators of levels for the most part, are to have the same unit whether they are kept sparse or not. By it and
	// ByNorm, columns of a sparse table without a zero, which are numbers beside indicators or words, are brought to mean
	// 0 and deviation 1 as those of a dense one.
	ByTable Scaling = iota
	// ByDeviation brings columns to standard deviation 1 (divisor n), and those of dense tables of models with an
	// intercept to mean 0. Columns of a sparse table with zeros are not centred, as that would fill these in: they are
	// divided by their standard deviation about the mean, as those of a dense one. A model with an intercept that is free
	// and not penalised has the same coefficients either way: f = b0 + sum_j b_j z_j is the same function of the centred
	// features with b0 + sum_j b_j Mean_j / Scale_j in the place of b0.
	ByDeviation
	// ByLargest divides columns by their largest absolute value, and centres none. The deviation of a column that is not
	// zero in k of n rows falls as the root of k / n: divided by it, a rare feature has large values, and a penalty hardly
	// keeps it from explaining the few rows that have it. Divided by their largest absolute values, rare features are no
	// larger than others.
	ByLargest
	// Together divides all columns by one number, and centres none: the median, over the columns that have any, of the
	// mean absolute value of their nonzeros. Counts and indicators keep what they say by their size.
	Together
	// ByNorm is that of a model that bounds the norm of all coefficients together: ByDeviation for a dense table, and of
	// a sparse one Together where the sizes of its columns are comparable, all within a factor of 100 of their median, and
	// else ByLargest.
	ByNorm
)

// scalings are the names in their order.
var scalings = []string{"by-table", "deviation", "largest", "common"}

// String is the name, by-table for [ByTable] and for what is no scaling.
func (s Scaling) String() string {
	if s < 0 || int(s) >= len(scalings) {
		s = ByTable
	}
	return scalings[s]
}

// Scalings are the names that [ParseScaling] takes.
func Scalings() []string { return slices.Clone(scalings[1:]) }

// ParseScaling returns the scaling of a name.
func ParseScaling(name string) (Scaling, error) {
	if k := slices.Index(scalings, name); k > 0 {
		return Scaling(k), nil
	}
	return ByTable, fmt.Errorf("dataset: unknown scaling %q; known are: %s", name, words.Joined(Scalings()))
}

// rareFeatures is the number of features from which on those of a sparse table are taken as words or ratings are: many,
// and each in few rows. It is one of features alone, which all folds have in common.
const rareFeatures = 1000

// Of is the scaling for a table, never ByTable or ByNorm.
func (s Scaling) Of(d *Data) Scaling {
	switch _, p := d.Dims(); {
	case s == ByNorm && d.Sparse():
		return d.ofNorm()
	case s == ByTable && d.Sparse() && p >= rareFeatures:
		return ByLargest
	case s == ByTable, s == ByNorm:
		return ByDeviation
	}
	return s
}

// oneUnit is how many times as large or as small as their median the mean nonzeros of columns in one unit are at most:
// years beside indicators are in another one.
const oneUnit = 100

// ofNorm is ByNorm for a sparse table.
func (d *Data) ofNorm() Scaling {
	size := d.sizes()
	for _, j := range d.Full() {
		size[j] = 0
	}
	middle := typical(size)
	if slices.ContainsFunc(size, func(v float64) bool { return v > 0 && (v > oneUnit*middle || v*oneUnit < middle) }) {
		return ByLargest
	}
	return Together
}

// Full are the columns of a sparse table without a zero.
func (d *Data) Full() []int {
	n, p := d.Dims()
	stored := make([]int, p)
	d.each(func(j int, v float64) {
		if v != 0 {
			stored[j]++
		}
	})
	return indices.Where(stored, func(s int) bool { return s == n })
}

// sizes are the mean absolute values of the nonzeros of the columns, 0 for those without.
func (d *Data) sizes() []float64 {
	_, p := d.Dims()
	sum, count := make([]float64, p), make([]float64, p)
	d.each(func(j int, v float64) {
		if v != 0 {
			sum[j] += math.Abs(v)
			count[j]++
		}
	})
	for j, k := range count {
		if k > 0 {
			sum[j] /= k
		}
	}
	return sum
}

// typical is the median of the positive ones, 1 where there are none.
func typical(size []float64) float64 {
	some := slices.DeleteFunc(slices.Clone(size), func(v float64) bool { return v == 0 })
	if len(some) == 0 {
		return 1
	}
	slices.Sort(some)
	return some[len(some)/2]
}

// largest are the largest absolute values of the columns.
func (d *Data) largest() []float64 {
	_, p := d.Dims()
	out := make([]float64, p)
	d.each(func(j int, v float64) { out[j] = max(out[j], math.Abs(v)) })
	return out
}

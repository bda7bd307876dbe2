package dataset

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// table makes data of n rows whose entries tell row and column.
func table(n int, features ...string) *Data {
	d := &Data{X: mat.NewDense(n, len(features), nil), Y: make([]float64, n), Features: features, Target: "y"}
	for i := range n {
		d.Y[i] = float64(i)
		for j := range features {
			d.Dense().Set(i, j, float64(10*i+j))
		}
	}
	return d
}

func TestRows(t *testing.T) {
	d := table(5, "a", "b")
	part := d.Rows([]int{3, 1})
	require.Equal(t, []float64{3, 1}, part.Y)
	require.Equal(t, []float64{30, 31, 10, 11}, part.Dense().RawMatrix().Data)
	part.Dense().Set(0, 0, -1)
	require.Equal(t, 30.0, d.X.At(3, 0), "a copy")
	n, _ := d.Rows(nil).Dims()
	require.Zero(t, n)
}

func TestValidate(t *testing.T) {
	with := func(change func(*Data)) *Data {
		d := table(3, "a", "b")
		change(d)
		return d
	}
	require.NoError(t, table(1, "a").Validate())
	for _, c := range []struct {
		data *Data
		want string
	}{
		{nil, "dataset: no data"},
		{&Data{}, "dataset: no data"},
		{&Data{X: &mat.Dense{}}, "dataset: no rows"},
		{with(func(d *Data) { d.Y = d.Y[:2] }), "dataset: 2 targets for 3 rows of X"},
		{with(func(d *Data) { d.Features = nil }), "dataset: 0 feature names for 2 columns of X"},
		{with(func(d *Data) { d.Features = []string{"a", "a"} }), `dataset: two features are called "a"`},
		{with(func(d *Data) { d.Y[1] = math.NaN() }), "dataset: target of row 1 is NaN, expected a finite number"},
		{with(func(d *Data) { d.Dense().Set(2, 1, math.Inf(1)) }), `dataset: "b" of row 2 is +Inf, expected a finite number`},
		{with(func(d *Data) { d.Dense().Set(2, 1, -2e70) }),
			`dataset: "b" of row 2 is -2e+70, expected at most 1e+70 in absolute value: sums of squares of larger ones overflow (take another unit)`},
	} {
		require.EqualError(t, c.data.Validate(), c.want)
	}
}

func TestValidateSplit(t *testing.T) {
	train := table(3, "a", "b", "c")
	target := table(2, "a", "b", "c")
	target.Target = "z"
	const fit = "dataset: the validation set does not fit the training set: "
	require.NoError(t, (&Split{Train: train, Val: table(1, "a", "b", "c")}).Validate(), "without test set")
	for _, c := range []struct {
		val  *Data
		want string
	}{
		{nil, "dataset: no data (validation set)"},
		{table(2, "a", "b"), fit + `it lacks column "c"`},
		{table(2, "a"), fit + `it lacks columns "b", "c"`},
		{table(2, "a", "b", "c", "d"), fit + `it has column "d" that the training set lacks`},
		{table(2, "a", "x", "c"), fit + `it lacks column "b" and has column "x" that the training set lacks`},
		{table(2, "a", "c", "b"), fit + `its feature 2 is "c", expected "b" (the same order of columns)`},
		{table(2, "1", "2", "3", "4", "5", "6", "7"),
			fit + `it lacks columns "a", "b", "c" and has columns "1", "2", "3", "4", "5" and 2 more that the training set lacks`},
		{target, fit + `its target is "z", expected "y"`},
	} {
		require.EqualError(t, (&Split{Train: train, Val: c.val}).Validate(), c.want)
	}
	require.ErrorContains(t, (&Split{Train: train, Val: train, Test: table(2, "a")}).Validate(),
		"the test set does not fit")
	require.EqualError(t, (*Split)(nil).Validate(), "dataset: no data")
}

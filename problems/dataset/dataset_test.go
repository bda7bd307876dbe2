package dataset

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/table/split"
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
			fit + `it lacks columns "a", "b", "c" and has columns "1", "2", "3", "4", "5", "6", "7" that the training set lacks`},
		{target, fit + `its target is "z", expected "y"`},
	} {
		require.EqualError(t, (&Split{Train: train, Val: c.val}).Validate(), c.want)
	}
	require.ErrorContains(t, (&Split{Train: train, Val: train, Test: table(2, "a")}).Validate(),
		"the test set does not fit")
	require.EqualError(t, (*Split)(nil).Validate(), "dataset: no data")
}

// tableAndTransform are n x p numbers of different sizes with a change of their units.
func tableAndTransform(n, p int) (*Data, *Transform) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	d := &Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Features: make([]string, p), Target: "y"}
	for i := range n {
		d.Y[i] = rng.NormFloat64()
		for j := range p {
			d.X.(*mat.Dense).Set(i, j, float64(j)+rng.NormFloat64())
		}
	}
	return d, NewTransform(d, ByDeviation, true)
}

// A table whose rows are made where they are wanted has the numbers of the one in memory, and whatever is made of it,
// too, by rows and by columns.
func TestLaterAgainstRows(t *testing.T) {
	d, unit := tableAndTransform(21, 37)
	rows, later := unit.Apply(d), unit.Later(d)
	n, p := later.Dims()
	require.Equal(t, []int{21, 37}, []int{n, p})
	require.True(t, mat.Equal(rows.X, later.X))
	require.True(t, mat.Equal(rows.X.T(), later.X.T()))
	require.Equal(t, rows.Dense(), later.Dense())
	require.Equal(t, design.New(rows.X), design.New(later.X))
	require.Same(t, design.New(later.X), design.New(later.X), "fits share it")
	for i := range n {
		_, want := rows.Row(i)
		_, got := later.Row(i)
		require.Equal(t, want, got)
	}
	for _, step := range []int{1, 7} { // many and few coefficients
		b := make([]float64, p)
		for j := 0; j < p; j += step {
			b[j] = 1 / float64(1+j)
		}
		require.InDeltaSlice(t, rows.Mul(b), later.Mul(b), 1e-13)
		require.InDelta(t, rows.Dot(3, b), later.Dot(3, b), 1e-13)
	}
	require.InDeltaSlice(t, rows.MulTrans(d.Y), later.MulTrans(d.Y), 1e-13)

	some := []int{4, 20, 4, 0}
	require.True(t, mat.Equal(rows.Rows(some).X, later.Rows(some).X))
	require.Equal(t, design.New(rows.Rows(some).Dense()), design.New(later.Rows(some).X))
	scale := []float64{1, 2, 3, 4}
	require.True(t, mat.Equal(rows.ScaledRows(some, scale).X, later.ScaledRows(some, scale).X))
	require.True(t, mat.Equal(unit.Apply(rows).X, unit.Apply(later).X))
	require.True(t, mat.Equal(Stack(rows, rows.Rows(some)).X, Stack(later, later.Rows(some)).X))
	require.Equal(t, rows.Compress().X, later.Compress().X)
}

func TestDivision(t *testing.T) {
	d := table(9, "a", "b")
	test := table(4, "a", "b")
	cv := must.Of(CrossValidate(d, 3, 1, nil))(t)
	cv.Test = test
	require.Same(t, d, cv.Table())
	require.Same(t, test, cv.Tests())
	for k, part := range cv.Parts() {
		for _, pair := range [][2]*Data{{d.Rows(cv.Folds[k].Train), part.Train}, {d.Rows(cv.Folds[k].Val), part.Val}} {
			require.Equal(t, pair[0].Dense(), pair[1].Dense())
			require.Equal(t, pair[0].Y, pair[1].Y)
		}
		require.Nil(t, part.Test)
	}
	s := &Split{Train: d, Val: test}
	require.Same(t, d, s.Table())
	require.Nil(t, s.Tests())
	require.Equal(t, []*Split{{Train: d, Val: test}}, s.Parts())

	for _, v := range []Division{cv, s} {
		before := append([]float64(nil), d.Y...)
		twice := v.Map(func(y float64) float64 { return 2 * y })
		for i, y := range twice.Table().Y {
			require.Equal(t, 2*d.Y[i], y)
		}
		require.Equal(t, before, d.Y)
		require.NoError(t, twice.Validate())
		require.Same(t, d.X, twice.Table().X)
	}
}

func TestCheckLabels(t *testing.T) {
	labelled := func(y ...float64) *Data {
		d := table(len(y), "a")
		copy(d.Y, y)
		return d
	}
	d := labelled(1, 2, 1, 2, 1, 2)
	folds := []split.Fold{{Train: []int{0, 1, 2, 3}, Val: []int{4, 5}}, {Train: []int{2, 3, 4, 5}, Val: []int{0, 1}}}
	l := must.Of(CheckLabels(&CrossValidation{Data: d, Folds: folds, Test: labelled(2, 2)}))(t)
	require.Equal(t, Labels{1, 2}, l)
	_, err := CheckLabels(&CrossValidation{Data: d, Folds: split.FoldsOf(split.PartsOf([]int{0, 1, 2, 3, 4, 5}))})
	require.NoError(t, err, "each row validates by itself")
	for want, v := range map[string]Division{
		"training rows: all rows have the label 3": &Split{Train: labelled(3, 3), Val: d},
		"validation rows: row 1 has the label 3":   &Split{Train: d, Val: labelled(1, 3)},
		"test rows: row 0 has the label 4":         &CrossValidation{Data: d, Folds: folds, Test: labelled(4)},
		"fold 1 has no training row with the label 2": &CrossValidation{Data: d, Folds: []split.Fold{folds[0],
			{Train: []int{0, 2}, Val: []int{1, 4}}}},
		"fold 0 has no training row with the label 1": &CrossValidation{Data: d,
			Folds: []split.Fold{{Train: []int{1, 3}, Val: []int{2, 5}}, folds[1]}},
		`training rows: "y" has 3 values (1, 2, 3), expected two`: &Split{Train: labelled(1, 2, 3), Val: d},
	} {
		_, err := CheckLabels(v)
		require.ErrorContains(t, err, want)
	}
}

func TestSplitRows(t *testing.T) {
	d := table(100, "a", "b")
	s := must.Of(SplitRows(d, "50/20/rest", 7))(t)
	require.NoError(t, s.Validate())
	var all []float64
	for _, set := range s.sets() {
		require.True(t, slices.IsSorted(set.data.Y), "rows in the order of the file")
		for i, y := range set.data.Y {
			require.Equal(t, 10*y+1, set.data.X.At(i, 1), "rows stay together")
		}
		all = append(all, set.data.Y...)
	}
	require.Len(t, s.Val.Y, 20)
	slices.Sort(all)
	require.Equal(t, d.Y, all, "each row is in one set")

	again := must.Of(SplitRows(d, "50/20/rest", 7))(t)
	for k, set := range again.sets() {
		require.Equal(t, s.sets()[k].data.Dense(), set.data.Dense())
		require.Equal(t, s.sets()[k].data.Y, set.data.Y)
	}
	other := must.Of(SplitRows(d, "50/20/rest", 8))(t)
	require.NotEqual(t, s.Train.Y, other.Train.Y)

	two := must.Of(SplitRows(d, "30/30", 7))(t)
	require.Nil(t, two.Test)
}

func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWriteDirErrors(t *testing.T) {
	s := &Split{Train: table(2, "a"), Val: table(2, "a")}
	dir := t.TempDir()
	put(t, dir, "precious.txt", "keep me")
	require.EqualError(t, WriteDir(s, dir), dir+": is not empty (precious.txt), expected a new or an empty directory")
	entries := must.Of(os.ReadDir(dir))(t)
	require.Len(t, entries, 1)

	file := filepath.Join(dir, "precious.txt")
	require.ErrorContains(t, WriteDir(s, file), file+": is not a directory that can be written to")

	fresh := filepath.Join(dir, "fresh")
	bad := &Split{Train: table(2, "a b "), Val: table(2, "a b ")}
	require.ErrorContains(t, WriteDir(bad, fresh), "a blank at its start or end")
	require.NoDirExists(t, fresh)
	require.ErrorContains(t, WriteDir(&Split{Train: table(2, "a"), Val: table(2, "b")}, fresh), "does not fit")

	named := &Split{Train: table(2, "a", "y"), Val: table(2, "a", "y")}
	named.Train.Target, named.Val.Target = "z", "z"
	require.ErrorContains(t, WriteDir(named, fresh), `the feature "y" would be read back as the target instead of "z"`)
	require.NoDirExists(t, fresh)
}

// Each fold has its own values in the gaps, in dense and in sparse tables, and the table itself does not change.
func TestGaps(t *testing.T) {
	table := &Data{
		X: mat.NewDense(4, 3, []float64{
			1, 0, 0,
			0, 7, 0,
			0, 0, 3,
			4, 7, 9,
		}),
		Y: []float64{1, 2, 3, 4}, Features: []string{"a", "b", "c"}, Target: "y",
	}
	gaps := &Gaps{Row: []int{1, 3, 3}, Feature: []int{1, 1, 2}, Values: [][]float64{{20, 20, 30}, {0, 0, 33}}}
	folds := []split.Fold{{Train: []int{0, 1}, Val: []int{2, 3}}, {Train: []int{2, 3}, Val: []int{0, 1}}}
	for _, d := range []*Data{table, table.Compress()} {
		cv := &CrossValidation{Data: d, Folds: folds, Gaps: gaps}
		require.NoError(t, cv.Validate())
		parts := cv.Parts()
		for _, c := range []struct {
			got  *Data
			want []float64
		}{
			{parts[0].Train, []float64{1, 0, 0, 0, 20, 0}},
			{parts[0].Val, []float64{0, 0, 3, 4, 20, 30}},
			{parts[1].Train, []float64{0, 0, 3, 4, 0, 33}},
			{parts[1].Val, []float64{1, 0, 0, 0, 0, 0}},
			{cv.Gaps.Table(d, 1), []float64{1, 0, 0, 0, 0, 0, 0, 0, 3, 4, 0, 33}},
		} {
			require.Equal(t, c.want, c.got.Dense().RawMatrix().Data)
			require.Equal(t, d.Sparse(), c.got.Sparse())
		}
		require.Equal(t, []float64{4, 7, 9}, d.Dense().RawRowView(3))
		require.Equal(t, gaps, cv.Map(func(y float64) float64 { return -y }).(*CrossValidation).Gaps)
	}
	for want, spoilt := range map[string]*Gaps{
		"gap in row 4":           {Row: []int{4}, Feature: []int{0}, Values: [][]float64{{1}, {1}}},
		"of 1 folds":             {Row: []int{1}, Feature: []int{0}, Values: gaps.Values[:1]},
		"rows of gaps do not":    {Row: []int{3, 1}, Feature: []int{0, 0}, Values: gaps.Values},
		"for 1 gaps, expected 0": {Values: [][]float64{{0}, {0}}},
	} {
		require.ErrorContains(t, (&CrossValidation{Data: table, Folds: folds, Gaps: spoilt}).Validate(), want)
	}
}

package dataset

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

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

func TestCheckClasses(t *testing.T) {
	labelled := func(y ...float64) *Data {
		d := table(len(y), "a")
		copy(d.Y, y)
		return d
	}
	d := labelled(1, 2, 1, 2, 1, 2)
	folds := []split.Fold{{Train: []int{0, 1, 2, 3}, Val: []int{4, 5}}, {Train: []int{2, 3, 4, 5}, Val: []int{0, 1}}}
	l := must.Of(CheckClasses(&CrossValidation{Data: d, Folds: folds, Test: labelled(2, 2)}, 2))(t)
	require.Equal(t, []float64{1, 2}, l)
	_, err := CheckClasses(&CrossValidation{Data: d, Folds: split.FoldsOf(split.PartsOf([]int{0, 1, 2, 3, 4, 5}))}, 2)
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
		_, err := CheckClasses(v, 2)
		require.ErrorContains(t, err, want)
	}
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

func randomSplit() *Split {
	r := rand.New(rand.NewPCG(5, 6))
	part := func(n int) *Data {
		d := &Data{X: mat.NewDense(n, 4, nil), Y: make([]float64, n), Features: []string{"a", "b", "c", "d"}, Target: "y"}
		for i := range n {
			// The units differ, and the third column is constant.
			d.Dense().SetRow(i, []float64{1e8 + r.NormFloat64(), 1e-200 * r.NormFloat64(), 0.1, 1e200 * r.NormFloat64()})
			d.Y[i] = r.NormFloat64()
		}
		return d
	}
	return &Split{Train: part(30), Val: part(20)}
}

// standardized is the split in the units of the training rows.
func standardized(s *Split, scaling Scaling, center bool) (*Split, *Transform) {
	t := NewTransform(s.Train, scaling, center)
	return &Split{Train: t.Apply(s.Train), Val: t.Apply(s.Val), Test: t.Apply(s.Test)}, t
}

func TestStandardize(t *testing.T) {
	s := randomSplit()
	before := mat.DenseCopyOf(s.Train.X)
	z, tr := standardized(s, ByDeviation, true)
	require.True(t, mat.Equal(before, s.Train.X), "the data do not change")
	require.Nil(t, z.Test)
	for j := range 4 {
		column := mat.Col(nil, j, z.Train.X)
		want := 1.0
		if j == 2 {
			want = 0
		}
		require.InDelta(t, 0, stat.Mean(column, nil), 1e-7)
		require.InDelta(t, want, stat.PopStdDev(column, nil), 1e-7)
	}
	require.Equal(t, 1.0, tr.Scale[2])
	require.Equal(t, 0.1, tr.Mean[2])
	require.Zero(t, z.Train.X.At(7, 2))
	// The validation rows are in the units of the training rows.
	mean, sd := stat.PopMeanStdDev(mat.Col(nil, 0, s.Train.X), nil)
	require.InDelta(t, (s.Val.X.At(3, 0)-mean)/sd, z.Val.X.At(3, 0), 1e-6)
	require.Equal(t, s.Val.Y, z.Val.Y)
}

// A model for the transformed features and its undone form predict the same.
func TestUndo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s := must.First(Generate(Config{Train: 20, Val: 10, Features: 6}, 1))(t)
	b := make([]float64, 6)
	for j := range b {
		b[j] = r.NormFloat64()
	}
	for _, center := range []bool{true, false} {
		z, tr := standardized(s, ByDeviation, center)
		c, c0 := tr.Undo(b, 0.7)
		if !center {
			require.Equal(t, 0.7, c0, "no intercept comes in")
		}
		for i := range 10 {
			want := 0.7 + floats.Dot(b, z.Val.Dense().RawRowView(i))
			require.InDelta(t, want, c0+floats.Dot(c, s.Val.Dense().RawRowView(i)), 1e-12)
		}
	}
	_, tr := standardized(s, ByDeviation, true)
	require.Panics(t, func() { tr.Undo(b[:5], 0) })
	require.Panics(t, func() { tr.Apply(table(2, "a")) })
	require.Nil(t, tr.Apply(nil))
}

func TestStandardizeExtremes(t *testing.T) {
	for _, values := range [][]float64{{math.MaxFloat64, -math.MaxFloat64 / 2}, {0, 5e-324}, {3, 3},
		{math.Copysign(0, -1), 0}} {
		d := &Data{X: mat.NewDense(2, 1, values), Y: []float64{0, 0}, Features: []string{"a"}, Target: "y"}
		_, tr := standardized(&Split{Train: d, Val: d}, ByDeviation, true)
		require.Greater(t, tr.Scale[0], 0.0)
		require.False(t, math.IsInf(tr.Scale[0], 0) || math.IsNaN(tr.Scale[0]))
	}
}

// The scaling of the table is that by the largest values for sparse tables of many features alone: a small one has the
// unit of a dense one.
func TestByTable(t *testing.T) {
	for p, want := range map[int]Scaling{rareFeatures - 1: ByDeviation, rareFeatures: ByLargest} {
		d := &Data{X: mat.NewDense(2, p, nil), Y: make([]float64, 2), Features: make([]string, p), Target: "y"}
		require.Equal(t, ByDeviation, ByTable.Of(d))
		require.Equal(t, want, ByTable.Of(d.Compress()))
	}
	d := &Data{X: mat.NewDense(4, 1, []float64{0, 3, 0, 0}), Y: make([]float64, 4), Features: []string{"a"}, Target: "y"}
	require.Equal(t, []float64{3}, NewTransform(d.Compress(), ByLargest, true).Scale)
	require.Equal(t, []float64{math.Sqrt(27) / 4}, NewTransform(d.Compress(), ByTable, true).Scale) // of 0, 3, 0, 0
	require.Equal(t, NewTransform(d, ByDeviation, true), NewTransform(d, ByTable, true))
	require.NotEqual(t, NewTransform(d, ByLargest, true), NewTransform(d, ByTable, true))
}

// Divided by one number, worked out by hand: the columns have mean nonzeros 1.5, 2.5 and none, and the larger one of
// two is the median.
func TestTogether(t *testing.T) {
	d := &Data{X: mat.NewDense(3, 3, []float64{0, -4, 0, 2, 0, 0, 1, 1, 0}), Y: []float64{1, 2, 3},
		Features: []string{"a", "b", "c"}, Target: "y"}
	for _, table := range []*Data{d, d.Compress()} {
		require.Equal(t, &Transform{Mean: make([]float64, 3), Scale: []float64{2.5, 2.5, 2.5}}, NewTransform(table, Together,
			true))
	}
}

// A model with the norm of all coefficients leaves sparse columns of comparable sizes in their unit: up to a factor of
// 100, and where nothing is asked for.
func TestByNorm(t *testing.T) {
	table := func(first, last float64) *Data {
		return (&Data{X: mat.NewDense(4, 4, []float64{first, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, last}),
			Y: make([]float64, 4), Features: []string{"a", "b", "c", "d"}, Target: "y"}).Compress()
	}
	require.Equal(t, Together, ByNorm.Of(table(100, 0.01)))
	require.Equal(t, ByLargest, ByNorm.Of(table(101, 1)))
	require.Equal(t, ByLargest, ByNorm.Of(table(1, 0.009)))
	require.Equal(t, Together, ByNorm.Of(table(1, 0)))
	require.Equal(t, Together, ByNorm.Of((&Data{X: mat.NewDense(2, 1, nil), Y: make([]float64, 2),
		Features: []string{"a"}, Target: "y"}).Compress()))
	for _, asked := range []Scaling{ByDeviation, ByLargest, Together} {
		require.Equal(t, asked, asked.Of(table(1, 1)))
	}
	dense := table(1, 1)
	dense.X = dense.Dense()
	require.Equal(t, ByDeviation, ByNorm.Of(dense))
}

// A number beside indicators of a sparse table, 1001 to 1004: it has the unit that it has in a dense table whatever the
// others have, and rows in which it is zero are moved as others are.
func TestNumberBesideIndicators(t *testing.T) {
	x := mat.NewDense(4, 4, []float64{1001, 5, 0, 0, 1002, 0, 5, 0, 1003, 0, 0, 5, 1004, 5, 0, 0})
	d := (&Data{X: x, Y: make([]float64, 4), Features: []string{"a", "b", "c", "d"}, Target: "y"}).Compress()
	for scaling, unit := range map[Scaling]float64{ByNorm: 5, ByTable: math.Sqrt(3) / 4 * 5} {
		tr := NewTransform(d, scaling, true)
		require.InDeltaSlice(t, []float64{1002.5, 0, 0, 0}, tr.Mean, 1e-9)
		require.InDelta(t, math.Sqrt(1.25), tr.Scale[0], 1e-9)
		require.InDelta(t, unit, tr.Scale[2], 1e-9)
		other := (&Data{X: mat.NewDense(2, 4, []float64{0, 5, 0, 0, 1002.5, 0, 0, 5}), Y: make([]float64, 2),
			Features: d.Features, Target: "y"}).Compress()
		z := tr.Apply(other)
		require.True(t, z.Sparse())
		require.InDelta(t, -1002.5/math.Sqrt(1.25), z.Dense().At(0, 0), 1e-9)
		require.InDelta(t, 0, z.Dense().At(1, 0), 1e-9)
		require.InDelta(t, 5/tr.Scale[1], z.Dense().At(0, 1), 1e-9)
	}
	require.Zero(t, NewTransform(d, ByNorm, false).Mean[0])
}

func TestParseScaling(t *testing.T) {
	for _, name := range Scalings() {
		s := must.Of(ParseScaling(name))(t)
		require.Equal(t, name, s.String())
	}
	_, err := ParseScaling("by-table")
	require.EqualError(t, err, `dataset: unknown scaling "by-table"; known are: deviation, largest, common`)
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

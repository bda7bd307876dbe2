package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/table/split"
)

// wards are twelve visits: three wards, days that are not in order with one twice, and folds that are given by name.
const wards = `y,x,ward,day,part
1,5,north,2024-01-09,b
2,3,south,2024-01-02,a
4,4,north,2024-01-11,a
3,1,east,2024-01-01,c
5,9,east,2024-01-07,c
7,2,south,2024-01-03,b
6,6,south,2024-01-08,a
8,5,east,2024-01-05,c
9,3,south,2024-01-10,b
1,7,south,2024-01-04,a
2,8,east,2024-01-06,b
3,0,north,2024-01-07,c
`

// read reads the rows as conetune tune does with these flags.
func readDesign(t require.TestingT, labels bool, args ...string) (*input.Rows, error) {
	f, fs := jobFlags()
	d := &f.data
	require.NoError(t, fs.Parse(args))
	d.Once, d.Seed, d.Wanted.Classes = true, 1, labels
	if err := d.check(fs); err != nil {
		return nil, err
	}
	return d.Read()
}

func validating(cv *dataset.CrossValidation) (rows [][]int) {
	for _, f := range cv.Folds {
		rows = append(rows, f.Val)
	}
	return rows
}

// The folds of a small table are those that a person writes down.
func TestFoldsByColumns(t *testing.T) {
	data := write(t, t.TempDir(), "wards.csv", wards)
	north, south, east := []int{0, 2, 11}, []int{1, 5, 6, 8, 9}, []int{3, 4, 7, 10}
	others := func(val []int) (train []int) {
		for i := range 12 {
			if !slices.Contains(val, i) {
				train = append(train, i)
			}
		}
		return train
	}
	for _, c := range []struct {
		name string
		args []string
		val  [][]int
	}{
		{"fold column", []string{"--fold-column", "part"}, [][]int{{1, 2, 6, 9}, {0, 5, 8, 10}, {3, 4, 7, 11}}},
		{"fold column and all rows", []string{"--fold-column", "part", "--split", "all"}, [][]int{{1, 2, 6, 9}, {0, 5, 8, 10}, {3, 4, 7, 11}}},
		{"a group in each fold", []string{"--group", "ward", "--folds", "all", "--split", "all"}, [][]int{east, north, south}},
		{"groups in two folds", []string{"--group", "ward", "--folds", "2", "--split", "all"}, [][]int{append(slices.Clone(north), east...), south}},
		{"rows", []string{"--folds", "all", "--split", "all"}, [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}}},
	} {
		rows, err := readDesign(t, false, append([]string{"--data", data}, c.args...)...)
		require.NoError(t, err, c.name)
		for k := range c.val {
			slices.Sort(c.val[k])
		}
		require.Equal(t, c.val, validating(rows.CV), c.name)
		for k, f := range rows.CV.Folds {
			require.Equal(t, others(c.val[k]), f.Train, c.name)
		}
		require.Nil(t, rows.CV.Test)
		for _, name := range []string{"ward", "day", "part"} { // of another purpose they are features
			require.Equal(t, slices.Contains(c.args, name), !slices.ContainsFunc(rows.CV.Data.Features, func(f string) bool { return strings.HasPrefix(f, name) }), c.name)
		}
	}

	// By days: 3, 1, 5, 9, 7, 10, {4, 11}, 6, 0, 8, 2. In four blocks of three these are the rows
	// 3 1 5 | 9 7 10 | 4 11 6 | 0 8 2.
	rows, err := readDesign(t, false, "--data", data, "--time", "day", "--folds", "3", "--split", "all")
	require.NoError(t, err)
	require.Equal(t, []split.Fold{
		{Train: []int{1, 3, 5}, Val: []int{7, 9, 10}},
		{Train: []int{1, 3, 5, 7, 9, 10}, Val: []int{4, 6, 11}},
		{Train: []int{1, 3, 4, 5, 6, 7, 9, 10, 11}, Val: []int{0, 2, 8}},
	}, rows.CV.Folds)

	// The last quarter is for the test, and of the others the last two thirds validate.
	rows, err = readDesign(t, false, "--data", data, "--time", "day", "--folds", "2", "--split", "0.75/rest", "--features", "x")
	require.NoError(t, err)
	require.Equal(t, []float64{1, 4, 9}, rows.CV.Test.Y)
	require.Equal(t, []float64{2, 3, 5, 7, 6, 8, 1, 2, 3}, rows.CV.Data.Y)
	require.Equal(t, []split.Fold{{Train: []int{0, 1, 3}, Val: []int{5, 6, 7}}, {Train: []int{0, 1, 3, 5, 6, 7}, Val: []int{2, 4, 8}}}, rows.CV.Folds)

	// Without folds --split goes by columns as well.
	rows, err = readDesign(t, false, "--data", data, "--time", "day", "--split", "6/3/rest")
	require.NoError(t, err)
	require.Equal(t, []float64{2, 3, 7, 8, 1, 2}, rows.Split.Train.Y)
	require.Equal(t, []float64{5, 6, 3}, rows.Split.Val.Y)
	require.Equal(t, []float64{1, 4, 9}, rows.Split.Test.Y)
	rows, err = readDesign(t, false, "--data", data, "--group", "ward", "--split", "5/4/3")
	require.NoError(t, err)
	require.Equal(t, []float64{2, 7, 6, 9, 1}, rows.Split.Train.Y)
	require.Equal(t, []float64{3, 5, 8, 2}, rows.Split.Val.Y)
	require.Equal(t, []float64{1, 4, 3}, rows.Split.Test.Y)
}

// Without a word about it all rows are dealt out to five folds, or to as many as there are rows, groups and times for.
func TestDesignByDefault(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "wards.csv", wards)
	few := write(t, dir, "few.csv", strings.Join(strings.SplitAfter(wards, "\n")[:4], ""))
	for _, c := range []struct {
		args  []string
		sizes []int // of the validation rows of the folds
		test  int
	}{
		{[]string{"--data", data}, []int{3, 3, 2, 2, 2}, 0},
		{[]string{"--data", data, "--split", "all"}, []int{3, 3, 2, 2, 2}, 0},
		{[]string{"--data", data, "--test", few}, []int{3, 3, 2, 2, 2}, 3},
		{[]string{"--data", data, "--split", "10/rest", "--folds", "5"}, []int{2, 2, 2, 2, 2}, 2},
		{[]string{"--data", few}, []int{1, 1, 1}, 0},
		{[]string{"--data", data, "--group", "ward"}, []int{3, 4, 5}, 0},
		{[]string{"--data", data, "--time", "day"}, []int{2, 2, 2, 2, 2}, 0},
	} {
		rows, err := readDesign(t, false, c.args...)
		require.NoError(t, err, c.args)
		var sizes []int
		var all []int
		for _, f := range rows.CV.Folds {
			sizes = append(sizes, len(f.Val))
			all = append(all, f.Val...)
		}
		if slices.Contains(c.args, "--group") {
			slices.Sort(sizes)
		}
		require.Equal(t, c.sizes, sizes, c.args)
		slices.Sort(all)
		require.Len(t, slices.Compact(all), len(all))
		n, _ := rows.CV.Test.Dims()
		require.Equal(t, c.test, n, c.args)
	}
	out := conetune(t, "tune", "elastic-net", "--data", data, "--features", "x").ok(t)
	for _, words := range []string{"(5 folds, 3 repeats, seed 1)", "12 cross-validation rows", "The hyperparameters were chosen by these rows", "the model is trained on all rows\n"} {
		require.Contains(t, out, words)
	}

	// A class of ten rows in thirty is dealt out two to a fold; one of two rows to two of them.
	for size, most := range map[int]int{10: 2, 2: 1} {
		text := "y,x\n"
		for i := range 30 {
			text += fmt.Sprintf("%v,%d\n", i < size, i)
		}
		rows, err := readDesign(t, true, "--data", write(t, dir, "labels.csv", text))
		require.NoError(t, err)
		for _, f := range rows.CV.Folds {
			n := 0.0
			for _, i := range f.Val {
				n += rows.CV.Data.Y[i]
			}
			require.LessOrEqual(t, int(n), most)
			require.Len(t, f.Val, 6)
		}
	}
}

// Whatever the table, no group is on both sides of a fold or of the split, and no row is trained on that is not older than all that it validates.
func TestDesignsKeepApart(t *testing.T) {
	dir := t.TempDir()
	proptest.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(12, 40).Draw(r, "rows")
		key := rapid.SliceOfN(rapid.IntRange(0, 9), n, n).Draw(r, "key")
		text := "y,x,key\n"
		for i, k := range key {
			text += fmt.Sprintf("%d,%d,%d\n", i, i*i%7, k)
		}
		path := filepath.Join(dir, "table.csv")
		require.NoError(r, os.WriteFile(path, []byte(text), 0o600))
		kind := rapid.SampledFrom([]string{"group", "time"}).Draw(r, "kind")
		args := []string{"--data", path, "--" + kind, "key", "--folds", strconv.Itoa(rapid.IntRange(2, 4).Draw(r, "folds"))}
		tested := rapid.Bool().Draw(r, "tested")
		args = append(args, "--split", map[bool]string{true: "0.75/rest", false: "all"}[tested])
		rows, err := readDesign(r, false, args...)
		if err != nil {
			r.Skip("too few values")
		}
		keys := func(d *dataset.Data, index []int) (list []int) {
			for _, i := range index {
				list = append(list, key[int(d.Y[i])])
			}
			return list
		}
		apart := func(train, val []int) {
			for _, k := range val {
				require.NotContains(r, train, k)
				if kind == "time" {
					require.Less(r, slices.Max(train), k)
				}
			}
		}
		data := rows.CV.Data
		for _, f := range rows.CV.Folds {
			apart(keys(data, f.Train), keys(data, f.Val))
		}
		if tested {
			var all, held []int
			for i := range data.Y {
				all = append(all, i)
			}
			for i := range rows.CV.Test.Y {
				held = append(held, i)
			}
			apart(keys(data, all), keys(rows.CV.Test, held))
		} else {
			require.Len(r, data.Y, n)
		}
	})
}

// Folds of a column and the same folds in a folder give the same numbers, and so do rows by their numbers and by --folds all.
func TestFoldColumnAndFolder(t *testing.T) {
	dir := t.TempDir()
	text := csvText(3, 30, 4)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	with, folds := lines[0]+",part,number\n", "fold,row,role\n"
	for i, line := range lines[1:] {
		with += fmt.Sprintf("%s,%d,%d\n", line, i*7%3, i+100)
		for k := range 3 {
			folds += fmt.Sprintf("%d,%d,%s\n", k, i, map[bool]string{true: "val", false: "train"}[k == i*7%3])
		}
	}
	data := write(t, dir, "table.csv", with)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	write(t, dir, "folder/data.csv", text)
	write(t, dir, "folder/folds.csv", folds)
	numbers := func(args ...string) any {
		m := conetune(t, append([]string{"tune", "elastic-net", "--json", "--standardize", "--intercept"}, args...)...).object(t)
		return []any{m["refit"], m["coefficients"], m["hyperparameters"]}
	}
	require.Equal(t, numbers("--dir", filepath.Join(dir, "folder")), numbers("--data", data, "--fold-column", "part", "--drop", "number"))
	require.Equal(t, numbers("--data", data, "--folds", "all", "--split", "all", "--drop", "part,number"), numbers("--data", data, "--fold-column", "number", "--drop", "part"))
}

// The error by leaving out one row of a ridge regression has a closed form (Allen 1974): the residuals of the fit to all rows, with the weight for one row less, over
// one minus the diagonal of its hat matrix.
func TestLeaveOneOutOfRidge(t *testing.T) {
	const n, p = 25, 3
	text := csvText(5, n, p)
	data := write(t, t.TempDir(), "table.csv", text)
	m := conetune(t, "tune", "ridge", "--data", data, "--folds", "all", "--split", "all", "--standardize=false", "--intercept", "--json").object(t)
	lambda := m["hyperparameters"].(map[string]any)["lambda"].(float64)

	cells, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	x, y := mat.NewDense(n, p+1, nil), mat.NewVecDense(n, nil)
	for i, row := range cells[1:] {
		x.Set(i, 0, 1)
		for j, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
			if j == 0 {
				y.SetVec(i, v)
			} else {
				x.Set(i, j, v)
			}
		}
	}
	// 1/2 mean of squares over n - 1 rows + lambda/2 |b|^2.
	var gram, inverse, hat mat.Dense
	gram.Mul(x.T(), x)
	for j := 1; j <= p; j++ {
		gram.Set(j, j, gram.At(j, j)+(n-1)*lambda)
	}
	require.NoError(t, inverse.Inverse(&gram))
	hat.Product(x, &inverse, x.T())
	var fitted mat.VecDense
	fitted.MulVec(&hat, y)
	want := 0.0
	for i := range n {
		want += math.Pow((y.AtVec(i)-fitted.AtVec(i))/(1-hat.At(i, i)), 2) / (2 * n)
	}
	require.InEpsilon(t, want, m["refit"].(map[string]any)["validation_error"], 1e-6)
}

// Classifiers take folds that validate rows of one label.
func TestLeaveOneOutOfLabels(t *testing.T) {
	dir := t.TempDir()
	data, saved := write(t, dir, "table.csv", labelled(1, 24, 2)), filepath.Join(dir, "m.json")
	for _, name := range []string{"logistic", "svm"} {
		out := conetune(t, "tune", name, "--data", data, "--folds", "all", "--split", "all", "--tol", "0.1", "--gap-tol", "0", "--save", saved).ok(t)
		require.Contains(t, out, "(24 folds of one row)")
		text, err := os.ReadFile(saved)
		require.NoError(t, err)
		require.Contains(t, string(text), `"folds": 24,`)
	}
}

// What contradicts itself is said in one line.
func TestDesignsThatContradict(t *testing.T) {
	dir := t.TempDir()
	data, other := write(t, dir, "wards.csv", wards), write(t, dir, "other.csv", wards)
	entries := write(t, dir, "entries.csv", "row,col,value\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n2,0,1\n2,1,3\n")
	numbers := write(t, dir, "table.svm", "1 1:2 2:3\n2 1:1\n3 2:4\n4 1:5\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--group", "ward", "--time", "day"}, "--group and --time contradict each other"},
		{[]string{"--fold-column", "part", "--group", "ward"}, "--fold-column and --group contradict each other"},
		{[]string{"--fold-column", "part", "--folds", "3"}, "--fold-column part says how many folds there are: leave --folds out"},
		{[]string{"--fold-column", "part", "--split", "0.5/rest"}, "--fold-column part divides all rows: leave --split out"},
		{[]string{"--fold-column", "part", "--repeats", "2"}, "--repeats: chance has no part in --fold-column"},
		{[]string{"--time", "day", "--repeats", "2"}, "--repeats: chance has no part in --time"},
		{[]string{"--folds", "all", "--repeats", "2"}, "--repeats: chance has no part in --folds all"},
		{[]string{"--time", "day", "--folds", "all"}, "--folds all and --time contradict"},
		{[]string{"--time", ""}, "--time is empty"},
		{[]string{"--time", "ward"}, `expected times`},
		{[]string{"--time", "year"}, `"year"`},
		{[]string{"--group", "y"}, "the column \"y\" is wanted for --group and is the target"},
		{[]string{"--group", "ward", "--folds", "4", "--split", "all"}, `wards.csv: column "ward": split: 4 folds of 3 groups`},
		{[]string{"--time", "day", "--folds", "11", "--split", "all"}, `wards.csv: column "day": split: 11 folds of 11 different times`},
	} {
		o := conetune(t, append([]string{"tune", "elastic-net", "--data", data}, c.args...)...)
		require.Equal(t, exitUsage, o.code, "%v: %s", c.args, o.stderr)
		require.Contains(t, o.stderr, c.want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
	for want, args := range map[string][]string{
		"--group goes with --data FILE; the rows of --train and --val are divided": {"elastic-net", "--train", data, "--val", other, "--group", "ward"},
		"--group goes with --data or --train; the tables of a folder":              {"elastic-net", "--dir", dir, "--group", "ward"},
		"--time goes with tables of features":                                      {"matrix-completion", "--data", entries, "--time", "row"},
		"--time goes with a table of columns":                                      {"elastic-net", "--data", numbers, "--time", "x1"},
		"--split all is for folds":                                                 {"matrix-completion", "--data", entries, "--split", "all"},
	} {
		o := conetune(t, append([]string{"tune"}, args...)...)
		require.Equal(t, exitUsage, o.code)
		require.Contains(t, o.stderr, want)
	}
}

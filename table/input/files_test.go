package input

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/internal/libsvm"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table/split"
)

func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// readFoldsDir reads a folder with folds.
func readFoldsDir(dir string) (*dataset.CrossValidation, error) {
	r := &Rows{}
	err := (&Source{Dir: dir}).readDir(r, true)
	return r.CV, err
}

// What is written is read back.
func TestReadDir(t *testing.T) {
	sparseRows := func(names []string) *dataset.Split {
		s := &dataset.Split{}
		for k, set := range []**dataset.Data{&s.Train, &s.Val, &s.Test} {
			x := sparse.NewCSR(2, 9, []int{0, 1, 2}, []int{k, 2 * k}, []float64{0.1, -1})
			*set = &dataset.Data{X: x, Y: []float64{1, float64(k) / 3}, Features: names, Target: "y"}
		}
		return s
	}
	dense := must.First(dataset.Generate(dataset.Config{Train: 5, Val: 4, Test: 3, Features: 7}, 1))(t)
	untested := must.First(dataset.Generate(dataset.Config{Train: 5, Val: 4, Features: 7}, 1))(t)
	for _, want := range []*dataset.Split{dense, untested, sparseRows(append([]string{"a"}, libsvm.Names(8)...))} {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		require.NoError(t, dataset.WriteDir(want, dir))
		got := must.Of(ReadDir(dir))(t)
		require.Equal(t, want.Test == nil, got.Test == nil)
		for k, set := range []*dataset.Data{got.Train, got.Val, got.Test} {
			from := []*dataset.Data{want.Train, want.Val, want.Test}[k]
			if from == nil {
				continue
			}
			require.Equal(t, from.Sparse(), set.Sparse())
			require.True(t, mat.Equal(from.Dense(), set.Dense()))
			require.Equal(t, from.Y, set.Y)
			require.Equal(t, from.Features, set.Features)
			require.Equal(t, from.Target, set.Target)
		}
	}
}

func TestReadDirErrors(t *testing.T) {
	_, err := ReadFile("", "")
	require.ErrorContains(t, err, "no such file")
	dir := t.TempDir()
	missing := filepath.Join(dir, "none")
	_, err = ReadDir(missing)
	require.EqualError(t, err, missing+": no such directory")

	_, err = ReadDir(put(t, dir, "file", ""))
	require.ErrorContains(t, err, "is a file, expected a directory with train.csv and val.csv")

	_, err = ReadDir(dir)
	require.EqualError(t, err, dir+": lacks train.csv or train.csv.gz (or .svm, .svm.gz)")

	train := put(t, dir, "train.csv", "y,a,b\n1,2,3\n")
	_, err = ReadDir(dir)
	require.EqualError(t, err, dir+": lacks val.csv or val.csv.gz (or .svm, .svm.gz)")

	val := put(t, dir, "val.csv", "y,a\n1,2\n")
	_, err = ReadDir(dir)
	require.EqualError(t, err, val+`: does not fit the training set: it lacks column "b"`)

	put(t, dir, "val.csv", "y,a,b\n1,2,3\n")
	s := must.Of(ReadDir(dir))(t)
	require.Nil(t, s.Test)

	test := put(t, dir, "test.csv", "y,a,b\n1,2,3\n1,,3\n")
	_, err = ReadDir(dir)
	require.ErrorContains(t, err, test+`:3: has a missing value`)

	put(t, dir, "train.csv.gz", "y,a,b\n1,2,3\n")
	_, err = ReadDir(dir)
	require.EqualError(t, err, dir+": has both train.csv and train.csv.gz, expected one of them")
	require.FileExists(t, train)
}

func TestFoldsDir(t *testing.T) {
	for _, test := range []int{0, 7} {
		c := must.Of(dataset.InFolds.Preset(fmt.Sprintf("31-%d-p4-t3", test)))(t)
		want, b := must.Both(dataset.GenerateFolds(c, 5, true))(t)
		require.Len(t, b, 4)
		dir := filepath.Join(t.TempDir(), "new")
		require.NoError(t, dataset.WriteFoldsDir(want, dir))
		got := must.Of(readFoldsDir(dir))(t)
		require.Equal(t, want.Folds, got.Folds)
		require.True(t, mat.Equal(want.Data.X, got.Data.X))
		require.Equal(t, want.Data.Y, got.Data.Y)
		require.Subset(t, []float64{-1, 1}, got.Data.Y)
		require.Equal(t, test == 0, got.Test == nil)
		require.ErrorContains(t, dataset.WriteFoldsDir(want, dir), "is not empty")
	}
	for _, name := range []string{"31-7-p4", "31-7-4-3", "31-7-p4-tx", "-1-7-p4-t3"} {
		_, err := dataset.InFolds.Preset(name)
		require.ErrorContains(t, err, "expected ROWS-TEST-pFEATURES-tFOLDS")
	}
	_, err := dataset.InFolds.Preset("3-1-p4-t5")
	require.ErrorContains(t, err, "5 folds of 3 rows")
}

func TestReadFoldsDirErrors(t *testing.T) {
	const data = "y,a\n1,2\n2,3\n3,4\n4,5\n"
	const good = "fold,row,role\n0,0,train\n0,1,val\n1,1,train\n1,0,val\n"
	for _, c := range []struct{ name, data, folds, want string }{
		{"no folds", data, "", "lacks folds.csv"},
		{"empty", data, "\n", "folds.csv: is empty"},
		{"header", data, "fold,line,role\n0,0,train\n",
			`folds.csv:1: has the columns fold, line, role, expected fold, row and role`},
		{"fields", data, "fold,row,role\n0,0\n", "folds.csv:2: has 2 fields, expected 3"},
		{"row", data, "fold,row,role\n0,4,val\n", `folds.csv:2: row: "4" found, expected a number from 0 to 3`},
		{"fold", data, "fold,row,role\n-1,0,val\n", `folds.csv:2: fold: "-1" found`},
		{"role", data, "fold,row,role\n0,0,test\n", `folds.csv:2: role: "test" found, expected train or val`},
		{"one fold", data, "fold,row,role\n0,0,train\n0,1,val\n", "folds.csv: 1 folds, expected at least 2"},
		{"skipped", data, good + "3,0,train\n", "folds.csv: fold 2 has no training rows"},
		{"twice", data, good + "1,0,train\n", "folds.csv: fold 1 names row 0 twice"},
		{"data", "y,a\n1,x\n", good, `data.csv:2: column 2 ("a")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "data.csv", c.data)
			if c.folds != "" {
				put(t, dir, "folds.csv", c.folds)
			}
			_, err := readFoldsDir(dir)
			require.ErrorContains(t, err, c.want)
			var known *textfile.Error
			require.ErrorAs(t, err, &known)
		})
	}
	dir := t.TempDir()
	put(t, dir, "data.csv", data)
	put(t, dir, "folds.csv", good)
	cv := must.Of(readFoldsDir(dir))(t)
	require.Equal(t, []split.Fold{{Train: []int{0}, Val: []int{1}}, {Train: []int{1}, Val: []int{0}}}, cv.Folds)
	put(t, dir, "test.csv", "y,b\n1,2\n")
	_, err := readFoldsDir(dir)
	require.ErrorContains(t, err, `test.csv: does not fit the training set: it lacks column "a"`)
	_, err = readFoldsDir(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "no such directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "data.csv")))
	_, err = readFoldsDir(dir)
	require.ErrorContains(t, err, "lacks data.csv or data.csv.gz")
}

// A LIBSVM file of training, validation or test rows may lack the last features: there are as many as the largest index
// of all says. What a table is widened by takes no memory to speak of.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	train, wide, other := put(t, dir, "train", "1 1:2 3:4\n2 1:1\n"), put(t, dir, "wide", "1 4:2\n"),
		put(t, dir, "other", "1 1:5 6:3\n2 2:1 3:1 4:1 5:1 6:1\n")
	rows := must.Of((&Source{Train: train, Val: wide, Test: other}).Read())(t)
	s := rows.Split
	for d, want := range map[*dataset.Data][]float64{s.Train: {2, 0, 4, 0, 0, 0}, s.Val: {0, 0, 0, 2, 0, 0},
		s.Test: {5, 0, 0, 0, 0, 3}} {
		require.Equal(t, []string{"x1", "x2", "x3", "x4", "x5", "x6"}, d.Features)
		row := make([]float64, 6)
		d.Fill(row, 0)
		require.Equal(t, want, row)
		require.Equal(t, s.Train.Sparse(), d.Sparse())
	}
	dense := put(t, dir, "dense", "1 1:2 2:3\n2 1:1 2:1\n")
	table := must.Of(ReadFile(dense, ""))(t)
	require.False(t, table.Sparse())
	n := must.Of(new(Input).together(nil, false, dense, "", put(t, dir, "far", "1 1000000:1\n")))(t)
	require.Nil(t, n.all[1])
	for _, d := range []*dataset.Data{n.all[0], n.all[2]} {
		_, p := d.Dims()
		require.Equal(t, 1_000_000, p)
		require.True(t, d.Sparse())
	}
	named := put(t, dir, "named", "y,a,b,c\n1,2,3,4\n")
	_, err := new(Input).together(nil, false, named, wide)
	require.ErrorContains(t, err, "wide:1: index 4: is larger than 3, the number of features (that of the training data)")
	_, err = new(Input).together(nil, false, named, put(t, dir, "order", "y,b,a,c\n1,2,3,4\n"))
	require.ErrorContains(t, err, `its feature 1 is "b", expected "a" (the same order of columns)`)
}

// A library reads what the command reads: decimal commas, texts, and rows divided by a rule.
func TestReadAndSplit(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "t.csv", "y;a;b\n1,5;1;u\n2;2,25;v\n3;3;u\n4;4;v\n5;1;v\n")
	rows := must.Of((&Source{Data: path, Split: "3/1/rest", Seed: 1}).Read())(t)
	require.Equal(t, []string{"a", "b=v"}, rows.Split.Train.Features)
	require.InDelta(t, 15.5, floats.Sum(slices.Concat(rows.Split.Train.Y, rows.Split.Val.Y, rows.Split.Test.Y)), 1e-12)
	_, err := (&Source{Data: path, Split: "5/rest"}).Read()
	require.EqualError(t, err, path+`: split "5/rest": leaves the validation set empty, with 5 rows in all`)
	_, err = (&Source{}).Read()
	require.ErrorContains(t, err, "no data")
}

// scikit-learn publishes the example data with each column centred and scaled to norm
// 1, which is mean 0 and standard deviation 1 over sqrt(n). Its first row:
func TestStandardizePublished(t *testing.T) {
	d := must.Of(ReadFile("../../examples/diabetes.csv", ""))(t)
	n, p := d.Dims()
	require.Equal(t, []int{442, 10}, []int{n, p})
	require.InDelta(t, 152.13348416, stat.Mean(d.Y, nil), 1e-8)
	z := dataset.NewTransform(d, dataset.ByDeviation, true).Apply(d)
	want := []float64{0.03807591, 0.05068012, 0.06169621, 0.02187239, -0.0442235, -0.03482076, -0.04340085, -0.00259226,
		0.01990749, -0.01764613}
	for j, v := range want {
		require.InDelta(t, v, z.X.At(0, j)/math.Sqrt(442), 1e-8, d.Features[j])
	}
}

// Folds of one row each of a table that is too large for so many copies are refused before they are made.
func TestFoldMemory(t *testing.T) {
	data := &dataset.Data{X: mat.NewDense(1000, 1000, nil), Y: make([]float64, 1000)}
	require.NoError(t, checkFoldMemory(data, 2))
	require.ErrorContains(t, checkFoldMemory(data, 1_000_000), "do not fit into the budget of memory")
}

// Standard input that breaks off, or finds no room, is one error.
func TestSpool(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(strings.Repeat("1,2\n", spoolFrom/4+9)),
		iotest.ErrReader(errors.New("gone")))
	require.EqualError(t, readStream("pipe", broken).err, "pipe: cannot be read: gone")
	require.EqualError(t, readStream("pipe", iotest.ErrReader(errors.New("gone"))).err, "pipe: cannot be read: gone")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	s := readStream("pipe", strings.NewReader(strings.Repeat("1,2\n", spoolFrom/4+9)))
	require.NoError(t, s.err)
	require.Nil(t, s.put)
	require.EqualValues(t, spoolFrom+36, s.text.Size())
}

// FuzzReadFolds: folds that are read are folds of the table.
func FuzzReadFolds(f *testing.F) {
	for _, seed := range []string{"", "fold,row,role\n0,0,train\n0,1,val\n1,1,train\n1,0,val\n",
		"fold,row,role\n9,0,train\n", "fold,row,role\n0,0,train\n0,0,val\n",
		"\"fold\", row ,role\u00a0\n\v\n0,0\f,train\n", "fold,row,role\n-1,0,x\n", "row,fold,role\n",
		"fold,row,role\n\"0\n"} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		n = max(1, min(n, 1000))
		var folds []split.Fold
		if !readertest.Read(t, "folds.csv", text, func(s *textfile.Source) (err error) {
			folds,
				err = readFoldsSource(s, n)
			return err
		}) {
			return
		}
		if err := split.CheckFolds(folds, n); err != nil {
			t.Fatal(err)
		}
	})
}

// Small tables have ten folds, the smallest twice; where it is said how often, and in time, there are five.
func TestDefaultFolds(t *testing.T) {
	in := func(n int) divided { return divided{By: split.By{At: floats.Span(make([]float64, n), 0, 1)}} }
	for _, c := range []struct {
		n, p, folds, repeats int
		from                 Source
		by                   divided
	}{
		{250, 10, 10, 2, Source{}, divided{}}, {251, 10, 10, 1, Source{}, divided{}},
		{1001, 10, 5, 1, Source{}, divided{}}, {250, 201, 5, 1, Source{}, divided{}}, {7, 2, 7, 2, Source{}, divided{}},
		{250, 10, 5, 3, Source{Repeats: 3}, divided{}}, {250, 10, 4, 2, Source{Folds: 4}, divided{}},
		{250, 10, 5, 2, Source{}, in(250)}, {250, 10, 3, 2, Source{}, divided{By: split.By{Group: make([]int, 250)}}},
	} {
		if c.by.Group != nil {
			for i := range c.by.Group {
				c.by.Group[i] = i % 3
			}
		}
		folds, repeats := c.from.worth(c.n, c.p, c.by)
		require.Equal(t, []int{c.folds, c.repeats}, []int{folds, repeats}, c)
	}
}

// BenchmarkReadFile reads files of 32 MB, dense and of few numbers beside zeros, into data. With -cpu 1 it is the rate
// of one core.
func BenchmarkReadFile(b *testing.B) {
	for _, c := range []struct {
		p     int
		share float64 // of numbers that are not 0
	}{{100, 1}, {1000, 0.02}} {
		r := rand.New(rand.NewPCG(1, 2))
		text := []byte("y")
		for j := range c.p {
			text = strconv.AppendInt(append(text, ",x"...), int64(j)+1, 10)
		}
		for len(text) < 32<<20 {
			text = strconv.AppendFloat(append(text, '\n'), r.NormFloat64(), 'g', 17, 64)
			for range c.p {
				if text = append(text, ','); r.Float64() < c.share {
					text = strconv.AppendFloat(text, r.NormFloat64(), 'g', 6+r.IntN(12), 64)
				} else {
					text = append(text, '0')
				}
			}
		}
		b.Run(fmt.Sprintf("p=%d/share=%g", c.p, c.share), func(b *testing.B) {
			readertest.Benchmark(b, "f.csv", append(text, '\n'), func(path string) error {
				_, err := ReadFile(path, "")
				return err
			})
		})
	}
}

// Test rows are looked for among those of training and validation, where few of these are alike.
func TestCopiesForTest(t *testing.T) {
	rows := func(from, to, levels int) string {
		text := "y,a,b\n"
		for i := from; i < to; i++ {
			text += fmt.Sprintf("%d,%d,%d\n", i%levels, i*i%levels, i%3)
		}
		return put(t, t.TempDir(), "t.csv", text)
	}
	for want, source := range map[string]Source{
		"20 of 35 test rows": {Data: rows(0, 60, 99), Test: rows(40, 75, 99)},
		"35 of 35 test rows": {Train: rows(0, 60, 99), Val: rows(60, 75, 99), Test: rows(40, 75, 99)},
		"half":               {Data: rows(0, 60, 99), Test: rows(45, 75, 99)},
		"few different rows": {Data: rows(0, 60, 5), Test: rows(40, 75, 5)},
	} {
		told := fmt.Sprint(must.Of(source.Read())(t).Notes)
		require.Equal(t, strings.Contains(want, "test"), strings.Contains(told, want), told)
		require.Equal(t, strings.Contains(want, "test"), strings.Contains(told, "test rows"), told)
	}
}

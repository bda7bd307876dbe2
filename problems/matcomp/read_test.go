package matcomp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
)

// What is written is what is read, to the last bit.
func TestWriteAndRead(t *testing.T) {
	d := must.Of(matcomp.Generate(matcomp.Config{Rows: 20, Cols: 15, Train: 2, Val: 1}, 3))(t)
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, matcomp.WriteDir(d, dir))
	back := must.Of(matcomp.ReadDir(dir, 0))(t)
	require.Equal(t, d.Row, back.Row)
	require.Equal(t, d.Col, back.Col)
	require.Equal(t, []int{d.Rows, d.Cols}, []int{back.Rows, back.Cols})
	require.ElementsMatch(t, d.Train, back.Train)
	require.ElementsMatch(t, d.Val, back.Val)
	require.ElementsMatch(t, d.Test, back.Test)
	require.ErrorContains(t, matcomp.WriteDir(d, dir), "is not empty")
	// Other groups than the written ones.
	back = must.Of(matcomp.ReadDir(dir, 6))(t)
	require.Equal(t, 6, back.Row.Groups.Len())
}

func TestGenerate(t *testing.T) {
	c := must.Of(matcomp.Preset("60-60"))(t)
	d := must.Of(matcomp.Generate(c, 1))(t)
	again := must.Of(matcomp.Generate(c, 1))(t)
	require.Equal(t, d, again)
	require.Len(t, append(append(d.Train, d.Val...), d.Test...), 3600)
	// Two training entries of each row and two of each column, which may be the same.
	rows, cols := make([]int, 60), make([]int, 60)
	for _, e := range d.Train {
		rows[e.Row]++
		cols[e.Col]++
	}
	for i := range rows {
		require.GreaterOrEqual(t, rows[i], 2)
		require.GreaterOrEqual(t, cols[i], 2)
	}
	require.LessOrEqual(t, len(d.Train), 240)
	require.LessOrEqual(t, len(d.Val), 120)
	require.Equal(t, 12, d.Row.Groups.Len())
	// The noise has half the norm of the rest, so a fifth of the sum of squares.
	sum, linear := 0.0, 0.0
	for _, e := range again.Test {
		effect := 0.0
		for j := range 12 {
			effect += float64(j/3+1) * again.Row.X.At(e.Row, j)
		}
		for j := range 6 {
			effect += float64(j/3+1) * again.Col.X.At(e.Col, j)
		}
		linear += effect * effect
		sum += e.Value * e.Value
	}
	require.InDelta(t, 0.4, linear/sum, 0.12) // of what remains, half

	for name, want := range map[string]string{
		"60":             "ROWS-COLS",
		"60-x":           "ROWS-COLS",
		"60-60-2":        "ROWS-COLS",
		"0-60":           "a matrix of 0 x 60",
		"6-6-2-2":        "do not fit",
		"9-9-0-1":        "expected at least 1",
		"99999-99999":    "entries at most",
		"60-60-2-1-seed": "ROWS-COLS",
	} {
		_, err := matcomp.Preset(name)
		require.ErrorContains(t, err, want, name)
	}
}

// Entries in one file, divided at random, with the features of the rows alone.
func TestReadAndSplit(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	entries := file("entries.csv", "value,col,row,who\n1.5,0,0,a\n\n-2,3,1,b\n\"3\",1,2,c\n4,2,2,d\n5,3,0,e\n6,0,1,f\n")
	features := file("features.csv", "age,size\n1,2\n3,4\n5,6\n")
	test := file("test.csv", "row,col,value\n0,1,7\n")
	d := must.Of(matcomp.ReadAndSplit(matcomp.Files{Entries: entries, Row: features}, "3/2/rest", 5))(t)
	require.Equal(t, []int{3, 4}, []int{d.Rows, d.Cols})
	require.Equal(t, []int{3, 2, 1}, []int{len(d.Train), len(d.Val), len(d.Test)})
	require.Equal(t, []string{"age", "size"}, d.Row.Names)
	require.Equal(t, 2, d.Row.Groups.Len()) // two do not make twelve: each has its own
	require.Nil(t, d.Col.X)
	sum := 0.0
	for _, e := range append(append(d.Train, d.Val...), d.Test...) {
		sum += e.Value
	}
	require.Equal(t, 17.5, sum)

	d = must.Of(matcomp.ReadAndSplit(matcomp.Files{Entries: entries, Test: test}, "4/rest", 5))(t)
	require.Equal(t, []matcomp.Entry{{Row: 0, Col: 1, Value: 7}}, d.Test)
	_, err := matcomp.ReadAndSplit(matcomp.Files{Entries: entries, Test: test}, "3/2/rest", 5)
	require.ErrorContains(t, err, "leaves test entries, but there is a file with them")
	again := file("again.csv", "row,col,value\n0,0,7\n")
	_, err = matcomp.ReadAndSplit(matcomp.Files{Entries: entries, Test: again}, "4/rest", 5)
	require.ErrorContains(t, err, "entry (0, 0) is there twice")
}

// Each mistake in a folder is told with file, line and field.
func TestBadFolders(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"observations.csv", "row_features.csv", "col_features.csv", "row_groups.csv",
		"col_groups.csv"} {
		text := must.Of(os.ReadFile(filepath.Join("testdata/small", name)))(t)
		files[name] = string(text)
	}
	lines := strings.Split(files["observations.csv"], "\n")
	with := func(line string) string {
		return strings.Join(append(append([]string{}, lines[:5]...), line), "\n") + "\n"
	}
	only := func(set string) string {
		out := lines[0] + "\n"
		for _, l := range lines[1:] {
			if strings.HasSuffix(l, ","+set) {
				out += l + "\n"
			}
		}
		return out
	}
	put := func(changed, by string) (dir string) { // the files, one of them changed
		dir = t.TempDir()
		for name, text := range files {
			if name == changed {
				text = by
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return dir
	}
	for _, c := range []struct{ name, file, text, want string }{
		{"row outside", "observations.csv", with("12,0,1,train"),
			"observations.csv:6: row: 12 is outside of the matrix: there are features of 12, 0 to 11"},
		{"column outside", "observations.csv", with("0,10,1,train"), "col: 10 is outside of the matrix"},
		{"negative", "observations.csv", with("-1,0,1,train"), "row: \"-1\" found, expected an index from 0"},
		{"not whole", "observations.csv", with("1.5,0,1,train"), "expected an index from 0"},
		{"twice", "observations.csv", with(lines[2]), "observations.csv:6: entry (0, 1) stands on line 3 too"},
		{"word", "observations.csv", with("11,9,one,train"), "observations.csv:6: value: "},
		{"NaN", "observations.csv", with("11,9,NaN,train"), "observations.csv:6: value: "},
		{"set", "observations.csv", with("11,9,1,training"), `set: "training" found, expected train, val or test`},
		{"fields", "observations.csv", with("11,9,1"), "has 3 fields, expected 4"},
		{"quotes", "observations.csv", with(`11,"9,1,train`), "is not CSV"},
		{"columns", "observations.csv", "i,j,value,set\n", "has the columns i, j, value, set, expected row, col, value, set"},
		{"empty", "observations.csv", "", "is empty, expected the columns row, col, value, set"},
		{"no entries", "observations.csv", lines[0] + "\n", "has column names and no entries"},
		{"nothing trains", "observations.csv", only("val"), "has no entry of the set train"},
		{"nothing validates", "observations.csv", only("train"), "has no entry of the set val"},
		{"too few features", "row_features.csv", strings.Join(strings.Split(files["row_features.csv"], "\n")[:12], "\n") +
			"\n", "row: 11 is outside of the matrix: there are features of 11"},
		{"feature not a number", "col_features.csv", strings.Replace(files["col_features.csv"], "\n", "\nx", 1),
			"col_features.csv:2"},
		{"groups miss a feature", "row_groups.csv", "feature,group\nf1,0\nf2,0\nf3,1\n", `lacks the group of "f4"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := put(c.file, c.text)
			_, err := matcomp.ReadDir(dir, 0)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, dir)
		})
	}
	_, err := matcomp.ReadDir("testdata/none", 0)
	require.ErrorContains(t, err, "no such directory")
	_, err = matcomp.ReadDir("testdata/README.md", 0)
	require.ErrorContains(t, err, "is a file")
	_, err = matcomp.ReadDir(t.TempDir(), 0)
	require.ErrorContains(t, err, "lacks observations.csv")
	// More features than the matrix has rows: a row without entries.
	d := must.Of(matcomp.ReadDir(put("row_features.csv", files["row_features.csv"]+"1,2,3,4\n"), 0))(t)
	require.Equal(t, 13, d.Rows)
}

// Names that CSV has to quote come back from a folder.
func TestNamesWithCommas(t *testing.T) {
	names := []string{`a,b`, `say "c"`, "d"}
	g := must.Of(groups.Of([]int{4, 0, 4}))(t)
	d := &matcomp.Data{
		Rows: 2, Cols: 2, Row: matcomp.Features{X: mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), Names: names, Groups: g},
		Train: []matcomp.Entry{{0, 0, 1}, {1, 1, 2}}, Val: []matcomp.Entry{{0, 1, 3}},
	}
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, matcomp.WriteDir(d, dir))
	got := must.Of(matcomp.ReadDir(dir, 0))(t)
	require.Equal(t, names, got.Row.Names)
	require.Equal(t, g, got.Row.Groups)
}

// large is a matrix of rank 1 and noise with too many known entries for the interior-point method.
func large() *matcomp.Data {
	const m, n = 64, 56
	rng := rand.New(rand.NewPCG(5, 6))
	u, v := make([]float64, m), make([]float64, n)
	for _, w := range [][]float64{u, v} {
		for i := range w {
			w[i] = rng.NormFloat64()
		}
	}
	d := &matcomp.Data{Rows: m, Cols: n}
	for i := range m {
		for j := range n {
			e := matcomp.Entry{Row: i, Col: j, Value: 0.5 + u[i]*v[j] + 0.5*rng.NormFloat64()}
			switch r := rng.Float64(); {
			case r < 0.62:
				d.Train = append(d.Train, e)
			case r < 0.8:
				d.Val = append(d.Val, e)
			default:
				d.Test = append(d.Test, e)
			}
		}
	}
	return d
}

// dense is a point with Gamma by rows in the place of its factors.
func dense(d *matcomp.Data, x [][]float64) [][]float64 {
	k := len(x[1]) / (d.Rows + d.Cols)
	full := mat.NewDense(d.Rows, d.Cols, nil)
	if k > 0 {
		full.Mul(mat.NewDense(d.Rows, k, x[1][:d.Rows*k]), mat.NewDense(d.Cols, k, x[1][d.Rows*k:]).T())
	}
	return append([][]float64{x[0], full.RawMatrix().Data}, x[2:]...)
}

// Factors are scored, predicted from and saved as the matrix that they stand for.
func TestFactorsAndMatrix(t *testing.T) {
	d := large()
	require.Greater(t, len(d.Train), 2000)
	for _, o := range []matcomp.Options{{}, {Intercept: true, Standardize: true}} {
		m := newModel(t, d, o)
		fit := must.Of(m.Penalised())(t)
		pt := must.Of(fit.Solve(context.Background(), []float64{0.3 * fit.LambdaMax()}, 1e-8, nil))(t)
		require.True(t, pt.Solved)
		full := dense(d, pt.X)
		a, b := m.Evaluate(pt.X), m.Evaluate(full)
		require.InDelta(t, b.Validation, a.Validation, 1e-12)
		require.InDelta(t, *b.Test, *a.Test, 1e-12)
		p, q := m.Fit(pt.X).Matrix, m.Fit(full).Matrix
		require.Equal(t, q.Rank(), p.Rank())
		for i := range d.Rows {
			require.InDelta(t, q.At(i, i%d.Cols), p.At(i, i%d.Cols), 1e-5)
		}
	}
}

// The lower level and the whole method by factors are those by conic programs, of a completion with an intercept.
func TestFactoredAgainstConic(t *testing.T) {
	ctx := context.Background()
	m := newModel(t, large(), matcomp.Options{Intercept: true})
	s := m.DefaultSettings()
	s.MaxIter, s.Backend = 2, must.Of(backends.Open("native"))(t)
	conic := m.Program()
	conic.H0, conic.PathRise = []float64{35}, 1
	quick := conic
	quick.Fit = must.Of(m.Penalised())(t)
	require.True(t, quick.Fit.Traits().Compact())
	want, got := must.Of(dca.LowerLevel(ctx, conic, s))(t), must.Of(dca.LowerLevel(ctx, quick, s))(t)
	require.False(t, math.IsNaN(got.Gap))
	require.InEpsilon(t, want.Value, got.Value, 1e-5)
	require.InEpsilon(t, want.Lambda[0], got.Lambda[0], 1e-4)

	a, b := must.Of(dca.Solve(ctx, conic, s))(t), must.Of(dca.Solve(ctx, quick, s))(t)
	require.Equal(t, a.Iterations, b.Iterations)
	require.Equal(t, a.StartWeights, b.StartWeights, "also where loose fits say that the path has risen")
	for k, it := range a.Trace {
		require.InEpsilon(t, it.Objective, b.Trace[k].Objective, 1e-4, "%d", k)
		require.InEpsilon(t, it.UpperValue, b.Trace[k].UpperValue, 1e-4)
		require.InEpsilon(t, it.H[0], b.Trace[k].H[0], 1e-4)
		require.Equal(t, "fit", b.Trace[k].SubEngine)
		require.InDelta(t, it.Step, b.Trace[k].Step, 1e-3*it.Step+1e-6)
	}
	require.InEpsilon(t, a.RefitValue, b.RefitValue, 1e-4)

	s.Workers = 2
	c := must.Of(dca.Solve(ctx, quick, s))(t)
	require.Equal(t, b.X, c.X, "the same bytes again")
	require.Equal(t, b.H, c.H)
}

// The final training on all entries is the lower level at the radius with these entries.
func TestFactoredRetrain(t *testing.T) {
	d := large()
	m := newModel(t, d, matcomp.Options{})
	backend := must.Of(backends.Open("native"))(t)
	retrain := func(near []float64) (problems.Fit, *float64) {
		return must.Both(m.Advice().Retrain(context.Background(), problems.Solver{Backend: backend, Fits: true, Near: near},
			[]float64{50}))(t)
	}
	fit, test := retrain(nil)
	all := *d
	all.Train = append(append([]matcomp.Entry{}, d.Train...), d.Val...)
	p := newModel(t, &matcomp.Data{Rows: d.Rows, Cols: d.Cols, Train: all.Train, Val: d.Test[:5], Test: d.Test[5:]},
		matcomp.Options{}).Program()
	p.H0 = []float64{50}
	want := must.Of(dca.LowerLevel(context.Background(), p, dca.Settings{Backend: backend}))(t)
	sum := 0.0
	for _, e := range d.Test {
		r := e.Value - want.X[1][e.Row*d.Cols+e.Col]
		require.InDelta(t, want.X[1][e.Row*d.Cols+e.Col], fit.Matrix.At(e.Row, e.Col), 1e-3)
		sum += r * r
	}
	require.InEpsilon(t, sum/float64(2*len(d.Test)), *test, 1e-4)
	for _, near := range []float64{want.Lambda[0], 30 * want.Lambda[0], want.Lambda[0] / 30, 0} {
		_, again := retrain([]float64{near})
		require.InEpsilon(t, *test, *again, 1e-4, "wherever it begins, %g", near)
	}
}

// With the paper's settings the iterates of a matrix most of whose entries are known nearly interpolate them; VF-iDCA
// ends all the same.
func TestDense(t *testing.T) {
	d := must.Of(matcomp.Generate(matcomp.Config{Rows: 60, Cols: 60, Train: 12, Val: 4}, 1))(t)
	m := newModel(t, d, matcomp.Options{})
	s := m.PaperSettings()
	s.Backend = native.Backend{}
	p := m.Program()
	p.Fit = must.Of(m.Penalised())(t)
	r := must.Of(dca.Solve(context.Background(), p, s))(t)
	require.Equal(t, outcome.Converged, r.Status, r.Message)
}

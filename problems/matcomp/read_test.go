package matcomp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
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
			dir := t.TempDir()
			for name, text := range files {
				if name == c.file {
					text = c.text
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
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
	// More features than the matrix has rows.
	dir := t.TempDir()
	for name, text := range files {
		if name == "row_features.csv" {
			text += "1,2,3,4\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	d := must.Of(matcomp.ReadDir(dir, 0))(t)
	require.Equal(t, 13, d.Rows) // a row without entries
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

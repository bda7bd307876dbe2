package csvfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

func TestDecode(t *testing.T) {
	plain := &Table{X: mat.NewDense(2, 2, []float64{1, 2, 3, 4}), Y: []float64{-1, 0.5}, Features: []string{"a", "b"}, Target: "y"}
	for _, c := range []struct {
		name, text string
		options    Options
		want       *Table
	}{
		{"plain", "y,a,b\n-1,1,2\n0.5,3,4\n", Options{}, plain},
		{"no last line end", "y,a,b\n-1,1,2\n0.5,3,4", Options{}, plain},
		{"CRLF, byte order mark, blank lines", "\xef\xbb\xbfy,a,b\r\n\r\n-1,1,2\r\n0.5,3,4\r\n\r\n", Options{}, plain},
		{"blanks around fields", " y , a,\tb\n-1 , 1,  2\n 0.5,3,4\n", Options{}, plain},
		{"quotes", "\"y\",\"a\", \"b\" \n\"-1\",1,\"2\"\n0.5, \"3\" ,4\n", Options{}, plain},
		{"y is not first", "a,y,b\n1,-1,2\n3,0.5,4\n", Options{}, plain},
		{"target by name", "y,a,b\n1,-1,2\n3,0.5,4\n", Options{Target: "a"},
			&Table{X: mat.NewDense(2, 2, []float64{1, 2, 3, 4}), Y: []float64{-1, 0.5}, Features: []string{"y", "b"}, Target: "a"}},
		{"first column without y", "price,a\n1,2\n", Options{},
			&Table{X: mat.NewDense(1, 1, []float64{2}), Y: []float64{1}, Features: []string{"a"}, Target: "price"}},
		{"names with commas and quotes", "y,\"a,b\",\"say \"\"hi\"\"\",\"\"\"\"\n1,2,3,4\n", Options{},
			&Table{X: mat.NewDense(1, 3, []float64{2, 3, 4}), Y: []float64{1}, Features: []string{"a,b", `say "hi"`, `"`}, Target: "y"}},
		{"names that count the columns", "0,1,2\n5,6,7\n", Options{},
			&Table{X: mat.NewDense(1, 2, []float64{6, 7}), Y: []float64{5}, Features: []string{"1", "2"}, Target: "0"}},
		{"no target needed", "a,b\n1,2\n", Options{TargetOptional: true},
			&Table{X: mat.NewDense(1, 2, []float64{1, 2}), Features: []string{"a", "b"}}},
		{"no target needed but there", "a,t\n1,2\n", Options{TargetOptional: true, Target: "t"},
			&Table{X: mat.NewDense(1, 1, []float64{1}), Y: []float64{2}, Features: []string{"a"}, Target: "t"}},
		{"chosen columns", "name,b,y,a\nx,1,2,3\nnan,4,5,6\n", Options{Columns: []string{"a", "b"}},
			&Table{X: mat.NewDense(2, 2, []float64{3, 1, 6, 4}), Y: []float64{2, 5}, Features: []string{"a", "b"}, Target: "y"}},
		{"chosen columns without target", "b,a\n1,3\n", Options{Columns: []string{"a", "b"}, Target: "y", TargetOptional: true},
			&Table{X: mat.NewDense(1, 2, []float64{3, 1}), Features: []string{"a", "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode("f.csv", strings.NewReader(c.text), c.options)
			require.NoError(t, err)
			require.True(t, mat.Equal(c.want.X, got.X), "%v", mat.Formatted(got.X))
			require.Equal(t, c.want.Y, got.Y)
			require.Equal(t, c.want.Features, got.Features)
			require.Equal(t, c.want.Target, got.Target)
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		options    Options
		want       string
	}{
		{"empty", "", Options{}, "f.csv: is empty, expected a line of column names and lines of numbers"},
		{"blank lines only", "\n \n", Options{}, "f.csv: is empty, expected a line of column names and lines of numbers"},
		{"header only", "y,a\n", Options{}, "f.csv: has column names and no rows, expected at least one row of numbers"},
		{"one column", "y\n1\n", Options{}, `f.csv:1: has the single column "y", expected a target and at least one feature, separated by commas`},
		{"semicolons", "y;a\n1;2\n", Options{}, "f.csv:1: the columns seem to be separated by semicolons, expected commas"},
		{"tabs", "y\ta\n1\t2\n", Options{}, "f.csv:1: the columns seem to be separated by tabs, expected commas"},
		{"no header", "1.5,2,3\n4,5,6\n", Options{}, "f.csv:1: the first line holds numbers, expected the names of the columns"},
		{"empty name", ",y,a\n0,1,2\n", Options{}, "f.csv:1: column 1: has no name (if it numbers the rows, leave it out)"},
		{"same name", "y,a,b,a\n1,2,3,4\n", Options{}, `f.csv:1: column 4: has the name "a" of column 2, expected different names`},
		{"too few fields", "y,a,b\n1,2,3\n1,2\n", Options{}, "f.csv:3: has 2 fields, expected 3, one for each column name"},
		{"too many fields", "y,a\n1,2\n\n1,\"2,3\",3,4\n", Options{}, `f.csv:4: column 2 ("a"): "2,3" found, expected a number`},
		{"far too many fields", "y,a\n1,2,3,,5\n", Options{}, "f.csv:2: has 5 fields, expected 2, one for each column name"},
		{"trailing comma", "y,a\n1,2,\n", Options{}, "f.csv:2: has 3 fields, expected 2, one for each column name"},
		{"text", "y,a,b\n1,2,red\n", Options{}, `f.csv:2: column 3 ("b"): "red" found, expected a number`},
		{"text in the target", "y,a\nyes,2\n", Options{}, `f.csv:2: column 1 ("y"): "yes" found, expected a number`},
		{"missing value", "y,a\n1,2\n3,\n", Options{}, `f.csv:3: column 2 ("a"): is empty, expected a number (fill in or leave out rows with missing values)`},
		{"NaN", "y,a\n1,NaN\n", Options{}, `f.csv:2: column 2 ("a"): "NaN" found, expected a finite number`},
		{"nan", "y,a\n1,nan\n", Options{}, `f.csv:2: column 2 ("a"): "nan" found, expected a finite number`},
		{"Inf", "y,a\n1,-Inf\n", Options{}, `f.csv:2: column 2 ("a"): "-Inf" found, expected a finite number`},
		{"too large", "y,a\n1e400,1\n", Options{}, `f.csv:2: column 1 ("y"): "1e400" is beyond the range of a double, expected a finite number`},
		{"open quote", "y,a\n\"1,2\n", Options{}, `f.csv:2: column 1 ("y"): the quote is not closed on its line`},
		{"text after a quote", "y,a\n\"1\"2,2\n", Options{}, `f.csv:2: column 1 ("y"): text follows the closing quote, expected a comma`},
		{"open quote in the header", "y,\"a\n1,2\n", Options{}, "f.csv:1: column 2: the quote is not closed on its line"},
		{"unknown target", "y,a\n1,2\n", Options{Target: "z"}, `f.csv:1: has no column "z" for the target; there are: "y", "a"`},
		{"wanted column missing", "y,a\n1,2\n", Options{Columns: []string{"a", "b", "c"}}, `f.csv:1: lacks 2 of the 3 columns wanted: "b", "c"; there are: "y", "a"`},
		{"wanted column is the target", "y,a\n1,2\n", Options{Columns: []string{"y"}}, `f.csv:1: the column "y" is wanted as a feature and is the target`},
		{"wanted column twice", "y,a\n1,2\n", Options{Columns: []string{"a", "a"}}, `f.csv:1: the column "a" is wanted twice`},
		{"no columns wanted", "y,a\n1,2\n", Options{Columns: []string{}}, "f.csv:1: no columns are wanted, expected at least one feature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode("f.csv", strings.NewReader(c.text), c.options)
			require.EqualError(t, err, c.want)
			var known *textfile.Error
			require.ErrorAs(t, err, &known)
			require.Equal(t, "f.csv", known.File)
		})
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(filepath.Join(dir, "none.csv"), Options{})
	require.ErrorContains(t, err, "no such file")
	_, err = Read(dir, Options{})
	require.ErrorContains(t, err, "is a directory, expected a file")
}

// Gzip is told from the content: a name says nothing.
func TestGzipByContent(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprint(w, "y,a\n1,2\n")
	require.NoError(t, w.Close())
	dir := t.TempDir()
	for name, content := range map[string][]byte{"packed.csv": b.Bytes(), "plain.csv.gz": []byte("y,a\n1,2\n")} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		got, err := Read(path, Options{})
		require.NoError(t, err, name)
		require.Equal(t, 2.0, got.X.At(0, 0))
	}
}

// Lines longer than the read buffer.
func TestLongLines(t *testing.T) {
	const p = 50000
	var b bytes.Buffer
	b.WriteString("y")
	for j := range p {
		b.WriteString(",x" + strconv.Itoa(j+1))
	}
	for i := range 2 {
		b.WriteString("\n" + strconv.Itoa(i))
		for j := range p {
			b.WriteString("," + strconv.Itoa(i+j))
		}
	}
	got, err := Decode("f.csv", &b, Options{})
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1}, got.Y)
	require.Equal(t, float64(p), got.X.At(1, p-1))
}

func randomTable(n, p int) *Table {
	r := rand.New(rand.NewPCG(1, 2))
	t := &Table{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "the \"target\", first"}
	for j := range p {
		t.Features = append(t.Features, "x"+strconv.Itoa(j+1))
	}
	for i := range n {
		t.Y[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(600)-300))
		for j := range p {
			t.X.Set(i, j, r.NormFloat64())
		}
	}
	return t
}

func TestRoundTrip(t *testing.T) {
	want := randomTable(50, 7)
	want.X.Set(3, 3, math.MaxFloat64)
	want.X.Set(4, 4, math.SmallestNonzeroFloat64)
	want.X.Set(5, 5, math.Copysign(0, -1))
	for _, name := range []string{"t.csv", "t.csv.gz"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, Write(path, want))
		got, err := Read(path, Options{Target: want.Target})
		require.NoError(t, err)
		require.Equal(t, want.Y, got.Y)
		require.Equal(t, want.Features, got.Features)
		require.Equal(t, want.Target, got.Target)
		require.Equal(t, want.X.RawMatrix().Data, got.X.RawMatrix().Data[:50*7])
		require.True(t, math.Signbit(got.X.At(5, 5)))
	}
	want.Y, want.Target = nil, ""
	var b bytes.Buffer
	require.NoError(t, Encode(&b, want))
	got, err := Decode("f.csv", &b, Options{TargetOptional: true})
	require.NoError(t, err)
	require.Nil(t, got.Y)
	require.True(t, mat.Equal(want.X, got.X))
}

func TestWriteErrors(t *testing.T) {
	one := func(v float64, names ...string) *Table {
		return &Table{X: mat.NewDense(1, 1, []float64{v}), Y: []float64{0}, Features: names, Target: "y"}
	}
	for _, c := range []struct {
		name  string
		table *Table
		want  string
	}{
		{"NaN", one(math.NaN(), "a"), "csvfile: row 0 holds NaN, expected finite numbers"},
		{"names", one(1, "a", "b"), "csvfile: 2 feature names for 1 columns"},
		{"same name", one(1, "y"), `csvfile: column 2 has the name "y" of column 1, expected different names`},
		{"line end", one(1, "a\nb"), `csvfile: the name "a\nb" of column 2 has a line end, or a blank at its start or end`},
		{"targets", &Table{X: mat.NewDense(1, 1, nil), Y: []float64{1, 2}, Features: []string{"a"}, Target: "y"}, "csvfile: 2 targets for 1 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.csv")
			require.ErrorContains(t, Write(path, c.table), c.want)
			require.NoFileExists(t, path)
		})
	}
}

// The memory allocated on the way stays near the size of the result.
func TestMemory(t *testing.T) {
	const n, p = 2000, 100
	for _, name := range []string{"t.csv", "t.csv.gz"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, Write(path, randomTable(n, p)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := Read(path, Options{})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Len(t, got.Y, n)
		result := float64(8 * n * (p + 1))
		require.Less(t, float64(after.TotalAlloc-before.TotalAlloc), 1.5*result+1e6, name)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"t.csv", "t.csv.gz"} {
		b.Run(strings.TrimPrefix(name, "t."), func(b *testing.B) {
			table := randomTable(2000, 250)
			path := filepath.Join(b.TempDir(), name)
			require.NoError(b, Write(path, table))
			var text bytes.Buffer
			require.NoError(b, Encode(&text, table))
			b.SetBytes(int64(text.Len())) // of text, packed or not
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(path, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

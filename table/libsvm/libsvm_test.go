package libsvm

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

func TestDecode(t *testing.T) {
	text := "\xef\xbb\xbf# a comment\r\n+1 1:0.5 3:-2 # another: 7:7\r\n\n-1\n 2.5\t4:1e-3  2:7 \n0 3:0"
	m, err := Decode("f", strings.NewReader(text), Options{})
	require.NoError(t, err)
	require.Equal(t, &Matrix{
		Labels:   []float64{1, -1, 2.5, 0},
		Features: 4,
		RowStart: []int{0, 2, 2, 4, 5},
		Index:    []int32{0, 2, 1, 3, 2}, // sorted within the row
		Value:    []float64{0.5, -2, 7, 1e-3, 0},
	}, &Matrix{Labels: m.Labels, Features: m.Features, RowStart: m.RowStart, Index: m.Index, Value: m.Value})
}

func TestFeaturesGiven(t *testing.T) {
	m, err := Decode("f", strings.NewReader("1 2:1\n"), Options{Features: 5})
	require.NoError(t, err)
	require.Equal(t, 5, m.Features)
	_, err = Decode("f", strings.NewReader("1 2:1\n1 3:1 6:1\n"), Options{Features: 5})
	require.EqualError(t, err, "f:2: pair 2: index 6 is larger than 5, the number of features (that of the training data)")
}

// What dump_svmlight_file of scikit-learn 1.9 writes of [[1.5 0 2], [0 -1 0], [0 0 0.25]] with the targets 3, -1, 0 and
// query_id 7, 7, 9, with its default zero_based=True.
func TestFromZero(t *testing.T) {
	const plain = "3 0:1.5 2:2\n-1 1:-1\n0 2:0.25\n"
	const queries = "3 qid:7 0:1.5 2:2\n-1 qid:7 1:-1\n0 qid:9 2:0.25\n"
	for text, want := range map[string][]int64{plain: nil, queries: {7, 7, 9}} {
		s, err := textfile.NewSource("f", strings.NewReader(text))
		require.NoError(t, err)
		x, m, err := ReadSourceMatrix(s, Options{})
		require.NoError(t, err)
		require.True(t, mat.Equal(mat.NewDense(3, 3, []float64{1.5, 0, 2, 0, -1, 0, 0, 0, 0.25}), x))
		require.Equal(t, []float64{3, -1, 0}, m.Labels)
		require.True(t, m.ZeroBased)
		require.Equal(t, want, m.Queries)
	}
	// A file beside it whose rows lack the index 0, and one of indices from 1 in which it is a mistake.
	m, err := Decode("f", strings.NewReader("1 2:5\n"), Options{Features: 3, ZeroBased: true})
	require.NoError(t, err)
	require.Equal(t, []int32{2}, m.Index)
	_, err = Decode("f", strings.NewReader("1 1:5\n1 3:5\n"), Options{Features: 3, ZeroBased: true})
	require.EqualError(t, err, "f:2: pair 1: index 3 is larger than 2, the last one of the 3 features of the training data, which count from 0")
	_, err = Decode("f", strings.NewReader("1 1:5\n1 0:5\n"), Options{Features: 3})
	require.EqualError(t, err, "f:2: pair 1: index 0 found, expected indices from 1 as in the training data")
	m, err = Decode("f", strings.NewReader("1 2:5\n"), Options{})
	require.NoError(t, err)
	require.False(t, m.ZeroBased)
	require.Equal(t, 2, m.Features)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f: is empty, expected lines of the form label index:value index:value ..."},
		{"comments only", "# nothing\n\n", "f: is empty, expected lines"},
		{"labels only", "1\n-1\n", "f: has labels and no features, expected lines"},
		{"no label", "1:2 2:3\n", `f:1: label: "1:2" found, expected a number before the first index:value`},
		{"text label", "spam 1:2\n", `f:1: label: "spam" found, expected a number`},
		{"several labels", "1,2 1:2\n", `f:1: label: "1,2" found, expected a number`},
		{"NaN label", "nan 1:2\n", `f:1: label: "nan" found, expected a finite number`},
		{"no colon", "1 1:2\n\n1 1:2 3\n", `f:3: pair 2: "3" found, expected index:value`},
		{"no index", "1 :2\n", `f:1: pair 1: ":2" found, expected an index before the colon`},
		{"query", "1 qid:7a 1:2\n", `f:1: qid: "qid:7a" found, expected qid: and a whole number`},
		{"late query", "1 1:2 qid:7\n", `f:1: pair 2: index "qid" found, expected a whole number`},
		{"some queries", "1 1:2\n1 qid:7 1:2\n", "f: row 1: has no qid:, which other rows have"},
		{"no later query", "1 qid:7 1:2\n1 1:2\n", "f: row 2: has no qid:, which other rows have"},
		{"negative index", "1 -1:2\n", `f:1: pair 1: index "-1" found, expected a whole number`},
		{"fraction", "1 1.5:2\n", `f:1: pair 1: index "1.5" found, expected a whole number`},
		{"index 0 and the largest", "1 0:2\n1 2147483647:3\n", "f:2: index 2147483647 is too large where indices count from 0"},
		{"huge index", "1 99999999999999999999999:2\n", `f:1: pair 1: index "99999999999999999999999" is larger than 2147483647`},
		{"twice", "1 1:2\n1 3:1 2:2 3:3\n", "f:2: index 3: appears twice, expected each index once in a line"},
		{"no value", "1 1: 2:3\n", "f:1: pair 1: value of index 1: is empty, expected a number"},
		{"text value", "1 2:red\n", `f:1: pair 1: value of index 2: "red" found, expected a number`},
		{"Inf value", "1 2:inf\n", `f:1: pair 1: value of index 2: "inf" found, expected a finite number`},
		{"too large", "1 2:1e400\n", `f:1: pair 1: value of index 2: "1e400" is beyond the range of a double`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode("f", strings.NewReader(c.text), Options{})
			require.ErrorContains(t, err, c.want)
			var known *textfile.Error
			require.ErrorAs(t, err, &known)
		})
	}
}

func TestTooLarge(t *testing.T) {
	read := func(text string, memory int64, o Options) error {
		s, err := textfile.NewSource("wide", strings.NewReader(text))
		require.NoError(t, err)
		s.SetMemory(memory)
		_, _, err = ReadSourceMatrix(s, o)
		return err
	}
	const wide = "1 1:1\n1 2147483647:1\n"
	require.EqualError(t, read(wide, 32e9, Options{}), "wide:2: index 2147483647: a sparse table of 2 rows, 2147483647 features and 2 nonzeros takes about 1.1 TB of memory, "+
		"but the budget is 32 GB (GOMEMLIMIT gives more)")
	require.ErrorContains(t, read("1 1:1\n", 1e9, Options{Features: 20_000_000}), "wide: a sparse table of 1 rows, 20000000 features and 1 nonzeros takes about 10.2 GB")
	require.ErrorContains(t, read("1 1:1 2:1\n", 1100, Options{}), "wide:1: index 2: a dense table of 1 rows and 2 features")
	require.NoError(t, read(wide[:7], 1e4, Options{}))
}

// readMatrix reads a file.
func readMatrix(path string, o Options) (x mat.Matrix, m *Matrix, err error) {
	_, err = textfile.ReadFile(path, func(s *textfile.Source) (*Matrix, error) {
		x, m, err = ReadSourceMatrix(s, o)
		return m, err
	})
	return x, m, err
}

// Dense rows must be what a plain loop over the text gives, whether they fit into the
// memory of the values or not.
func TestDenseAgainstPlainLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, share := range []float64{0.01, 0.3, 0.95, 1} {
		const n, p = 60, 40
		want := mat.NewDense(n, p, nil)
		var text bytes.Buffer
		for i := range n {
			fmt.Fprint(&text, i)
			for _, j := range r.Perm(p) {
				if r.Float64() < share {
					want.Set(i, j, r.NormFloat64())
					fmt.Fprintf(&text, " %d:%s", j+1, strconv.FormatFloat(want.At(i, j), 'g', -1, 64))
				}
			}
			fmt.Fprintln(&text)
		}
		for _, pack := range []bool{false, true} {
			content := text.Bytes()
			if pack {
				var b bytes.Buffer
				w := gzip.NewWriter(&b)
				_, err := w.Write(content)
				require.NoError(t, err)
				require.NoError(t, w.Close())
				content = b.Bytes()
			}
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			got, m, err := readMatrix(path, Options{Features: p})
			require.NoError(t, err)
			require.True(t, mat.Equal(want, got), "share %g", share)
			require.Equal(t, float64(n-1), m.Labels[n-1])
		}
	}
}

func BenchmarkReadDense(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for i := range 2000 {
		text.WriteString(strconv.Itoa(1 - 2*(i%2)))
		for j := range 250 {
			text.WriteString(" " + strconv.Itoa(j+1) + ":" + strconv.FormatFloat(r.NormFloat64(), 'g', 7, 64))
		}
		text.WriteByte('\n')
	}
	path := filepath.Join(b.TempDir(), "f")
	require.NoError(b, os.WriteFile(path, text.Bytes(), 0o600))
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := readMatrix(path, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

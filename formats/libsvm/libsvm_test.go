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

	"github.com/conetune/conetune/formats/textfile"
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
		{"query", "1 qid:7 1:2\n", `f:1: pair 1: index "qid" found, expected a whole number from 1`},
		{"negative index", "1 -1:2\n", `f:1: pair 1: index "-1" found, expected a whole number from 1`},
		{"fraction", "1 1.5:2\n", `f:1: pair 1: index "1.5" found, expected a whole number from 1`},
		{"index 0", "1 0:2 1:3\n", "f:1: pair 1: index 0 found, expected indices from 1"},
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

func TestDenseTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wide")
	require.NoError(t, os.WriteFile(path, []byte("1 1:1\n1 2147483647:1\n"), 0o600))
	_, _, err := ReadDense(path, Options{})
	require.EqualError(t, err, path+": 2 rows and 2147483647 features are too many for a dense table of 32 GiB, is the largest index right?")
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
			got, labels, err := ReadDense(path, Options{Features: p})
			require.NoError(t, err)
			require.True(t, mat.Equal(want, got), "share %g", share)
			require.Equal(t, float64(n-1), labels[n-1])
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "1 1:2 3:4\n-1 2:1\n", "1 3:1 2:2 # c\r\n\n", "1 0:1", "1 1:1 1:2", "nan 1:inf", "1 99999999999:1", "\x1f\x8b\x08\x00", "1 2147483647:1"} {
		f.Add([]byte(seed), 0)
	}
	f.Add([]byte("1 9:1"), 5)
	f.Fuzz(func(t *testing.T, text []byte, features int) {
		o := Options{Features: features, MaxCells: 1 << 16}
		m, err := Decode("f", bytes.NewReader(text), o)
		if err != nil {
			var known *textfile.Error
			require.ErrorAs(t, err, &known)
			return
		}
		s, err := textfile.NewSource("f", bytes.NewReader(text))
		require.NoError(t, err)
		x, labels, err := ReadSourceDense(s, o)
		if err != nil {
			return // too large
		}
		want := mat.NewDense(len(m.Labels), m.Features, nil)
		for i := range m.Labels {
			for k := m.RowStart[i]; k < m.RowStart[i+1]; k++ {
				want.Set(i, int(m.Index[k]), m.Value[k])
			}
		}
		require.Equal(t, m.Labels, labels)
		require.True(t, mat.Equal(want, x))
	})
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
		if _, _, err := ReadDense(path, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

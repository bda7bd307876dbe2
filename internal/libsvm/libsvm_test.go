package libsvm

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
)

func TestRead(t *testing.T) {
	f, err := Read(source(t, "\xef\xbb\xbf# a comment\r\n+1 1:0.5 3:-2 # another: 7:7\r\n\n-1\n 2.5\t4:1e-3  2:7 \n0 3:0"))
	require.NoError(t, err)
	require.Equal(t, []float64{1, -1, 2.5, 0}, f.Labels)
	require.Equal(t, []int{1, 4}, []int{f.First, f.Last})
	require.Nil(t, f.Queries)
	require.Equal(t, []one{{0, 1, 0.5}, {0, 3, -2}, {2, 2, 7}, {2, 4, 1e-3}, {3, 3, 0}}, entriesOf(f),
		"sorted within the row")
}

// What dump_svmlight_file of scikit-learn 1.9 writes of [[1.5 0 2], [0 -1 0], [0 0 0.25]] with the targets 3, -1, 0 and
// query_id 7, 7, 9, with its default zero_based=True.
func TestFromZero(t *testing.T) {
	const plain = "3 0:1.5 2:2\n-1 1:-1\n0 2:0.25\n"
	const queries = "3 qid:7 0:1.5 2:2\n-1 qid:7 1:-1\n0 qid:9 2:0.25\n"
	for text, want := range map[string][]int{plain: nil, queries: {7, 7, 9}} {
		f := must.Of(Read(source(t, text)))(t)
		require.Equal(t, []int{0, 2}, []int{f.First, f.Last})
		x := must.Of(f.Matrix(0, 3))(t)
		require.True(t, mat.Equal(mat.NewDense(3, 3, []float64{1.5, 0, 2, 0, -1, 0, 0, 0, 0.25}), x))
		require.Equal(t, []float64{3, -1, 0}, f.Labels)
		require.Equal(t, want, f.Queries)
	}
}

// A file beside a table whose features are given: it may lack some, and may not have others.
func TestFeaturesGiven(t *testing.T) {
	for _, c := range []struct {
		text            string
		first, features int
		want            []float64 // the first row
		err             string
	}{
		{"1 2:1\n", 1, 5, []float64{0, 1, 0, 0, 0}, ""},
		{"1 2:5\n", 0, 3, []float64{0, 0, 5}, ""},
		{"1\n2\n", 1, 2, []float64{0, 0}, ""},
		{"1 2:1\n1 3:1 6:1\n", 1, 5, nil,
			"f:2: index 6: is larger than 5, the number of features (that of the training data)"},
		{"1 1:5\n1 3:5\n", 0, 3, nil,
			"f:2: index 3: is larger than 2, the last one of the 3 features of the training data, which count from 0"},
		{"1 1:5\n1 0:5\n", 1, 3, nil, "f:2: index 0: found, expected indices from 1 as in the training data"},
		{"1\n-1\n", 1, 0, nil, "f: has labels and no features, expected lines of the form"},
	} {
		f := must.Of(Read(source(t, c.text)))(t)
		x, err := f.Matrix(c.first, c.features)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, mat.Row(nil, 0, x))
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f: is empty, expected lines of the form label index:value index:value ..."},
		{"comments only", "# nothing\n\n", "f: is empty, expected lines"},
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
		{"index 0 and the largest", "1 0:2\n1 2147483647:3\n",
			"f:2: index 2147483647 is too large where indices count from 0"},
		{"huge index", "1 99999999999999999999999:2\n",
			`f:1: pair 1: index "99999999999999999999999" is larger than 2147483647`},
		{"twice", "1 1:2\n1 3:1 2:2 3:3\n", "f:2: index 3: appears twice, expected each index once in a line"},
		{"no value", "1 1: 2:3\n", "f:1: pair 1: value of index 1: is empty, expected a number"},
		{"text value", "1 2:red\n", `f:1: pair 1: value of index 2: "red" found, expected a number`},
		{"Inf value", "1 2:inf\n", `f:1: pair 1: value of index 2: "inf" found, expected a finite number`},
		{"too large", "1 2:1e400\n", `f:1: pair 1: value of index 2: "1e400" is beyond the range of a double`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(source(t, c.text))
			require.ErrorContains(t, err, c.want)
			var known *textfile.Error
			require.ErrorAs(t, err, &known)
		})
	}
}

func TestTooLarge(t *testing.T) {
	read := func(text string, memory int64, features int) error {
		s := source(t, text)
		s.SetMemory(memory)
		f, err := Read(s)
		if err == nil {
			_, err = f.Matrix(1, max(f.Last, features))
		}
		return err
	}
	const wide = "1 1:1\n1 2147483647:1\n"
	require.EqualError(t, read(wide, 32e9, 0), "f:2: index 2147483647: a sparse table of 2 rows, 2147483647 features "+
		"and 2 nonzeros takes about 1.1 TB of memory, "+
		"but the budget is 32 GB (GOMEMLIMIT gives more)")
	require.ErrorContains(t, read("1 1:1\n", 1e9, 20_000_000),
		"f: a sparse table of 1 rows, 20000000 features and 1 nonzeros takes about 10.2 GB")
	require.ErrorContains(t, read("1 1:1 2:1\n", 1100, 0), "f:1: index 2: a dense table of 1 rows and 2 features")
	require.NoError(t, read(wide[:7], 1e4, 0))
}

// FuzzRead: the lines that are taken in one pass have the rows that any line has, small blocks on several goroutines
// give the rows, or the error, that one block gives, and the matrix has the entries, also of what is written out and
// read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "1 1:2 3:4\n-1 2:1\n", "1 3:1 2:2 # c\r\n\n", "1 0:1", "1 1:1 1:2\n1 \n1\t2:3 \r\n",
		"nan 1:inf", "1 99999999999:1", "\x1f\x8b\x08\x00",
		"1 2147483647:1", "1 20000000:1\n1 1:1\n", "\f\v\u00a0\n\u00a01\v1:2\u00a0\ufeff2:3", "1e154 1:1e200", "1 1:-1e71",
		"1e5 1:-1e5 2:.5 3:5. 4:1e 5:1\n",
		"1 1:12345678901234567 02:0x1\n", "1 2147483648:1\n2", "\x00"} {
		f.Add([]byte(seed), 1)
		f.Add([]byte(seed), 9)
	}
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		for line := range bytes.Lines(text) {
			var one, other rows
			s := source(t, "")
			next := one.usual(append(bytes.TrimSuffix(line, []byte("\n")), '\n'), 0)
			if next == 0 {
				if len(one.index)+len(one.value)+len(one.labels)+len(one.end) > 0 {
					t.Fatalf("%q is refused and left something", line)
				}
				continue
			}
			if err := other.line(s, bytes.TrimSuffix(line, []byte("\n")), 1); err != nil || len(other.labels) != 1 ||
				next < len(line) {
				t.Fatalf("%q: %v", line, err)
			}
			same(t, one.labels, other.labels)
			same(t, one.value, other.value)
			if !slices.Equal(one.index, other.index) || !slices.Equal(one.end, other.end) {
				t.Fatalf("%q: other columns", line)
			}
		}
		read := func(workers, size int) (m *File) {
			readertest.Read(t, "f", text, func(s *textfile.Source) (err error) {
				s.SetBlocks(workers, size)
				m, err = Read(s)
				return err
			})
			return m
		}
		want, got := read(1, 0), read(3, 1+size&255)
		if want == nil && got == nil {
			return
		}
		same(t, got.Labels, want.Labels)
		wanted, entries := entriesOf(want), entriesOf(got)
		if !slices.Equal(wanted, entries) || got.First != want.First || got.Last != want.Last ||
			got.lastLine != want.lastLine {
			t.Fatal("the table is another one")
		}
		n, p := len(want.Labels), want.Last-want.First+1
		if n*p > 1<<20 {
			return // too large
		}
		x, err := want.Matrix(want.First, p)
		if err != nil {
			return
		}
		dense, out := mat.NewDense(n, p, nil), []byte(nil)
		for i, y := range want.Labels {
			out = strconv.AppendFloat(out, y, 'g', -1, 64)
			for _, e := range entries {
				if e.row == i {
					dense.Set(i, e.index-want.First, e.value)
					out = strconv.AppendInt(append(out, ' '), int64(e.index), 10)
					out = strconv.AppendFloat(append(out, ':'), e.value, 'g', -1, 64)
				}
			}
			out = append(out, '\n')
		}
		again, err := Read(source(t, string(out)))
		if err != nil || !mat.Equal(dense, x) || !slices.Equal(wanted, entriesOf(again)) {
			t.Fatalf("the matrix, or what is written and read, is another one: %v", err)
		}
	})
}

// one is an entry.
type one struct {
	row, index int
	value      float64
}

func entriesOf(f *File) (list []one) {
	f.each(func(i int, index []int32, value []float64) {
		for k, j := range index {
			list = append(list, one{i, int(j), value[k]})
		}
	})
	return list
}

func same(t *testing.T, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Fatalf("%v, expected %v", got, want)
	}
}

// benchmarkText has rows with nonzeros at so many of p features, numbers of a random count of significant digits from
// low to high.
func benchmarkText(size, nonzeros, p, low, high int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for i := 0; len(text) < size; i++ {
		text = strconv.AppendInt(text, int64(1-2*(i%2)), 10)
		for k := range nonzeros {
			j := k*p/nonzeros + r.IntN(p/nonzeros) // one of each stretch, so that they are in order
			text = strconv.AppendInt(append(text, ' '), int64(j)+1, 10)
			text = strconv.AppendFloat(append(text, ':'), r.NormFloat64(), 'g', low+r.IntN(high-low+1), 64)
		}
		text = append(text, '\n')
	}
	return text
}

// BenchmarkRead reads files of 32 MB into sparse rows. With -cpu 1 it is the rate of one core.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		rows                   string
		nonzeros, p, low, high int
	}{
		{"dense", 100, 100, 6, 6},
		{"dense", 100, 100, 6, 17},
		{"dense", 100, 100, 17, 17},
		{"sparse", 60, 100_000, 6, 6},
		{"sparse", 60, 100_000, 6, 17},
	} {
		b.Run(fmt.Sprintf("rows=%s/p=%d/digits=%d-%d", c.rows, c.p, c.low, c.high), func(b *testing.B) {
			text := benchmarkText(32<<20, c.nonzeros, c.p, c.low, c.high)
			readertest.Benchmark(b, "f", text, func(path string) error {
				f, err := textfile.ReadFile(path, Read)
				if err == nil {
					_, err = f.Matrix(1, c.p)
				}
				return err
			})
		})
	}
}

// plainRead has the labels and entries of good files, by strings.Fields and strconv.
func plainRead(t *testing.T, text string) (labels []float64, list []one) {
	t.Helper()
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		label := must.Of(strconv.ParseFloat(words[0], 64))(t)
		var row []one
		for _, word := range words[1:] {
			index, value, _ := strings.Cut(word, ":")
			j := must.Of(strconv.Atoi(index))(t)
			v := must.Of(strconv.ParseFloat(value, 64))(t)
			row = append(row, one{len(labels), j, v})
		}
		slices.SortFunc(row, func(a, b one) int { return cmp.Compare(a.index, b.index) })
		labels, list = append(labels, label), append(list, row...)
	}
	return labels, list
}

// randomText is a file of n lines with everything that a good one may have.
func randomText(r *rand.Rand, n, p int) string {
	number := func() string {
		v := r.NormFloat64() * math.Pow(10, float64(r.IntN(9)*r.IntN(9)*(2*r.IntN(2)-1)))
		switch r.IntN(8) {
		case 0:
			return strconv.Itoa(r.IntN(100) - 50)
		case 1:
			return []string{"0", "-0", "+1", "1.", ".5", "1e5", "1E-300", "1e-400", "123456789012345678901234567890"}[r.IntN(9)]
		}
		return strconv.FormatFloat(v, "efg"[r.IntN(3)], r.IntN(19)-1, 64)
	}
	blank := func() string {
		if r.IntN(50) > 0 {
			return " "
		}
		return []string{"\t", "  ", " \t", "\u00a0", "\v", "\r"}[r.IntN(6)]
	}
	end := []string{"\n", "\r\n"}[r.IntN(2)]
	var text strings.Builder
	for range n {
		if r.IntN(30) == 0 {
			text.WriteString([]string{"", "# comment 1:2", "\t", " \r"}[r.IntN(4)] + end)
		}
		if r.IntN(30) == 0 {
			text.WriteString(blank())
		}
		text.WriteString(number())
		chosen := r.Perm(p)[:r.IntN(p+1)]
		if r.IntN(20) > 0 {
			sort.Ints(chosen)
		}
		for _, j := range chosen {
			text.WriteString(blank() + strconv.Itoa(j+1) + ":" + number())
		}
		if r.IntN(20) == 0 {
			text.WriteString(blank() + "# 7:7")
		}
		if r.IntN(10) == 0 {
			text.WriteString(blank())
		}
		text.WriteString(end)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// The same rows as those of the plain reader, whatever the number of goroutines and the blocks, and a matrix of them,
// dense and sparse.
func TestBlocksAgainstPlainReader(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	texts := []string{string(benchmarkText(1<<20, 60, 100_000, 1, 17))} // with blocks of the usual size
	for range 20 {
		texts = append(texts, "1 1:1\n"+randomText(r, r.IntN(80), 1+r.IntN(40)))
	}
	kept := map[bool]int{}
	for k, text := range texts {
		labels, list := plainRead(t, text)
		for _, workers := range []int{1, 2, 7} {
			for _, size := range []int{0, 50, 1000} {
				if k == 0 && size > 0 {
					continue
				}
				s := source(t, text)
				s.SetBlocks(workers, size)
				got := must.Of(Read(s))(t)
				same(t, labels, got.Labels)
				require.True(t, slices.EqualFunc(list, entriesOf(got), func(a, b one) bool { // -0 is not 0
					return a.row == b.row && a.index == b.index && math.Float64bits(a.value) == math.Float64bits(b.value)
				}), "text %d, %d workers, blocks of %d", k, workers, size)
				if k == 0 {
					continue
				}
				for _, p := range []int{got.Last, 9 * got.Last} {
					want := mat.NewDense(len(labels), p, nil)
					for _, e := range list {
						want.Set(e.row, e.index-1, e.value)
					}
					x := must.Of(got.Matrix(1, p))(t)
					require.True(t, mat.Equal(want, x))
					_, dense := x.(*mat.Dense)
					kept[dense]++
				}
			}
		}
	}
	require.Len(t, kept, 2)
}

func source(t *testing.T, text string) *textfile.Source {
	t.Helper()
	return must.Of(textfile.NewSource("f", strings.NewReader(text)))(t)
}

// What is allocated on the way stays near the size of the table.
func TestMemory(t *testing.T) {
	text := benchmarkText(16<<20, 100, 100, 17, 17)
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	var f *File
	taken := readertest.Allocated(func() {
		f = must.Of(textfile.ReadFile(path, Read))(t)
	})
	table := 12*len(entriesOf(f)) + 16*len(f.Labels)
	require.Less(t, float64(taken), 1.4*float64(table)+4e6)
}

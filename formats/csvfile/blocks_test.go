package csvfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/textfile"
)

// plainRead is a reader of good tables whose first column is the target, by strings.Split and strconv. Fields have no commas.
func plainRead(t *testing.T, text string) (x *mat.Dense, y []float64) {
	t.Helper()
	var all []float64
	p := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		words := strings.Split(line, ",")
		if p == 0 {
			p = len(words) - 1
			continue
		}
		for j, word := range words {
			v, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(strings.TrimSpace(word), `"`)), 64)
			require.NoError(t, err)
			if j == 0 {
				y = append(y, v)
			} else {
				all = append(all, v)
			}
		}
	}
	return mat.NewDense(len(y), p, all), y
}

// randomText is a table of n rows and p features with all that a good one may have, and a share of numbers that are not zero.
func randomText(r *rand.Rand, n, p int, share func(i int) float64) string {
	end := []string{"\n", "\r\n"}[r.IntN(2)]
	var text strings.Builder
	text.WriteString("y")
	for j := range p {
		text.WriteString(",x" + strconv.Itoa(j+1))
	}
	text.WriteString(end)
	for i := range n {
		if r.IntN(20) == 0 {
			text.WriteString([]string{"", " ", "\t", "\u00a0"}[r.IntN(4)] + end)
		}
		for j := range p + 1 {
			number := "0"
			if r.Float64() < share(i) {
				number = strconv.FormatFloat(r.NormFloat64(), "efg"[r.IntN(3)], r.IntN(19)-1, 64)
			} else if r.IntN(20) == 0 {
				number = []string{"-0", "0.0", "+0", "1e-400", "7", "1e5", ".5", "-5."}[r.IntN(8)]
			}
			if r.IntN(200) == 0 {
				number = []string{" " + number, number + "\t", `"` + number + `"`, ` " ` + number + `" `, "\u00a0" + number}[r.IntN(5)]
			}
			if j > 0 {
				number = "," + number
			}
			text.WriteString(number)
		}
		text.WriteString(end)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// The same numbers as those of the plain reader, whatever the number of goroutines and the blocks, dense and compact.
func TestBlocksAgainstPlainReader(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	shares := []func(i int) float64{
		func(int) float64 { return 1 },
		func(int) float64 { return 0.02 },
		func(int) float64 { return 0.35 },
		func(i int) float64 { return []float64{0.01, 0.9}[min(i/20, 1)] }, // begins sparse and becomes dense
		func(i int) float64 { return []float64{0.9, 0.01}[min(i/5, 1)] },  // begins dense and becomes sparse
	}
	texts := []string{string(benchmarkText(1<<20, 100, 1, 1, 17)), string(benchmarkText(1<<20, 500, 0.03, 1, 17))} // with blocks of the usual size
	for range 6 {
		for _, share := range shares {
			texts = append(texts, randomText(r, 1+r.IntN(60), 1+r.IntN(40), share))
		}
	}
	sparse := 0
	for k, text := range texts {
		x, y := plainRead(t, text)
		for _, workers := range []int{1, 2, 7} {
			for _, size := range []int{0, 100, 1000} {
				if k < 2 && size > 0 {
					continue
				}
				for _, compact := range []bool{false, true} {
					s, err := textfile.NewSource("f", strings.NewReader(text))
					if size == 100 {
						s, err = textfile.NewSource("f", iotest.HalfReader(strings.NewReader(text)))
					}
					require.NoError(t, err)
					s.SetBlocks(workers, size)
					got, err := readSource(s, Options{}, compact)
					require.NoError(t, err)
					same(t, got.Y, y)
					checkRows(t, x, got)
					if got.Rows != nil {
						require.True(t, compact)
						sparse++
					}
				}
			}
		}
	}
	require.Greater(t, sparse, 100)
}

// A table that is mostly zeros is sparse, one that is not is dense, and so is one that is sparse in its first rows only.
func TestCompact(t *testing.T) {
	table := func(rows ...string) string { return "y,a,b,c,d,e,f,g,h\n" + strings.Join(rows, "\n") }
	zeros := "1,0,0,0,0,0,0,0,0"
	for _, c := range []struct {
		text string
		want *Rows // nil: dense
	}{
		{table(zeros, "2,0,5,0,0,0,0,0,-0", zeros), &Rows{RowStart: []int{0, 0, 2, 2}, Index: []int32{1, 7}, Value: []float64{5, 0}}},
		{table("1,1,1,1,1,1,0,0,0"), nil},
		{table(zeros, zeros, "1,1,2,3,4,5,6,7,8", "1,1,2,3,4,5,6,7,8"), nil},
		{table("1,1,2,3,4,5,6,7,8", zeros, zeros, zeros, zeros), &Rows{RowStart: []int{0, 8, 8, 8, 8, 8}, Index: []int32{0, 1, 2, 3, 4, 5, 6, 7}, Value: []float64{1, 2, 3, 4, 5, 6, 7, 8}}},
		{"y,a\n1,0\n", nil}, // the starts of the rows take as much
	} {
		for _, size := range []int{0, 1} {
			s, err := textfile.NewSource("f", strings.NewReader(c.text))
			require.NoError(t, err)
			s.SetBlocks(2, size)
			got, err := ReadCompactSource(s, Options{})
			require.NoError(t, err)
			require.Equal(t, c.want == nil, got.X != nil, c.text)
			require.Equal(t, c.want, got.Rows)
		}
	}
}

// Of several errors the first one is returned, with its line, though its block is not the one that is parsed first.
func TestErrorInABlock(t *testing.T) {
	text := benchmarkText(1<<20, 4, 1, 6, 6)
	lines := bytes.SplitAfter(text, []byte("\n"))
	const blockSize = 128 << 10
	line := bytes.Count(text[:5*blockSize/2], []byte("\n")) // in the middle of the third block
	for _, c := range []struct{ bad, want string }{
		{"1,2,3,4,red\n", fmt.Sprintf(`f:%d: column 5 ("x4"): "red" found, expected a number`, line+1)},
		{"1,2,3,,5\n", fmt.Sprintf(`f:%d: column 4 ("x3"): is empty, expected a number`, line+1)},
		{"1,2,3,4\n", fmt.Sprintf("f:%d: has 4 fields, expected 5, one for each column name", line+1)},
		{"1,2,3,4,5,6\n", fmt.Sprintf("f:%d: has 6 fields, expected 5, one for each column name", line+1)},
		{"1,2,3,4,\"5\n", fmt.Sprintf(`f:%d: column 5 ("x4"): the quote is not closed on its line`, line+1)},
		{"1,2,3,4,1e71\n", fmt.Sprintf(`f:%d: column 5 ("x4"): "1e71" found, expected numbers up to 1e+70`, line+1)},
		{"1,2,3,4,5\x00\n", fmt.Sprintf("f:%d: has a byte that is zero, expected text", line+1)},
	} {
		wrong := append([][]byte(nil), lines...)
		wrong[line] = []byte(c.bad)
		wrong[line+1] = []byte("nan\n")
		wrong[len(lines)-2] = []byte("spam\n")
		for _, workers := range []int{1, 2, 7} {
			for _, size := range []int{0, 3000} {
				s, err := textfile.NewSource("f", bytes.NewReader(bytes.Join(wrong, nil)))
				require.NoError(t, err)
				s.SetBlocks(workers, size)
				_, err = ReadSource(s, Options{Largest: textfile.LargestEntry})
				require.ErrorContains(t, err, c.want)
			}
		}
	}
}

// A table of mostly zeros is not made dense on the way.
func TestCompactMemory(t *testing.T) {
	text := benchmarkText(8<<20, 2000, 0.01, 6, 6)
	path := filepath.Join(t.TempDir(), "f.csv")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := ReadCompact(path, Options{})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.NotNil(t, got.Rows)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(12<<20)) // the dense table has 31 MB
	require.Greater(t, 8*2000*len(got.Y), 28<<20)
}

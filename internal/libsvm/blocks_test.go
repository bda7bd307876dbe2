package libsvm

import (
	"cmp"
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

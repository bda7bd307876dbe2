package formats_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
)

// A table has the numbers of the matrix from which it was written, and is sparse where less than a quarter of them are not zero.
func TestSparseTables(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, share := range []float64{0, 0.02, 0.2, 0.28, 0.6, 1} {
		const n, p = 40, 30
		want, stored := mat.NewDense(n, p, nil), 0
		var csv, svm strings.Builder
		csv.WriteString("y")
		for j := range p {
			fmt.Fprintf(&csv, ",x%d", j+1)
		}
		for i := range n {
			fmt.Fprintf(&csv, "\n%d", i)
			fmt.Fprintf(&svm, "%d", i)
			for j := range p {
				if r.Float64() < share || i == n-1 && j == p-1 {
					want.Set(i, j, r.NormFloat64())
					stored++
					fmt.Fprintf(&svm, " %d:%v", j+1, want.At(i, j))
				}
				fmt.Fprintf(&csv, ",%v", want.At(i, j))
			}
			svm.WriteString("\n")
		}
		for name, text := range map[string]string{"t.csv": csv.String(), "t.csv.gz": csv.String(), "t.svm": svm.String(), "t.svm.gz": svm.String()} {
			table, err := formats.ReadTable(write(t, name, text), formats.Options{})
			require.NoError(t, err)
			require.True(t, mat.Equal(want, table.X), name)
			require.Len(t, table.Features, p)
			x, compressed := table.X.(*sparse.CSR)
			require.Equal(t, 4*stored < n*p, compressed, "%s, %g", name, share)
			if compressed {
				require.Equal(t, stored, x.NNZ())
			}
		}
	}
}

// A table that is too large when it is dense can be read, as long as its columns can be kept.
func TestSparseMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(200e6))
	table, err := formats.ReadTable(write(t, "t", strings.Repeat("1 100000:1 200000:1\n", 300)), formats.Options{})
	require.NoError(t, err)
	require.Equal(t, 600, table.X.(*sparse.CSR).NNZ())
	require.Len(t, table.Features, 200000)
	_, err = formats.ReadTable(write(t, "t", "1 1:1\n1 2147483647:1\n"), formats.Options{})
	require.ErrorContains(t, err, ":2: index 2147483647: a sparse table of 2 rows, 2147483647 features and 2 nonzeros takes about 1.1 TB of memory")
}

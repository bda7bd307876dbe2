package formats_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats"
)

// The compact table has the numbers of the dense one, which were written from a matrix, and is sparse where that is smaller.
func TestReadCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, share := range []float64{0, 0.02, 0.2, 0.6, 1} {
		const n, p = 40, 30
		want := mat.NewDense(n, p, nil)
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
					fmt.Fprintf(&svm, " %d:%v", j+1, want.At(i, j))
				}
				fmt.Fprintf(&csv, ",%v", want.At(i, j))
			}
			svm.WriteString("\n")
		}
		for name, text := range map[string]string{"t.csv": csv.String(), "t.csv.gz": csv.String(), "t.svm": svm.String(), "t.svm.gz": svm.String()} {
			path := write(t, name, text)
			table, err := formats.ReadTable(path, formats.Options{})
			require.NoError(t, err)
			require.True(t, mat.Equal(want, table.X), name)
			got, err := formats.ReadCompact(path, formats.Options{})
			require.NoError(t, err)
			require.Equal(t, share < 0.3, got.Rows != nil, "%s, %g", name, share)
			require.Equal(t, table.Features, got.Features)
			require.Equal(t, table.Target, got.Target)
			require.Equal(t, table.Y, got.Y)
			if got.Rows == nil {
				require.True(t, mat.Equal(want, got.X))
				continue
			}
			require.Nil(t, got.X)
			require.Len(t, got.Rows.RowStart, n+1)
			x := mat.NewDense(n, p, nil)
			for i := range n {
				for k := got.Rows.RowStart[i]; k < got.Rows.RowStart[i+1]; k++ {
					x.Set(i, int(got.Rows.Index[k]), got.Rows.Value[k])
				}
			}
			require.True(t, mat.Equal(want, x), name)
		}
	}
}

// The errors are those of ReadTable; but a table that is too large when it is dense can be read, as long as its columns can be kept.
func TestReadCompactErrors(t *testing.T) {
	for name, text := range map[string]string{"t.svm": "1 1:1\n1 1:1e71\n", "t.csv": "y,a\n1,2\n1,red\n", "t.txt": "hello world\n", "u.csv": "y\n1\n", "u.svm": "", "v.svm": "1 1:1 1:2\n"} {
		path := write(t, name, text)
		_, want := formats.ReadTable(path, formats.Options{})
		require.Error(t, want)
		_, err := formats.ReadCompact(path, formats.Options{})
		require.Equal(t, want, err)
	}
	path := write(t, "t.svm", "1 1:1\n")
	_, err := formats.ReadCompact(path, formats.Options{Target: "a"})
	require.ErrorContains(t, err, "whose columns have no names")

	defer debug.SetMemoryLimit(debug.SetMemoryLimit(200e6))
	rows := strings.Repeat("1 100000:1 200000:1\n", 300)
	_, err = formats.ReadTable(write(t, "t", rows), formats.Options{})
	require.ErrorContains(t, err, ":1: index 200000: a dense table of 300 rows and 200000 features takes about 2.02 GB of memory")
	got, err := formats.ReadCompact(write(t, "t", rows), formats.Options{})
	require.NoError(t, err)
	require.Len(t, got.Rows.Index, 600)
	require.Len(t, got.Features, 200000)
	_, err = formats.ReadCompact(write(t, "t", "1 1:1\n1 2147483647:1\n"), formats.Options{})
	require.ErrorContains(t, err, ":2: index 2147483647: a table of 2 entries and 2147483647 features takes about 1.1 TB of memory")
}

package ldl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// structure is a pattern for Analyze, the diagonal at the end of each column.
type structure struct {
	n        int
	ptr, ind []int32
	sign     []int8
}

// structured compresses the columns of an upper triangle, given without the
// diagonal.
func structured(cols [][]int32, positive int) structure {
	s := structure{n: len(cols), ptr: []int32{0}}
	for j, c := range cols {
		s.ind = append(append(s.ind, c...), int32(j))
		s.ptr = append(s.ptr, int32(len(s.ind)))
		sign := int8(1)
		if j >= positive {
			sign = -1
		}
		s.sign = append(s.sign, sign)
	}
	return s
}

// lassoKKT is the pattern of [P A'; A -D] with unknowns x and u, dense data
// rows on x, and two rows for each pair -u <= x <= u.
func lassoKKT(rows, cols int) structure {
	k := make([][]int32, 2*cols)
	var x []int32
	for j := range int32(cols) {
		x = append(x, j)
	}
	for range rows {
		k = append(k, x)
	}
	for range 2 {
		for j := range int32(cols) {
			k = append(k, []int32{j, j + int32(cols)})
		}
	}
	return structured(k, 2*cols)
}

// gridGraph is the five-point stencil.
func gridGraph(rows, cols int) structure {
	k := make([][]int32, rows*cols)
	for i := range rows {
		for j := range cols {
			v := i*cols + j
			if i > 0 {
				k[v] = append(k[v], int32(v-cols))
			}
			if j > 0 {
				k[v] = append(k[v], int32(v-1))
			}
		}
	}
	return structured(k, rows*cols)
}

func BenchmarkAnalyze(b *testing.B) {
	run := func(name string, s structure) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var f *Factor
			var err error
			for b.Loop() {
				f, err = Analyze(s.n, s.ptr, s.ind, s.sign)
			}
			require.NoError(b, err)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.ind)), "ns/entry")
			b.ReportMetric(f.Flops(), "flops")
			b.ReportMetric(float64(f.Nonzeros()), "nonzeros")
		})
	}
	for _, s := range [][2]int{{200, 300}, {120, 80}, {1000, 80}, {100, 250}, {100, 2500}, {300, 60}} {
		run(fmt.Sprintf("lasso/%dx%d", s[0], s[1]), lassoKKT(s[0], s[1]))
	}
	for _, side := range []int{30, 100} {
		run(fmt.Sprintf("grid/%dx%d", side, side), gridGraph(side, side))
	}
}

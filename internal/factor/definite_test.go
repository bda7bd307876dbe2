package factor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestDefinite(t *testing.T) {
	var f Definite
	for _, k := range []int{1, 7, 40, 23, 150} { // the room is used again
		a := mat.NewSymDense(k, nil)
		want, right := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
		for i := range k {
			want.SetVec(i, math.Sin(float64(i+1)))
			for j := range i + 1 {
				a.SetSym(i, j, math.Exp(-math.Abs(float64(i-j))/3))
			}
		}
		fill := func(j int, column []float64) {
			for i := j; i < k; i++ {
				column[i] = a.At(i, j)
			}
		}
		require.True(t, f.Factor(k, fill))
		right.MulVec(a, want)
		f.Solve(right.RawVector().Data)
		require.InDeltaSlice(t, want.RawVector().Data, right.RawVector().Data, 1e-12)
		a.SetSym(k-1, k-1, 0)
		require.False(t, f.Factor(k, fill))
	}
}

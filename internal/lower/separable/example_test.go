package separable_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/separable"
)

// l(b) = 1/6 |b - (3, 4, 1)|^2, with a group of the first two coefficients of norm 5.
func ExampleLower() {
	rows := separable.Rows{X: design.New(mat.NewDiagDense(3, []float64{1, 1, 1})), Y: []float64{3, 4, 1}}
	data := separable.New(rows, rows, [][]int{{0, 1}, {2}}, false, false)
	s, err := separable.NewLower(data).Solve(context.Background(), []float64{2, 2}, 1e-12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("b %.3f, lambda %.3f, loss %.3f\n", s.X[0], s.Lambda, s.Loss)
	// Output: b [1.200 1.600 1.000], lambda [1.000 0.000], loss 1.500
}

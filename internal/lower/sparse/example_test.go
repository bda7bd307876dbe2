package sparse_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
)

// A lasso over three features of which the second is of no use.
func ExampleFit_Solve() {
	x := mat.NewDense(4, 3, []float64{
		1, 1, 1,
		1, -1, -1,
		-1, 1, -1,
		-1, -1, 1,
	})
	g, err := sparse.New(nil, sparse.Sample{X: design.New(x), Y: []float64{6, 1, 0, 5}}, true, sparse.Terms{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := &glm.Weights{Norm: []float64{0.25, 0.25, 0.25}}
	s, err := g.Solve(context.Background(), w, 1e-8, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: b0 = %.2f, b = %.2f\n", s.Status, s.B0[0], s.B)
	// Output: converged: b0 = 3.00, b = [0.25 0.00 2.25]
}

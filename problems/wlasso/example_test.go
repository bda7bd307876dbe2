package wlasso_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// Training rows want the coefficients (3, 2), validation rows (1, 2): only the
// first one has to be penalised.
func Example() {
	model, err := wlasso.New(orthogonal([]float64{3, 2}, []float64{1, 2}), wlasso.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{Tol: 1e-4, GapTol: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("weights %.1f and %.1f, coefficients %.1f\n", res.Hyperparameters["x0"], res.Hyperparameters["x1"], res.RefitFit.Coefficients)
	// Output: weights 2.0 and 0.0, coefficients [1.0 2.0]
}

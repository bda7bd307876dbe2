package regression_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// Select both hyperparameters of an elastic net on a table that is split into
// training, validation and test rows.
func Example() {
	split, err := input.ReadDir("testdata/elasticnet/small")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := regression.ElasticNet(split, regression.Options{Intercept: true, Standardize: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status)
	fmt.Println("iterate and refit agree:", res.LowerGap <= 1e-4)
	fmt.Println("coefficients:", len(res.RefitFit.Coefficients))
	// Output:
	// converged
	// iterate and refit agree: true
	// coefficients: 20
}

package tune_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/tune"
)

// The settings of the paper, with a look at every iteration.
func ExampleVFiDCA() {
	split, err := dataset.ReadDir("../problems/elasticnet/testdata/small")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := elasticnet.New(split, elasticnet.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{
		Preset: tune.PresetPaper,
		Progress: func(e tune.Event) {
			fmt.Printf("iteration %d: alpha %g, validation %.2f, refit %.2f\n", e.K, e.Alpha, e.Errors.Validation, e.Refit.Validation)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s after %d iterations, lambda2 = %.2f\n", res.Status, res.Iterations, res.Hyperparameters["lambda2"])
	// Output:
	// iteration 1: alpha 1, validation 0.41, refit 3.12
	// iteration 2: alpha 6, validation 1.50, refit 3.11
	// iteration 3: alpha 11, validation 1.96, refit 3.10
	// converged after 3 iterations, lambda2 = 0.19
}

package tune_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// The settings of the paper, with a look at every iteration.
func ExampleVFiDCA() {
	split, err := input.ReadDir("../problems/regression/testdata/elasticnet/small")
	check(err)
	model, err := regression.ElasticNet(split, regression.Options{})
	check(err)
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{
		Preset: tune.PresetPaper,
		Progress: func(e tune.Event) {
			fmt.Printf("iteration %d: alpha %g, validation %.2f, refit %.2f\n", e.K, e.Alpha, e.Errors.Validation,
				e.Refit.Validation)
		},
	})
	check(err)
	fmt.Printf("%s after %d iterations, lambda2 = %.2f\n", res.Status, res.Iterations, res.Hyperparameters["lambda2"])
	// Output:
	// iteration 1: alpha 1, validation 0.41, refit 3.12
	// iteration 2: alpha 6, validation 1.50, refit 3.11
	// iteration 3: alpha 11, validation 1.96, refit 3.10
	// converged after 3 iterations, lambda2 = 0.19
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Two methods on the same model, the second one from the choice of the first.
func ExampleCompare() {
	split, err := input.ReadDir("../problems/regression/testdata/elasticnet/small")
	check(err)
	model, err := regression.ElasticNet(split, regression.Options{})
	check(err)
	results, err := tune.Compare(context.Background(), model, []string{tune.MethodGrid, tune.MethodVFiDCA}, true,
		tune.Config{
			Evaluations: 25,
			Ranges:      []tune.Range{{Axis: "lambda1", Low: 1e-3, High: 1}, {Axis: "lambda2", Low: 1e-4, High: 1}},
		})
	check(err)
	for _, r := range results {
		fmt.Printf("%s: %s, validation error %.2f\n", r.Method, r.Status, r.Refit.Validation)
	}
	// Output:
	// grid: converged, validation error 2.88
	// vf-idca: converged, validation error 2.86
}

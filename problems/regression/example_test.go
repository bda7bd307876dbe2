package regression_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// Select both hyperparameters of an elastic net on a table that is split into
// training, validation and test rows.
func Example() {
	split, err := input.ReadDir("testdata/elasticnet/small")
	check(err)
	model, err := regression.ElasticNet(split, regression.Options{Intercept: true, Standardize: true})
	check(err)
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	check(err)
	fmt.Println(res.Status)
	fmt.Println("iterate and refit agree:", res.LowerGap <= 1e-4)
	fmt.Println("coefficients:", len(res.RefitFit.Coefficients))
	// Output:
	// converged
	// iterate and refit agree: true
	// coefficients: 20
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The first feature is not penalised, and no coefficient is above 0.5.
func Example_terms() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Nonzeros: 4}, 1)
	check(err)
	factors := make([]float64, 20)
	for j := range factors[1:] {
		factors[1+j] = 1
	}
	terms := regression.Terms{Factors: factors, Upper: []float64{0.5}}
	model, err := regression.ElasticNet(split, regression.Options{Terms: terms})
	check(err)
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	check(err)
	b := res.RefitFit.Coefficients
	fmt.Printf("%s: first %.2f, second %.2f\n", res.Status, b[0], b[1])
	// Output: converged: first 0.24, second 0.00
}

// Select a weight for each group of features and one for the l1 norm.
func Example_groups() {
	split, err := input.ReadDir("testdata/sgl/small")
	check(err)
	_, p := split.Train.Dims()
	six, err := groups.Equal(p, 6)
	check(err)
	model, err := regression.SparseGroupLasso(split, regression.Options{Groups: six})
	check(err)
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{Preset: tune.PresetPaper})
	check(err)
	fmt.Println(res.Status, "after", res.Iterations, "iterations")
	fmt.Printf("validation error of the iterate %.2f, of the refit %.2f\n", res.Errors.Validation, res.Refit.Validation)
	fmt.Printf("lambda of the l1 norm %.2f\n", res.Hyperparameters["l1"])
	// Output:
	// converged after 9 iterations
	// validation error of the iterate 1.56, of the refit 2.37
	// lambda of the l1 norm 0.35
}

package regression_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// Select a weight for each group of features and one for the l1 norm.
func Example_groups() {
	split, err := input.ReadDir("testdata/sgl/small")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, p := split.Train.Dims()
	six, err := groups.Equal(p, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := regression.SparseGroupLasso(split, regression.Options{Groups: six})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{Preset: tune.PresetPaper})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status, "after", res.Iterations, "iterations")
	fmt.Printf("validation error of the iterate %.2f, of the refit %.2f\n", res.Errors.Validation, res.Refit.Validation)
	fmt.Printf("lambda of the l1 norm %.2f\n", res.Hyperparameters["l1"])
	// Output:
	// converged after 9 iterations
	// validation error of the iterate 1.56, of the refit 2.37
	// lambda of the l1 norm 0.35
}

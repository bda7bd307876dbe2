package matcomp_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/tune"
)

// Select a weight for the nuclear norm and one for each group of row and column features.
func Example() {
	data, err := matcomp.ReadDir("testdata/small", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := matcomp.New(data, matcomp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{Preset: tune.PresetPaper})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, cols := res.RefitFit.Matrix.Dims()
	fmt.Println(res.Status, "after", res.Iterations, "iterations; a matrix of", rows, "x", cols)
	fmt.Printf("radius of the nuclear norm %.1f, test error of the iterate %.2f\n", res.Radii[0], *res.Errors.Test)
	// Output:
	// converged after 8 iterations; a matrix of 12 x 10
	// radius of the nuclear norm 14.5, test error of the iterate 0.20
}

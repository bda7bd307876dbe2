package bounded_test

import (
	"context"
	"fmt"
	"slices"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/bounded"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// No coefficient is negative, nor above 0.8.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Nonzeros: 4}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := bounded.New(split, bounded.Options{Terms: regression.Terms{Lower: []float64{0}, Upper: []float64{0.8}}})
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
	least, most := slices.Min(res.RefitFit.Coefficients), slices.Max(res.RefitFit.Coefficients)
	fmt.Println(least > -1e-6, most < 0.8+1e-6)
	// Output:
	// converged
	// true true
}

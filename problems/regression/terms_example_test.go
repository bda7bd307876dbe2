package regression_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// The first feature is not penalised, and no coefficient is above 0.5.
func Example_terms() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Nonzeros: 4}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	factors := make([]float64, 20)
	for j := range factors[1:] {
		factors[1+j] = 1
	}
	model, err := regression.ElasticNet(split, regression.Options{Terms: regression.Terms{Factors: factors, Upper: []float64{0.5}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := res.RefitFit.Coefficients
	fmt.Printf("%s: first %.2f, second %.2f\n", res.Status, b[0], b[1])
	// Output: converged: first 0.24, second 0.00
}

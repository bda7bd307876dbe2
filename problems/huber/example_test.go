package huber_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/huber"
	"github.com/conetune/conetune/tune"
)

// Ten targets that are far off hardly change the fit.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Nonzeros: 4}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10 {
		split.Train.Y[i] += 100
	}
	model, err := huber.New(split, 0, huber.Options{Intercept: true, Standardize: true})
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
	fmt.Println("outliers count:", *res.Refit.Test > 20)
	// Output:
	// converged
	// outliers count: false
}

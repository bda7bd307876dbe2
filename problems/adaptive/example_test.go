package adaptive_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/adaptive"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/tune"
)

// Five of sixty features count.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 100, Val: 100, Test: 200, Features: 60, Nonzeros: 5}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := adaptive.New(split, adaptive.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	used := 0
	for _, b := range res.RefitFit.Coefficients {
		if b != 0 {
			used++
		}
	}
	fmt.Println(res.Status, used)
	// Output: converged 10
}

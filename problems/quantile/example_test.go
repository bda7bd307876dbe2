package quantile_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/quantile"
	"github.com/conetune/conetune/tune"
)

// The ninth decile of the target, given the features.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Nonzeros: 4}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := quantile.New(split, 0.9, quantile.Options{Intercept: true, Standardize: true})
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
	below := 0
	for i, y := range split.Test.Y {
		if y < res.RefitFit.Value(split.Test.Dense().RawRowView(i)) {
			below++
		}
	}
	fmt.Printf("%d %% of new targets are below their prediction\n", (100*below+len(split.Test.Y)/2)/len(split.Test.Y))
	// Output:
	// converged
	// 85 % of new targets are below their prediction
}

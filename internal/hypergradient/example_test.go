package hypergradient_test

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/internal/hypergradient"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
)

// The two weights of an elastic net, chosen on validation rows.
func ExampleIGJO() {
	split, _, err := dataset.Generate(dataset.Config{Train: 100, Val: 100, Features: 60}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	train, val := fits.NewRows(split.Train.X, split.Train.Y), fits.NewRows(split.Val.X, split.Val.Y)
	model, err := fits.ElasticNet(train, val, false, sparse.Terms{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var first float64
	r, err := hypergradient.IGJO(context.Background(), model, hypergradient.Settings{
		Start: []float64{0.01},
		Observe: func(k int, at *lower.Point) {
			if k == 1 {
				first = at.Validation
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: validation loss %.2f at the start, %.2f at the end\n", r.Status, first, r.Best.Validation)
	// Output: converged: validation loss 6.66 at the start, 4.29 at the end
}

package grouplasso_test

import (
	"context"
	"fmt"
	"math"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/grouplasso"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/tune"
)

// Four groups of five features each.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Coefficients: []float64{1, 2, 3, 4, 5, 19: 0}}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	four, err := groups.Equal(20, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := grouplasso.New(split, four, grouplasso.Options{})
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
	for _, members := range four.Members {
		norm := 0.0
		for _, j := range members {
			norm = math.Hypot(norm, res.RefitFit.Coefficients[j])
		}
		fmt.Println(norm > 1)
	}
	// Output:
	// converged
	// true
	// false
	// false
	// false
}

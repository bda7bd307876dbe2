package logistic_test

import (
	"context"
	"fmt"
	"math"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/tune"
)

// A classifier of the signs of a target.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 60, Val: 40, Test: 200, Features: 20, Nonzeros: 4}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range []*dataset.Data{split.Train, split.Val, split.Test} {
		for i, y := range d.Y {
			d.Y[i] = math.Copysign(1, y)
		}
	}
	model, err := logistic.New(split, logistic.Options{Intercept: true, Standardize: true})
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
	right := 0
	for i, y := range split.Test.Y {
		if f := res.RefitFit; f.Label(f.Value(split.Test.Dense().RawRowView(i))) == y {
			right++
		}
	}
	fmt.Println("more than four fifths right:", right > 160)
	// Output:
	// converged
	// more than four fifths right: true
}

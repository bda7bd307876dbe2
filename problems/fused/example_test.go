package fused_test

import (
	"context"
	"fmt"
	"math"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/fused"
	"github.com/conetune/conetune/tune"
)

// Coefficients in three pieces along the order of the features.
func Example() {
	split, _, err := dataset.Generate(dataset.Config{Train: 40, Val: 40, Test: 200, Features: 30, Independent: true, Coefficients: pieces()}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := fused.New(split, 0, fused.Options{})
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
	b := res.RefitFit.Coefficients
	fmt.Println(math.Abs(b[5]) < 0.3, b[15] > 1, b[25] < -0.3)
	// Output:
	// converged
	// true true true
}

// pieces are ten coefficients 0, ten 2 and ten -1.
func pieces() []float64 {
	b := make([]float64, 30)
	for j := range 10 {
		b[10+j], b[20+j] = 2, -1
	}
	return b
}

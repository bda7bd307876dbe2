package svm_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// Eight rows that the first feature tells apart; the second one is noise.
func ExampleNew() {
	table := &dataset.Data{
		X: mat.NewDense(8, 2, []float64{
			-2, 0.1, -1.5, -0.3, -1, 0.2, -1.2, 0.4,
			2, 0.3, 1.5, -0.1, 1, 0.1, 1.2, -0.2,
		}),
		Y:        []float64{0, 0, 0, 0, 1, 1, 1, 1},
		Features: []string{"signal", "noise"}, Target: "kind",
	}
	classes, err := dataset.ClassNumbers(table, 2)
	check(err)
	cv, err := dataset.CrossValidate(table, 2, 1, classes)
	check(err)
	model, err := svm.New(cv, svm.Options{})
	check(err)
	res, err := tune.Run(context.Background(), model, tune.Config{})
	check(err)
	fit := res.RefitFit
	fmt.Printf("%s, cross-validated hinge loss %.2f\n", res.Status, res.Refit.Validation)
	fmt.Println(fit.Label(fit.Value([]float64{-1.8, 0.2})), fit.Label(fit.Value([]float64{0.9, 0.2})))
	// Output:
	// converged, cross-validated hinge loss 0.05
	// 0 1
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

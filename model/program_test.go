package model_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func Example_program() {
	source := input.Source{Data: "../examples/diabetes.csv", Folds: 5, Split: "0.75/rest", Seed: 1}
	spec, err := model.Find("elastic-net")
	check(err)
	spec.Prepare(&source)
	rows, err := source.Read()
	check(err)
	options := model.Options{Standardize: true, Intercept: true}
	built, err := spec.Build(rows, options)
	check(err)
	result, err := tune.Run(context.Background(), built, tune.Config{})
	check(err)
	for _, m := range evaluate.NewJudge(rows, built, options.Intercept).Of(result).Metrics {
		fmt.Printf("%s %.3g, without features %.3g\n", m.Name, m.Value, m.Base)
	}

	var file bytes.Buffer // or a file of conetune tune --save, for model.Read
	check(model.New(&source, rows, built, options, result).Write(&file))
	saved, err := model.ReadFrom(&file, "model.json")
	check(err)
	fresh, err := table.Read("../examples/diabetes.csv", table.Options{})
	check(err)
	read, err := saved.Encoding.Read(fresh, []string{saved.Target}, true)
	check(err)
	data, score := read.Encode(read.Rows(), false), saved.NewScore()
	for i, y := range data.Y {
		value, err := saved.Predict(data.Dense().RawRowView(i))
		check(err)
		score.Add(value, y)
	}
	fmt.Printf("error %.4g on %d rows\n", score.Error(), score.Rows)
	// Output:
	// r2 0.531, without features -0.0153
	// rmse 57.4, without features 84.5
	// mae 48, without features 71.9
	// error 1470 on 442 rows
}

// A model is written, read by a program that knows its name, and predicts a row.
func Example() {
	m := model.Model{
		Model: "lasso", Target: "rent", Features: []string{"area", "rooms"}, Coefficients: []float64{8.5, -20},
		Intercept:       300,
		Hyperparameters: map[string]float64{"lambda": 0.1}, Radii: []float64{28.5},
		ValidationError: new(float64),
		Provenance:      model.Provenance{Method: "grid", Backend: "native", Status: "converged"},
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		log.Fatal(err)
	}
	read, err := model.ReadFrom(&file, "model.json")
	if err != nil {
		log.Fatal(err)
	}
	rent, err := read.Predict([]float64{60, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rent)
	// Output: 770
}

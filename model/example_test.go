package model_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/conetune/conetune/model"
)

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

package evaluate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// Four predictions of a mean beside what came true, and beside the mean of the training rows.
func Example() {
	s := evaluate.Sample{
		Y:     []float64{1, 2, 3, 6},
		Value: []float64{1, 2, 4, 5},
		Base:  []float64{3, 3, 3, 3},
	}
	for _, m := range s.Regression() {
		fmt.Printf("%s %.4f, without features %.4f\n", m.Name, m.Value, m.Base)
	}
	// Output:
	// r2 0.8571, without features 0.0000
	// rmse 0.7071, without features 1.8708
	// mae 0.5000, without features 1.5000
}

// A lasso of y = 3 a + noise on samples of 80 rows: a is in each of them, and the bounds of its coefficient hold 3.
func ExampleChoice_Bootstrap() {
	rng := rand.New(rand.NewPCG(1, 1))
	table := "a,b,y\n"
	for range 80 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		table += fmt.Sprintln(a, ",", b, ",", 3*a+rng.NormFloat64())
	}
	source := input.Source{Data: input.Stream, Stdin: strings.NewReader(table), Seed: 1}
	rows, err := source.Read()
	if err != nil {
		fmt.Println(err)
		return
	}
	lasso, _ := model.Find("lasso")
	choice := evaluate.Choice{
		Build: func(rows *input.Rows) (problems.Model, error) {
			return lasso.Build(rows, model.Options{Standardize: true, Intercept: true})
		},
		Intercept: true, Methods: []string{tune.MethodVFiDCA}, Config: tune.Config{Backend: "native"},
	}
	b, err := choice.Bootstrap(context.Background(), rows.Outer, 40, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	low, _, high := b.Interval(0.95, func(f *evaluate.BootstrapFit) float64 { return f.Fit.Coefficients[0] })
	fmt.Printf("in %.0f %% of the samples, from %.2f to %.2f\n", 100*b.Selected()[0], low, high)
	// Output:
	// in 100 % of the samples, from 2.34 to 3.06
}

// Intervals of a model whose two fits were off by 1 to 4 and by 2 to 5: the interval of half of all rows goes to the fifth
// of eight residuals.
func ExampleConformal_At() {
	c := evaluate.Conformal{Around: evaluate.AroundFolds, Parts: []evaluate.ConformalPart{
		{Rows: 4, Residuals: []float64{1, 2, 3, 4}}, {Rows: 4, Residuals: []float64{2, 3, 4, 5}},
	}}
	bounds, err := c.At(0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bounds.Of([]float64{10, 11}))
	// Output:
	// 7 14
}

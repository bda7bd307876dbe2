package evaluate_test

import (
	"fmt"

	"github.com/conetune/conetune/evaluate"
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

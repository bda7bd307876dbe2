package tpe_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/conetune/conetune/tune/internal/tpe"
)

// Look for the smallest value of a function on the unit square.
func Example() {
	f := func(x []float64) float64 { return math.Pow(x[0]-0.2, 2) + math.Pow(x[1]-0.9, 2) }
	s := tpe.New(2, rand.New(rand.NewPCG(1, 1)), tpe.Optuna())
	best := math.Inf(1)
	for range 100 {
		x := s.Ask()
		value := f(x)
		s.Tell(x, value)
		best = math.Min(best, value)
	}
	fmt.Println("within 0.05 of the minimum:", math.Sqrt(best) < 0.05)
	// Output:
	// within 0.05 of the minimum: true
}

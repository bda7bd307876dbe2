package machine_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/machine"
)

// Four rows that the first feature tells apart, and a box that the second one does not come out of.
func ExampleProblem_Solve() {
	x := mat.NewDense(4, 2, []float64{-2, 0.5, -1, -0.5, 1, 0.5, 3, -0.5})
	g, err := machine.New(design.New(x), []float64{-1, -1, 1, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := g.Solve(context.Background(), 0.1, []float64{2, 0.1}, machine.Options{Tol: 1e-10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: w = %.3f, objective %.4f\n", m.Status, m.W, m.Objective)
	// Output:
	// converged: w = [0.950 0.100], objective 0.0456
}

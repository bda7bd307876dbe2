package dca_test

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
)

// A ridge regression in one coefficient: training data want x = 3, validation data
// want x = 1, and the lower level minimises 1/2 (x - 3)^2 with 1/2 x^2 bounded by a radius r.
func ExampleSolve() {
	backend, err := backends.Open("native")
	if err != nil {
		fmt.Println(err)
		return
	}
	program := dca.Program{
		Name: "ridge", H0: []float64{2}, Radii: 1,
		Build: func(m *convex.Model, h convex.Expr) dca.Level {
			x := m.Vector("x", 1)
			return dca.Level{
				X:           []*convex.Variable{x},
				Train:       convex.Scale(0.5, convex.SumSquares(convex.Sub(x, 3))),
				Validation:  convex.Scale(0.5, convex.SumSquares(convex.Sub(x, 1))),
				Constraints: []convex.Expr{convex.Sub(convex.Scale(0.5, convex.SumSquares(x)), h)},
			}
		},
	}
	res, err := dca.Solve(context.Background(), program, dca.Settings{Tol: 1e-6, GapTol: 1e-8, Backend: backend})
	if err != nil {
		fmt.Println(err)
		return
	}
	// x solves min 1/2 (x - 3)^2 + lambda/2 x^2, that is x = 3 / (1 + lambda).
	fmt.Printf("%s: radius %.3f, lambda %.3f, refit %.3f\n", res.Status, res.H[0], res.Lambda[0], res.Refit[0][0])
	// Output: converged: radius 0.500, lambda 2.000, refit 1.000
}

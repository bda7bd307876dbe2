package backends_test

import (
	"context"
	"fmt"
	"log"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
)

// Minimise (x - 3)^2/2 + (y - 4)^2/2 with x + y <= 5 and x >= 0, y >= 0.
func ExampleOpen() {
	native, err := backends.Open("native")
	if err != nil {
		log.Fatal(err)
	}
	solver, err := native.Setup(&backends.Problem{
		P: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{1, 1}),
		Q: []float64{-3, -4},
		// The rows of A are (1, 1), (-1, 0) and (0, -1), stored by columns.
		A:     sparse.NewCSC(3, 2, []int{0, 2, 4}, []int{0, 1, 0, 2}, []float64{1, -1, 1, -1}),
		B:     []float64{5, 0, 0},
		Cones: []backends.Cone{backends.Nonnegative(3)},
	}, backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()

	sol, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: x = %.4f, objective %.4f\n", sol.Status, sol.X, sol.Objective)
	// Output:
	// optimal: x = [2.0000 3.0000], objective -11.5000
}

// The multiplier of a row is minus the derivative of the optimal value with
// respect to its right-hand side. Here a dollar of budget, the right-hand side of
// the first row, is worth 2 in the objective, which is minimised.
func ExampleSolver_sensitivity() {
	native, err := backends.Open("native")
	if err != nil {
		log.Fatal(err)
	}
	// Minimise -3x - 2y with x + y <= 4, x <= 3, x >= 0 and y >= 0.
	budget := []float64{4, 3, 0, 0}
	solver, err := native.Setup(&backends.Problem{
		Q:     []float64{-3, -2},
		A:     sparse.NewCSC(4, 2, []int{0, 3, 5}, []int{0, 1, 2, 0, 3}, []float64{1, 1, -1, 1, -1}),
		B:     budget,
		Cones: []backends.Cone{backends.Nonnegative(4)},
	}, backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()

	sol, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("value %.4f, predicted change per unit of budget %.4f\n", sol.Objective, -sol.Z[0])

	if err := solver.Update(backends.Update{B: []float64{4.5, 3, 0, 0}}); err != nil {
		log.Fatal(err)
	}
	more, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("measured %.4f\n", (more.Objective-sol.Objective)/0.5)
	// Output:
	// value -11.0000, predicted change per unit of budget -2.0000
	// measured -2.0000
}

// The least x^2/2 with x >= 1: the solution follows the bound, and so does its multiplier, x.
func ExampleNewDerivative() {
	p := &backends.Problem{
		P: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1}), Q: []float64{0},
		A: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{-1}), B: []float64{-1},
		Cones: []backends.Cone{backends.Nonnegative(1)},
	}
	at := backends.Point{X: []float64{1}, S: []float64{0}, Z: []float64{1}}
	d, err := backends.NewDerivative(context.Background(), p, at)
	if err != nil {
		log.Fatal(err)
	}
	x, z, err := d.Solve(context.Background(), []float64{0}, []float64{-1}) // db = -1
	fmt.Printf("dx = %.1f, dz = %.1f, %v\n", x[0], z[0], err)
	// Output:
	// dx = 1.0, dz = 1.0, <nil>
}

// Entries of a matrix in any order; those of one place add up.
func ExampleTriplets() {
	t := backends.NewTriplets(3)
	t.Add(1, 0, 3)
	t.Add(0, 1, 2)
	t.Add(1, 0, 0.5)
	a, err := t.CSC(2, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.At(1, 0), a.At(0, 1), a.NNZ(), t.Len())
	// Output:
	// 3.5 2 2 3
}

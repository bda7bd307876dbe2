//go:build (scs && cgo) || scs_go

package scs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/scs"
	"github.com/james-bowman/sparse"
)

// The smallest eigenvalue of C = [2 1; 1 2] is the least tr CX over X >= 0 with
// tr X = 1. X is its lower triangle by columns, with sqrt 2 off the diagonal.
func Example() {
	const r = 1.4142135623730951
	p := &backends.Problem{
		Q: []float64{2, r, 2},
		A: sparse.NewCSC(4, 3, []int{0, 2, 3, 5}, []int{0, 1, 2, 0, 3}, []float64{1, -1, -1, 1, -1}),
		B: []float64{1, 0, 0, 0}, Cones: []backends.Cone{backends.Zero(1), backends.PSD(2)},
	}
	b, err := backends.Open("scs")
	if err != nil {
		log.Fatal(err) // says how to get it, where a build lacks it
	}
	solver, err := b.Setup(p, backends.Options{Settings: scs.Settings{AccelerationLookback: 20}})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()
	solution, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %.6f\n", solution.Status, solution.Objective)
	// Output: optimal 1.000000
}

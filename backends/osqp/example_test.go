//go:build (osqp && cgo) || osqp_go

package osqp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/james-bowman/sparse"
)

// The point of the box [0, 1] x [0, 1] nearest to (2, -1), and then to (2, 0.5).
func Example() {
	one := sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{1, 1})
	minusOne := sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{-1, -1})
	p := &backends.Problem{
		P: one, Q: []float64{-2, 1}, A: minusOne, B: []float64{0, 0},
		Cones: []backends.Cone{backends.Box([]float64{0, 0}, []float64{1, 1})},
	}
	b, err := backends.Open("osqp")
	if err != nil {
		log.Fatal(err) // says how to get it, where a build lacks it
	}
	solver, err := b.Setup(p, backends.Options{Settings: osqp.Settings{StartEps: 1e-3}})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()
	for _, q := range [][]float64{{-2, 1}, {-2, -0.5}} {
		if err := solver.Update(backends.Update{Q: q}); err != nil {
			log.Fatal(err)
		}
		solution, err := solver.Solve(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v x = %.4f z = %.4f\n", solution.Status, solution.X, solution.Z)
	}
	// Output:
	// optimal x = [1.0000 0.0000] z = [-1.0000 1.0000]
	// optimal x = [1.0000 0.5000] z = [-1.0000 0.0000]
}

package completion_test

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/internal/lower/completion"
	"github.com/conetune/conetune/internal/lower/design"
)

// A matrix of rank one, of which one entry is not known.
func ExampleProblem_Solve() {
	d := completion.Data{
		M: 2, N: 2,
		Row: []int{0, 0, 1}, Col: []int{0, 1, 0},
		Y: []float64{4, 2, 2},
		X: design.FromColumns(3, 0, nil),
	}
	c, err := completion.New(d, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := c.Solve(context.Background(), completion.Weights{Nuclear: 1e-4}, completion.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, rank := s.Left.Dims()
	g := 0.0
	for k := range rank {
		g += s.Left.At(1, k) * s.Right.At(1, k)
	}
	fmt.Printf("%s: rank %d, the entry is %.1f\n", s.Status, rank, g)
	// Output: converged: rank 1, the entry is 1.0
}

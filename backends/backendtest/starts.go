package backendtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
)

// warmStart starts from the solution, for the problem itself and for one nearby, which takes no more iterations than
// from nothing, nearby where all cones are linear. Sequences of updates start from anything.
func (s suite) warmStart(t *testing.T) {
	for _, shape := range s.shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			c := NewCase(shape, 2)
			solver := s.open(t, c.Problem, s.options.backend())
			cold := Answer(t, solver)
			if s.check(t, c, cold); t.Failed() {
				return
			}
			linear := !slices.ContainsFunc(shape.Cones, func(k backends.Cone) bool { return !k.Kind.Intervals() })
			near := *c.Problem
			near.B = slices.Clone(near.B)
			for i := range near.B {
				near.B[i] += 1e-4 * math.Abs(math.Sin(float64(i)))
			}
			start := backends.Point{X: cold.X, S: cold.S, Z: cold.Z}
			before := fmt.Sprintf("%x", start)
			for k, want := range []*backends.Solution{cold, s.once(t, &near)} {
				b := [][]float64{c.Problem.B, near.B}[k]
				require.NoError(t, errors.Join(solver.Update(backends.Update{B: b}), solver.WarmStart(start)))
				sol := Answer(t, solver)
				if sol.Status != want.Status || s.off(sol.Objective, want.Objective) {
					t.Errorf("%v with %.12g, from nothing %v with %.12g; %s", sol.Status, sol.Objective, want.Status,
						want.Objective, sol.Message)
				}
				if (k == 0 || linear) && s.backend.Capabilities().WarmStart && sol.Iterations > want.Iterations {
					t.Errorf("%d iterations, %d from nothing", sol.Iterations, want.Iterations)
				}
			}
			if fmt.Sprintf("%x", start) != before {
				t.Error("the caller's point was modified")
			}
		})
	}
}

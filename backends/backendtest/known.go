package backendtest

import (
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/planted"
)

func (s suite) known(t *testing.T) {
	for _, c := range s.cases {
		t.Run(c.Name, func(t *testing.T) { s.check(t, c, s.once(t, c.Problem)) })
	}
	t.Run("infeasible both ways", func(t *testing.T) {
		// 0 x = 1 with min x: z = -1 and x = -1 are both certificates.
		p := &backends.Problem{Q: []float64{1}, A: sparse.NewCSC(1, 1, []int{0, 0}, []int{}, []float64{}), B: []float64{1}, Cones: []backends.Cone{backends.Zero(1)}}
		switch sol := s.once(t, p); sol.Status {
		case backends.PrimalInfeasible:
			s.checkPrimalInfeasible(t, p, sol)
		case backends.DualInfeasible:
			s.checkDualInfeasible(t, p, sol)
		default:
			t.Errorf("status %v, expected primal_infeasible or dual_infeasible; %s", sol.Status, sol.Message)
		}
	})
}

// scaled solves the cases with their rows, columns and objective multiplied by
// numbers Options.Scale times apart.
func (s suite) scaled(t *testing.T) {
	big := s.options.Scale
	alternate := func(k int) float64 { return []float64{1, big, 1 / big}[k%3] }
	one := func(int) float64 { return 1 }
	for _, way := range []struct {
		name       string
		row, col   func(int) float64 // by cone (by row where the cone allows), by column
		objective  float64
		pointTo    bool // whether x keeps its unit, so that it is compared
		infeasible bool // whether certificates are asked for
	}{
		{"rows", alternate, one, 1, true, true},
		{"columns", one, alternate, 1, false, false},
		{"objective times Scale", one, one, big, true, true},
		{"objective by Scale", one, one, 1 / big, false, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			for _, c := range s.cases {
				n, m := c.Problem.Dims()
				if c.Status != backends.Optimal && !way.infeasible || n == 0 || m == 0 {
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					scaled := rescale(c, way.row, way.col, way.objective)
					scaled.UniqueX, scaled.UniqueZ = c.UniqueX && way.pointTo, false
					s.check(t, scaled, s.once(t, scaled.Problem))
				})
			}
		})
	}
}

// rescale returns the problem with row i multiplied by row(i), and the variable
// and the objective replaced by x_j / col(j) and objective times themselves. All
// rows of a cone that is no product of intervals get the factor of its first.
func rescale(c Case, row, col func(int) float64, objective float64) Case {
	factors := func(n int, of func(int) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = of(i)
		}
		return out
	}
	n, m := c.Problem.Dims()
	to := planted.Case{Instance: *planted.Of(c.Problem)}
	to.Scale(planted.Scaling{Rows: factors(m, row), Columns: factors(n, col), Objective: objective, RightSide: 1})
	c.Problem, c.Objective = to.Problem(), objective*c.Objective
	return c
}

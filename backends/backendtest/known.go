package backendtest

import (
	"math"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
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
	p := clone(c.Problem)
	n, m := p.Dims()
	rows := make([]float64, m)
	at := 0
	for k, cone := range p.Cones {
		for i := range cone.Dim {
			switch cone.Kind {
			case backends.ZeroCone, backends.NonnegativeCone:
				rows[at+i] = row(at + i)
			case backends.BoxCone:
				rows[at+i] = row(at + i)
				p.Cones[k].Lower[i] *= rows[at+i]
				p.Cones[k].Upper[i] *= rows[at+i]
			default:
				rows[at+i] = row(at)
			}
		}
		at += cone.Dim
	}
	scaleEntries := func(a *sparse.CSC, factor func(i, j int) float64) {
		if a == nil {
			return
		}
		raw := a.RawMatrix()
		for j := range n {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				raw.Data[k] *= factor(raw.Ind[k], j)
			}
		}
	}
	scaleEntries(p.A, func(i, j int) float64 { return rows[i] * col(j) })
	scaleEntries(p.P, func(i, j int) float64 { return objective * col(i) * col(j) })
	for j := range p.Q {
		p.Q[j] *= objective * col(j)
	}
	for i := range p.B {
		p.B[i] *= rows[i]
	}
	out := c
	out.Problem, out.Objective = p, objective*c.Objective
	if c.X != nil {
		out.X = make([]float64, n)
		for j := range out.X {
			out.X[j] = c.X[j] / col(j)
		}
	}
	if c.Z != nil {
		out.Z = make([]float64, m)
		for i := range out.Z {
			out.Z[i] = c.Z[i] / rows[i]
			if c.Status == backends.Optimal {
				out.Z[i] *= objective
			}
		}
	}
	if c.Status == backends.DualInfeasible {
		for j := range out.X {
			out.X[j] /= objective
		}
	}
	return out
}

// derivatives compares z and x with central differences of the optimal value:
// d value / d b_i = -z_i and d value / d q_j = x_j.
func (s suite) derivatives(t *testing.T) {
	for _, c := range s.cases {
		n, _ := c.Problem.Dims()
		if c.Status != backends.Optimal || !c.UniqueX || !c.UniqueZ || n == 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			solver := s.open(t, c.Problem, s.options.backend())
			sol := solve(t, solver)
			if sol.Status != backends.Optimal {
				t.Fatalf("status %v", sol.Status)
			}
			h := s.options.Step
			slope := func(v []float64, k int, update func() backends.Update) float64 {
				value := func(at float64) float64 {
					old := v[k]
					v[k] = old + at
					err := solver.Update(update())
					v[k] = old
					if err != nil {
						t.Fatalf("Update: %v", err)
					}
					moved := solve(t, solver)
					if moved.Status != backends.Optimal {
						t.Fatalf("status %v with entry %d moved by %g; %s", moved.Status, k, at, moved.Message)
					}
					return moved.Objective
				}
				return (value(h) - value(-h)) / (2 * h)
			}
			q, b := cloneSlice(c.Problem.Q), cloneSlice(c.Problem.B)
			both := func() backends.Update { return backends.Update{Q: q, B: b} }
			for i := range b {
				if !s.canMove(c, i) {
					continue
				}
				if d := slope(b, i, both); math.Abs(d+sol.Z[i]) > s.options.DerivativeTol*max(1, math.Abs(sol.Z[i])) {
					t.Errorf("the value changes by %.8g per unit of b[%d], but z is %.8g", d, i, sol.Z[i])
				}
			}
			for j := range q {
				if d := slope(q, j, both); math.Abs(d-sol.X[j]) > s.options.DerivativeTol*max(1, math.Abs(sol.X[j])) {
					t.Errorf("the value changes by %.8g per unit of q[%d], but x is %.8g", d, j, sol.X[j])
				}
			}
		})
	}
}

// canMove says whether the value is differentiable in b_i: not on the two rows of
// a box that is thinner than the step.
func (s suite) canMove(c Case, i int) bool {
	row := 0
	for _, k := range c.Problem.Cones {
		if k.Kind == backends.BoxCone && i >= row && i < row+k.Dim {
			width := k.Upper[i-row] - k.Lower[i-row]
			return width == 0 || width > 10*s.options.Step
		}
		row += k.Dim
	}
	return true
}

func cloneSlice(v []float64) []float64 { return append([]float64{}, v...) }

package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
)

// triplets collects the entries of a sparse matrix; entries of one place add up.
type triplets struct{ entries []triplet }

type triplet struct {
	i, j int
	v    float64
}

func (t *triplets) add(i, j int, v float64) { t.entries = append(t.entries, triplet{i, j, v}) }

func (t *triplets) csc(m, n int) *sparse.CSC {
	var all backends.Triplets
	for _, e := range t.entries {
		all.Add(e.i, e.j, e.v)
	}
	out, err := all.CSC(m, n)
	if err != nil {
		panic(err)
	}
	return out
}

// hard is a family of second-order cone programs that are hard in some ways, each
// drawn together with an optimal primal-dual pair.
type hard struct {
	name string
	// cones and their sizes
	equations, inequalities, cones, dim int
	free                                int     // free columns
	dense                               int     // free columns that are in every cone
	rows, cols                          float64 // rows of a cone and columns are scaled by 10^(+-rows), 10^(+-cols)
	head                                float64 // slacks and multipliers of the cones are of size 10^(0 .. head)
	repeated                            int     // equations that are there twice
	flat                                int     // cones that the equations keep at zero
	still                               int     // columns that are there twice: directions with Ax = 0, q'x = 0
	misses                              int     // so many of 30 may end inaccurate
}

func families() []hard {
	return []hard{
		{name: "plain", equations: 5, inequalities: 10, cones: 20, dim: 3, free: 30},
		{name: "badly scaled", equations: 5, inequalities: 10, cones: 20, dim: 3, free: 30, rows: 3, cols: 3},
		{name: "many small cones, dense columns", equations: 2, inequalities: 20, cones: 300, dim: 3, free: 10, dense: 4},
		{name: "large slacks and multipliers", equations: 4, inequalities: 10, cones: 6, dim: 3, free: 15, head: 5},
		{name: "large slacks and multipliers, large cones", equations: 4, inequalities: 10, cones: 2, dim: 30, free: 25,
			head: 4},
		{name: "repeated equations", equations: 8, inequalities: 10, cones: 20, dim: 4, free: 30, repeated: 3, rows: 1},
		{name: "no interior", equations: 5, inequalities: 10, cones: 12, dim: 3, free: 20, flat: 3},
		{name: "flat directions", equations: 5, inequalities: 10, cones: 12, dim: 3, free: 15, still: 4},
		{name: "very badly scaled", equations: 5, inequalities: 10, cones: 20, dim: 3, free: 30, rows: 5, cols: 5, misses: 6},
		{name: "very large slacks and multipliers", equations: 4, inequalities: 10, cones: 6, dim: 3, free: 15, head: 7,
			misses: 6},
		{name: "all of it", equations: 8, inequalities: 10, cones: 30, dim: 3, free: 20, dense: 2, rows: 1, cols: 2, head: 2,
			repeated: 2, flat: 2, still: 2},
	}
}

// draw returns a problem, its optimal value and an optimal z.
func (h hard) draw(rng *rand.Rand) (p *backends.Problem, value float64, z []float64) {
	n := h.free
	m := h.equations + h.inequalities + h.cones*h.dim
	a := &triplets{}
	s := make([]float64, m)
	z = make([]float64, m)
	power := func(p float64) float64 { return math.Pow(10, p*(2*rng.Float64()-1)) }
	colScale := make([]float64, n)
	for j := range colScale {
		colScale[j] = power(h.cols)
	}
	row := 0
	fill := func(i, entries int, scale float64) {
		for range entries {
			j := rng.IntN(n)
			a.add(i, j, scale*colScale[j]*rng.NormFloat64())
		}
		for j := range h.dense {
			a.add(i, j, scale*colScale[j]*rng.NormFloat64())
		}
	}
	list := []backends.Cone{}
	for range h.equations {
		fill(row, 3, power(h.rows))
		z[row] = rng.NormFloat64()
		row++
	}
	list = append(list, backends.Zero(h.equations))
	for k := range h.inequalities {
		fill(row, 3, power(h.rows))
		if k%2 == 0 {
			s[row] = rng.ExpFloat64()
		} else {
			z[row] = rng.ExpFloat64()
		}
		row++
	}
	list = append(list, backends.Nonnegative(h.inequalities))
	for k := range h.cones {
		scale := power(h.rows)
		for i := range h.dim {
			fill(row+i, 2, scale)
		}
		u := normals(rng, h.dim-1)
		norm := norm2(u)
		ls, lz := math.Pow(10, h.head*rng.Float64()), math.Pow(10, h.head*rng.Float64())
		switch {
		case k < h.flat: // kept at zero below
			z[row] = 1
		case k%4 == 0: // not active
			s[row] = ls
		case k%4 == 1: // at the apex
			z[row] = lz
		default:
			s[row], z[row] = ls, lz
			for i, v := range u {
				s[row+1+i], z[row+1+i] = ls*v/norm, -lz*v/norm
			}
		}
		row += h.dim
		list = append(list, backends.SecondOrder(h.dim))
	}
	x := make([]float64, n)
	for j := range x {
		x[j] = rng.NormFloat64() / colScale[j]
	}
	// the rows of flat cones once more, as equations
	first := h.equations + h.inequalities
	extra := 0
	for i := range h.flat * h.dim {
		for _, e := range a.entries {
			if e.i == first+i {
				a.add(row, e.j, e.v)
			}
		}
		s, z = append(s, 0), append(z, rng.NormFloat64())
		row++
		extra++
	}
	for i := range h.repeated {
		for _, e := range a.entries {
			if e.i == i {
				a.add(row, e.j, -2*e.v)
			}
		}
		s, z = append(s, 0), append(z, 0)
		row++
		extra++
	}
	if extra > 0 {
		list = append(list, backends.Zero(extra))
	}
	for j := range h.still {
		for _, e := range a.entries {
			if e.j == j {
				a.add(e.i, n, 3*e.v)
			}
		}
		x = append(x, rng.NormFloat64())
		n++
	}
	p = &backends.Problem{A: a.csc(row, n), Cones: list, Q: make([]float64, n), B: append([]float64(nil), s...)}
	for _, e := range a.entries {
		p.B[e.i] += e.v * x[e.j]
		p.Q[e.j] -= e.v * z[e.i]
	}
	for j, v := range p.Q {
		value += v * x[j]
	}
	return p, value, z
}

// Every hard problem has a solution. It must be found, or the status says that
// the answer is not accurate; a proof of infeasibility would be wrong.
func TestHardProblems(t *testing.T) {
	for _, h := range families() {
		t.Run(h.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			solved, rounds := 0, 30
			for range rounds {
				p, value, _ := h.draw(rng)
				sol := solveChecked(t, p)
				switch sol.Status {
				case backends.Optimal:
					solved++
					require.InDelta(t, value, sol.Objective, 1e-4*max(1, math.Abs(value)))
				case backends.Inaccurate, backends.IterationLimit:
				default:
					t.Fatalf("status %s of a problem with a solution: %s", sol.Status, sol.Message)
				}
			}
			require.GreaterOrEqual(t, solved, rounds-h.misses)
		})
	}
}

// drawWithProof changes a problem of the family so that a given z proves it
// infeasible: the first equation is minus what the others, weighted by z, add up to.
// With unbounded, it instead gives it a direction along which the objective falls.
func (h hard) drawWithProof(rng *rand.Rand, unbounded bool) *backends.Problem {
	p, _, feasible := h.draw(rng)
	a := &triplets{}
	p.A.DoNonZero(func(i, j int, v float64) { a.add(i, j, v) })
	m, n := p.A.Dims()
	if unbounded {
		// -A d = s in the cones: the first column takes what is missing
		d, missing := make([]float64, n), make([]float64, m)
		for j := range d {
			d[j] = 1 + rng.Float64()
		}
		for row, c := range backends.Rows(p.Cones) {
			switch c.Kind {
			case backends.NonnegativeCone:
				for i := row; i < row+c.Dim; i++ {
					missing[i] = -rng.Float64()
				}
			case backends.SecondOrderCone:
				missing[row] = -1 - rng.Float64()
				missing[row+1] = rng.Float64()
			}
		}
		for _, e := range a.entries {
			missing[e.i] -= e.v * d[e.j]
		}
		for i, v := range missing {
			a.add(i, 0, v/d[0])
		}
		value, size := 0.0, 0.0
		for j, v := range p.Q {
			value += v * d[j]
			size += math.Abs(v * d[j])
		}
		p.Q[0] -= (value + max(1, 0.1*size)) / d[0]
		// feasible as before: x = 0, s = b; b inside the cones
		for row, c := range backends.Rows(p.Cones) {
			for i := row; i < row+c.Dim; i++ {
				p.B[i] = 0
				if c.Kind == backends.NonnegativeCone || c.Kind == backends.SecondOrderCone && i == row {
					p.B[i] = 1
				}
			}
		}
		p.A = a.csc(m, n)
		return p
	}
	z := make([]float64, m)
	for row, c := range backends.Rows(p.Cones) {
		for i := row; i < row+c.Dim; i++ {
			switch {
			case c.Kind == backends.NonnegativeCone:
				z[i] = rng.Float64()
			case c.Kind == backends.SecondOrderCone && i == row:
				z[i] = 1.5
			case c.Kind == backends.SecondOrderCone:
				z[i] = rng.Float64() / math.Sqrt(float64(c.Dim))
			default:
				z[i] = rng.NormFloat64()
			}
		}
	}
	z[0] = 1
	kept := a.entries[:0]
	sum := make([]float64, n)
	for _, e := range a.entries {
		if e.i != 0 {
			kept = append(kept, e)
			sum[e.j] += e.v * z[e.i]
		}
	}
	a.entries = kept
	value, size := 0.0, 0.0
	for i, v := range p.B {
		if i > 0 {
			value += v * z[i]
			size += math.Abs(v * z[i])
		}
	}
	for j, v := range sum {
		a.add(0, j, -v)
	}
	p.B[0] = -value - max(1, 0.1*size)
	clear(p.Q) // q = -A'z for a z in the dual cone
	for _, e := range a.entries {
		p.Q[e.j] -= e.v * feasible[e.i]
	}
	p.A = a.csc(m, n)
	return p
}

// Problems with a proof of infeasibility or unboundedness are never called solved.
func TestHardProofs(t *testing.T) {
	for _, h := range families() {
		for _, unbounded := range []bool{false, true} {
			name, want := h.name+"/infeasible", backends.PrimalInfeasible
			if unbounded {
				name, want = h.name+"/unbounded", backends.DualInfeasible
			}
			t.Run(name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(8, 8))
				proven, rounds := 0, 30
				for range rounds {
					sol := solveChecked(t, h.drawWithProof(rng, unbounded))
					switch sol.Status {
					case want:
						proven++
					case backends.Inaccurate, backends.NumericalError, backends.IterationLimit:
					default:
						t.Errorf("status %s, expected %s: %s", sol.Status, want, sol.Message)
					}
				}
				require.GreaterOrEqual(t, proven, rounds-3)
			})
		}
	}
}

func solveChecked(t *testing.T, p *backends.Problem) *backends.Solution {
	t.Helper()
	return backendtest.Solve(t, backendtest.Open(t, "native"), p, backends.Options{})
}

// normals are n normally distributed numbers.
func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range n {
		v[i] = rng.NormFloat64()
	}
	return v
}

package native

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

// enLower is the lower level of an elastic net with n rows and p features,
//
//	min 1/(2n) |y - X b|^2  s.t.  |b|_1 <= r1, 1/2 |b|^2 <= r2,
//
// in the columns b, u, e and the rows e + X b = y; b - u <= 0, -b - u <= 0,
// sum u <= r1; and (r2 + 1/2, r2 - 1/2, b) in the second-order cone.
func enLower(n, p int, r1, r2 float64, seed uint64) *backends.Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	columns, rows := 2*p+n, n+2*p+1+p+2
	up, down, sum, cone := n, n+p, n+2*p, n+2*p+1
	a := mat.NewDense(rows, columns, nil)
	b := make([]float64, rows)
	for i := range n {
		for j := range p {
			x := rng.NormFloat64()
			a.Set(i, j, x)
			if j < 15 { // these coefficients are 1
				b[i] += x
			}
		}
		b[i] += 2 * rng.NormFloat64()
		a.Set(i, 2*p+i, 1)
	}
	for j := range p {
		a.Set(up+j, j, 1)
		a.Set(down+j, j, -1)
		a.Set(up+j, p+j, -1)
		a.Set(down+j, p+j, -1)
		a.Set(sum, p+j, 1)
		a.Set(cone+2+j, j, -1)
	}
	b[sum], b[cone], b[cone+1] = r1, r2+0.5, r2-0.5
	d := make([]float64, columns)
	for i := range n {
		d[2*p+i] = 1 / float64(n)
	}
	return &backends.Problem{
		P: matrices.Upper(mat.NewDiagDense(columns, d)), Q: make([]float64, columns), A: matrices.Compress(a), B: b,
		Cones: []backends.Cone{backends.Zero(n), backends.Nonnegative(2*p + 1), backends.SecondOrder(p + 2)},
	}
}

// BenchmarkElasticNet sets up and solves lower levels with 100 rows.
func BenchmarkElasticNet(b *testing.B) {
	for _, p := range []int{60, 250, 1000} {
		problem := enLower(100, p, 5, 2, 1)
		b.Run(fmt.Sprintf("p=%d/setup", p), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (Backend{}).Setup(problem, backends.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("p=%d/solve", p), func(b *testing.B) {
			s, err := Backend{}.Setup(problem, backends.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			iterations, solves := 0, 0
			for b.Loop() {
				if err := s.Update(backends.Update{B: problem.B}); err != nil { // or it would go on from the end of the last solve
					b.Fatal(err)
				}
				sol, err := s.Solve(context.Background())
				if err != nil || sol.Status != backends.Optimal {
					b.Fatal(sol, err)
				}
				iterations += sol.Iterations
				solves++
			}
			b.ReportMetric(float64(iterations)/float64(solves), "iterations/op")
		})
	}
}

// BenchmarkSmall solves programs of ten variables, 1/2 x'Px + q'x over the simplex, again and again, through the checks
// of package backends: projections, P = I, and portfolios, P full, with another q each time, and warm, with a q that
// moves by a hundredth from the last solution.
func BenchmarkSmall(b *testing.B) {
	const n = 10
	f := mat.NewDense(n, n, nil)
	for i, rng := 0, rand.New(rand.NewPCG(2, 1)); i < n*n; i++ {
		f.Set(i/n, i%n, rng.NormFloat64())
	}
	f.Mul(f, f.T())
	for name, p := range map[string]mat.Matrix{"projection": mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)), "portfolio": f} {
		for _, warm := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/warm=%v", name, warm), func(b *testing.B) {
				s, rng := newSimplex(b, p), rand.New(rand.NewPCG(1, 1))
				b.ReportAllocs()
				iterations, solves := 0, 0
				for b.Loop() {
					step := 1.0
					if warm && solves > 0 {
						step = 0.01
					}
					for j := range s.q {
						s.q[j] += step * (rng.NormFloat64() - s.q[j])
					}
					s.next(step < 1)
					iterations += s.sol.Iterations
					solves++
				}
				b.ReportMetric(float64(iterations)/float64(solves), "iterations/op")
			})
		}
	}
}

// simplex solves min 1/2 x'Px + q'x over the simplex.
type simplex struct {
	t       testing.TB
	q       []float64
	problem *backends.Problem
	update  backends.Update // beside q
	solver  backends.Solver
	sol     backends.Solution
}

func newSimplex(t testing.TB, p mat.Matrix) *simplex {
	n, _ := p.Dims()
	a := mat.NewDense(n+1, n, nil)
	for i := range n {
		a.Set(0, i, 1)
		a.Set(1+i, i, -1)
	}
	problem := &backends.Problem{P: matrices.Upper(p), Q: make([]float64, n), A: matrices.Compress(a),
		B: append([]float64{1}, make([]float64, n)...), Cones: []backends.Cone{backends.Zero(1), backends.Nonnegative(n)}}
	solver, err := backends.Checked(Backend{}).Setup(problem, backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &simplex{t: t, q: make([]float64, n), problem: problem, solver: solver}
}

// next solves with the q there is, from the last solution if it is warm.
func (s *simplex) next(warm bool) {
	s.update.Q = s.q
	err := s.solver.Update(s.update)
	if warm {
		err = cmp.Or(err, s.solver.WarmStart(backends.Point{X: s.sol.X, S: s.sol.S, Z: s.sol.Z}))
	}
	err = cmp.Or(err, s.solver.(backends.Filler).SolveInto(context.Background(), &s.sol))
	if err != nil || s.sol.Status != backends.Optimal {
		s.t.Fatal(s.sol, err)
	}
}

// Updates, from the eleventh on of matrices, too, and solves of small programs allocate nothing, cold and warm. The
// solutions are max(0, -q - lambda) with a lambda for which their sum is one.
func TestSmallAllocatesNothing(t *testing.T) {
	const n = 10
	s, rng := newSimplex(t, mat.NewDiagDense(n, slices.Repeat([]float64{1}, n))), rand.New(rand.NewPCG(1, 1))
	for try := range 20 {
		warm := try%2 == 1
		if try > 10 {
			s.update = backends.Update{P: s.problem.P, A: s.problem.A}
			s.next(warm)
		}
		for j := range s.q {
			s.q[j] += 0.1 * rng.NormFloat64()
		}
		s.next(warm)
		low, high := -10., 10.
		for high-low > 1e-14 {
			sum, lambda := 0.0, (low+high)/2
			for _, q := range s.q {
				sum += max(0, -q-lambda)
			}
			if sum > 1 {
				low = lambda
			} else {
				high = lambda
			}
		}
		for j, x := range s.sol.X {
			require.InDelta(t, max(0, -s.q[j]-low), x, math.Sqrt(2*1e-8)) // by strong convexity
		}
		if !raceDetector {
			require.Zero(t, testing.AllocsPerRun(5, func() { s.next(warm) }), "warm: %v", warm)
		}
	}
}

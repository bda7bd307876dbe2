package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
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
		P: compress(mat.NewDiagDense(columns, d), true), Q: make([]float64, columns), A: compress(a, false), B: b,
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
			s := must.Of(Backend{}.Setup(problem, backends.Options{}))(b)
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

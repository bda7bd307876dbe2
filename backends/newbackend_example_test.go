package backends_test

import (
	"context"
	"fmt"
	"log"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

// equations is a backend for quadratic programs with equations only, which are one linear system in x and z.
type equations struct{}

func (equations) Name() string { return "equations" }

func (equations) Capabilities() backends.Capabilities {
	return backends.Capabilities{Version: "1", License: "Apache-2.0", Cones: []backends.ConeKind{backends.ZeroCone},
		Quadratic: true}
}

func (equations) Setup(p *backends.Problem, _ backends.Options) (backends.Solver, error) {
	n, m := p.Dims()
	s := &system{n, mat.NewDense(n+m, n+m, nil), mat.NewVecDense(n+m, nil)}
	p.P.DoNonZero(func(i, j int, v float64) { s.k.Set(i, j, v); s.k.Set(j, i, v) })
	p.A.DoNonZero(func(i, j int, v float64) { s.k.Set(n+i, j, v); s.k.Set(j, n+i, v) })
	for j, q := range p.Q {
		s.right.SetVec(j, -q)
	}
	for i, b := range p.B {
		s.right.SetVec(n+i, b)
	}
	return s, nil
}

type system struct {
	n     int
	k     *mat.Dense
	right *mat.VecDense
}

func (s *system) Solve(context.Context) (*backends.Solution, error) {
	var xz mat.VecDense
	if err := xz.SolveVec(s.k, s.right); err != nil {
		return &backends.Solution{Status: backends.NumericalError, Message: err.Error()}, nil
	}
	v := xz.RawVector().Data
	return &backends.Solution{Status: backends.Optimal, X: v[:s.n], Z: v[s.n:]}, nil
}

func (*system) Update(backends.Update) error   { return nil } // never called, as Capabilities has no updates
func (*system) WarmStart(backends.Point) error { return nil }
func (*system) Close() error                   { return nil }

// A new backend: [backends.Checked] validates what it is given, sets up again where it cannot update, finds s, rechecks
// its answers and refuses cones that it does not have. Backends of a program register themselves by [backends.Register]
// in an init function.
func ExampleChecked() {
	solver, err := backends.Checked(equations{}).Setup(&backends.Problem{ // the point of x + y = 4 nearest to (1, 1)
		P: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{1, 1}), Q: []float64{-1, -1},
		A: sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{1, 1}), B: []float64{4},
		Cones: []backends.Cone{backends.Zero(1)},
	}, backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()
	for _, b := range []float64{4, 6} {
		if err := solver.Update(backends.Update{B: []float64{b}}); err != nil {
			log.Fatal(err)
		}
		sol, err := solver.Solve(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: x = %.4f, dual %.4f\n", sol.Status, sol.X, sol.Z)
	}
	// Output:
	// optimal: x = [2.0000 2.0000], dual [-1.0000]
	// optimal: x = [3.0000 3.0000], dual [-2.0000]
}

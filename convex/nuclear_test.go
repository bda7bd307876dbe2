package convex_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// matrixBackend returns a backend for models with nuclear norms.
func matrixBackend(t testing.TB) backends.ConicBackend {
	for _, name := range []string{"native", "scs"} {
		b, err := backends.Open(name)
		if err == nil && b.Capabilities().Supports(backends.PSDCone) {
			return b
		}
	}
	t.Skip("no backend of this build has semidefinite cones")
	return nil
}

// shrink lowers the singular values of a matrix by c.
func shrink(a []float64, rows int, c float64) []float64 {
	var svd mat.SVD
	svd.Factorize(mat.NewDense(rows, len(a)/rows, a), mat.SVDThin)
	var u, v, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	s := svd.Values(nil)
	for k := range s {
		s[k] = max(0, s[k]-c)
	}
	u.Mul(&u, mat.NewDiagDense(len(s), s))
	out.Mul(&u, v.T())
	return out.RawMatrix().Data
}

// The proximal map of the nuclear norm lowers the singular values.
func TestNuclearProximalMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{5, 4}, {3, 7}, {1, 1}, {1, 6}, {6, 1}, {2, 2}} {
		rows, cols := size[0], size[1]
		a := random(rng, rows*cols)
		for _, sets := range []bool{false, true} {
			m := convex.NewModel()
			x := m.Variable("X", rows*cols)
			norm := convex.NuclearNorm(x.Expr(), rows, cols)
			m.Minimize(distance(x.Expr(), a).Plus(norm.Scale(.7)))
			r := solve(t, solver(t, m, convex.SolverOptions{Backend: matrixBackend(t), WorkingSets: sets, Options: backends.Options{Eps: 1e-9}}))
			inDelta(t, shrink(a, rows, .7), r.Value(x), 1e-4)
			got := norm.Eval(r.Point())[0]
			require.InDelta(t, math.Sqrt(2*(r.Objective-.7*got)), math.Sqrt(2*distance(x.Expr(), a).Eval(r.Point())[0]), 1e-5)
		}
	}
}

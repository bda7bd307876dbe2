package convex_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
)

// lending is a backend that remembers which numbers were given to Setup, and what they were.
type lending struct {
	backends.ConicBackend
	given, copies [][]float64
}

func (l *lending) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	l.given = append(l.given, p.Q, p.B, p.A.RawMatrix().Data, p.P.RawMatrix().Data)
	for _, v := range l.given[len(l.copies):] {
		l.copies = append(l.copies, slices.Clone(v))
	}
	return l.ConicBackend.Setup(p, o)
}

// updated is a model in which a parameter stands in each of P, q, A and b, most of A being numbers.
type updated struct {
	m     *convex.Model
	x     *convex.Variable
	alpha *convex.Parameter
}

func newUpdated(rows, cols int) updated {
	rng := rand.New(rand.NewPCG(5, 1))
	u := updated{m: convex.NewModel()}
	u.x, u.alpha = u.m.Variable("x", cols), u.m.Parameter("alpha", 1)
	centre := u.x.Expr().Minus(convex.Const(random(rng, cols)...))
	u.m.Minimize(convex.SumSquares(centre).Weight(u.alpha))
	u.m.Constrain(
		convex.LessEqual(convex.Linear(u.x.Expr().MulMat(mat.NewDense(rows, cols, random(rng, rows*cols)))),
			convex.Const(slices.Repeat([]float64{1}, rows)...)),
		convex.LessEqual(convex.Linear(u.alpha.Times(u.x.Expr().At(0))), u.alpha.Expr().Minus(convex.Const(0.5))))
	return u
}

// The numbers that a solver was set up with stay as they are while it lives; updates reach it all the same.
func TestNumbersOfTheSetup(t *testing.T) {
	u := newUpdated(30, 10)
	b := &lending{ConicBackend: native(t)}
	require.NoError(t, u.alpha.Set([]float64{1}))
	s := solver(t, u.m, convex.SolverOptions{Backend: b})
	for k := range 6 {
		require.NoError(t, u.alpha.Set([]float64{1 + 0.2*float64(k%4)}))
		r := solve(t, s)
		fresh := solve(t, solver(t, u.m, convex.SolverOptions{}))
		require.InDelta(t, fresh.Objective, r.Objective, 1e-7)
		inDelta(t, fresh.Value(u.x), r.Value(u.x), 1e-5)
		require.Equal(t, b.copies, b.given)
	}
	require.Equal(t, 1, s.Stats().Setups)
	require.Equal(t, 5, s.Stats().Updates)
}

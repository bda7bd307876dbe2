package native

import (
	"context"
	"math"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/must"
)

// control is min 1/2 sum (y_i - 1)^2 over a rod, 2 y_i - y_(i-1) - y_(i+1) = h^2 u_i with y = 0 at its ends and 0 <=
// u <= 8: the multipliers of the equations are as large as 1/h^2.
func control(n int) *backends.Problem {
	h := 1 / float64(n+1)
	a, p := sparse.NewDOK(3*n, 2*n), sparse.NewDOK(2*n, 2*n)
	q, b := make([]float64, 2*n), make([]float64, 3*n)
	for i := range n {
		a.Set(i, i, 2)
		if i > 0 {
			a.Set(i, i-1, -1)
		}
		if i < n-1 {
			a.Set(i, i+1, -1)
		}
		a.Set(i, n+i, -h*h)
		a.Set(n+i, n+i, -1)
		a.Set(2*n+i, n+i, 1)
		p.Set(i, i, 1)
		q[i], b[2*n+i] = -1, 8
	}
	return &backends.Problem{P: p.ToCSC(), Q: q, A: a.ToCSC(), B: b, Cones: []backends.Cone{backends.Zero(n),
		backends.Nonnegative(2 * n)}}
}

// What the steps leave in the equations hides little of the gap, however large their multipliers are: by p - d = s'z +
// x'rd - z'rp the objective stands still where z'rp is as large as s'z.
func TestEquationsHideNoGap(t *testing.T) {
	p := control(1000)
	r := must.Of(newRunner(formOf(t, p)))(t)
	r.f.fill(p)
	require.True(t, r.k.load())
	r.options = backends.Options{}.WithDefaults()
	r.judge = r.options.Judge(p)
	r.best.error = math.Inf(1)
	r.strategy = r.embedding
	require.NoError(t, r.embedding.start(true))
	for range 40 {
		r.residuals()
		m := r.measure()
		hidden := 0.0
		for i, v := range r.rz[:r.f.zero] {
			hidden += v * r.z[i]
		}
		require.LessOrEqual(t, math.Abs(hidden), 0.1*dot(r.s, r.z))
		if m.worst <= r.options.Eps {
			return
		}
		must.Of(r.step(context.Background(), m))(t)
	}
	t.Fatal("no end")
}

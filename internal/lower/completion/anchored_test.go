package completion

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
)

// The bound near a point is at most the optimum of the conic program without penalties, and is that where there is
// nothing but G.
func TestAnchored(t *testing.T) {
	for k, p := range []int{0, 4} {
		for _, intercept := range []bool{false, true} {
			d := draw(uint64(30+k), 9, 7, p, 0.6)
			j, train, val := newJointOf(t, d, intercept)
			rng := rand.New(rand.NewPCG(uint64(k), 5))
			factors, cb := normals(rng, 2*(d.m+d.n)), normals(rng, p)
			var full mat.Dense
			full.Mul(mat.NewDense(d.m, 2, factors[:2*d.m]), mat.NewDense(d.n, 2, factors[2*d.m:]).T())
			centre := [][]float64{cb, factors}
			if intercept {
				centre = append(centre, []float64{0.3})
			}
			for _, rho := range []float64{1e-3, 0.1, 2} {
				w := &bilevel.JointWeights{Validation: 1, Rho: rho, Centre: centre, Penalties: make([]float64, 1+len(d.groups))}
				want, got := conicJoint(t, train, val, intercept, w, &full, cb, 0.3), j.Anchored(rho, centre)
				require.Positive(t, got)
				require.LessOrEqual(t, got, want*(1+1e-7))
				if p == 0 && !intercept {
					require.InEpsilon(t, want, got, 1e-6)
				}
				twice := val
				twice.Row, twice.Col, twice.Y = append(twice.Row, twice.Row...), append(twice.Col, twice.Col...),
					append(twice.Y, twice.Y...)
				if p > 0 {
					continue
				}
				again, err := jointOf(train, Data{X: design.FromColumns(len(twice.Y), 0, nil), Row: twice.Row, Col: twice.Col,
					Y: twice.Y}, intercept)
				require.NoError(t, err)
				require.InEpsilon(t, got, again.Anchored(rho, centre), 1e-9) // each entry with half of the weight, twice
			}
		}
	}
}

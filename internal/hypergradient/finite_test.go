package hypergradient

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// edged has the validation loss 1 + (log lambda - 3)^2, to which loss is added below lambda = edge, and slope to the
// gradient there.
type edged struct{ edge, loss, slope float64 }

func (edged) Dim() int           { return 1 }
func (edged) LambdaMax() float64 { return 100 }
func (edged) Path() [][]float64  { return [][]float64{{80}, {60}, {40}} }

func (m edged) Solve(_ context.Context, lambda []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	u := math.Log(lambda[0]) - 3
	pt := &lower.Point{Lambda: lambda, X: [][]float64{{u}}, Validation: 1 + u*u, Solved: true}
	if lambda[0] < m.edge {
		pt.Validation += m.loss
	}
	return pt, nil
}

func (m edged) Traits() lower.Traits { return lower.Traits{Path: m.Path, Gradient: m.Gradient} }

func (m edged) Gradient(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
	g := 2 * (math.Log(at.Lambda[0]) - 3) / at.Lambda[0]
	if at.Lambda[0] < m.edge {
		g += m.slope
	}
	return []float64{g}, nil
}

// A loss or a gradient that is no finite number ends a search, which keeps the best point before.
func TestNotFinite(t *testing.T) {
	for name, m := range map[string]edged{
		"loss -Inf":     {edge: 30, loss: math.Inf(-1)},
		"loss +Inf":     {edge: 30, loss: math.Inf(1)},
		"gradient NaN":  {edge: 30, slope: math.NaN()},
		"gradient +Inf": {edge: 30, slope: math.Inf(1)},
	} {
		for _, method := range methods {
			for _, o := range []Settings{{}, {Start: []float64{90}}} {
				r, err := method.run(context.Background(), m, o)
				require.NoError(t, err, "%s: %s", name, method.name)
				require.Equal(t, NotFinite, r.Status, "%s: %s", name, method.name)
				best := r.Best.Validation
				require.InDelta(t, 1+math.Pow(math.Log(r.Best.Lambda[0])-3, 2), best, 1e-12)
				require.LessOrEqual(t, best, 1+math.Pow(math.Log(90)-3, 2))
			}
		}
	}
	r := must.Of(IGJO(context.Background(), edged{edge: math.Inf(1), loss: math.Inf(1)}, Settings{}))(t)
	require.Equal(t, NotFinite, r.Status)
	require.Nil(t, r.Best)
}

package sparse

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// missingShare of the weight is what an entry's derivative has to be above it to be missing.
const missingShare = 1e-9

// Check implements [bilevel.JointSolver]. With rho > 0 the objective is strongly convex, so that its least subgradient
// e at the solution bounds the gap: e_j^2 / (2 (rho + f_j m_2)) in a coefficient, e_0^2 / (2 rho) in a constant. Else
// the bound is that of package glm.
func (s *solver) Check(ctx context.Context, w *bilevel.JointWeights) (c bilevel.JointPoint, err error) {
	c.Gap = math.Inf(1)
	if s.ctx = ctx; ctx.Err() != nil {
		return c, nil
	}
	descent, losses := s.descents(w)
	c.Values = bilevel.Values{Validation: losses[validating], Train: losses[training], Penalties: s.penalties(s.set, s.b)}
	c.Objective = s.objective(w, c.Values)
	if ctx.Err() != nil {
		return c, nil
	}
	one, two := s.pair(w.Penalties)
	gap := 0.0
	var missing []int
	var by []float64 // how much they want to move
	for e, g := range descent {
		j, v := e/s.k, 0.0
		f := s.terms.Factors[j]
		if i := s.at[e]; i >= 0 {
			v = s.b[i]
		}
		if w.Rho > 0 {
			g += w.Rho * (s.centre(w, e) - v)
		}
		if v == 0 && math.Abs(g) <= f*one { // most of them
			continue
		}
		off := s.terms.off(j, v, f*one, g-f*two*v)
		if w.Rho > 0 {
			gap += off * off / (2 * (w.Rho + f*two))
		}
		if v == 0 && s.at[e] < 0 && off > missingShare*f*one {
			missing, by = append(missing, e), append(by, off)
		}
	}
	if w.Rho == 0 {
		if gap, err = s.gap(w.Validation*losses[validating]+w.Train*losses[training], descent, w); err != nil {
			return c, err
		}
	}
	c.Gap = gap
	if c.Grew = len(missing) > 0; c.Grew {
		s.take(numerics.Foremost(missing, by, max(newFeatures, len(s.set))))
	}
	return c, nil
}

// descents are minus the derivatives of the weighted losses at the last solution, and the losses.
func (s *solver) descents(w *bilevel.JointWeights) (descent []float64, losses [2]float64) {
	descent = make([]float64, len(s.at))
	for k, share := range shares(w) {
		if share == 0 && k == validating {
			continue
		}
		at, products := s.lookAt(k, s.b), make([]float64, len(s.at))
		at.x.DotsEach(s.ctx, [][]float64{at.slopes}, [][]float64{products}, runtime.GOMAXPROCS(0))
		floats.AddScaled(descent, share, products)
		losses[k] = at.value
	}
	return descent, losses
}

// gap is that of [glm.Data.Gap] at the last solution, where the losses have some value and derivatives.
func (s *solver) gap(loss float64, descent []float64, w *bilevel.JointWeights) (float64, error) {
	weights, err := s.Weights(w.Penalties)
	if err != nil {
		return 0, err
	}
	b, n := s.toGLM(s.vector(s.X())), s.units()
	slant, b0 := 0.0, 0.0
	if s.k == 1 && s.intercept {
		slant, b0 = descent[n], b[n]
	}
	return s.data.Gap(loss, s.null, descent[:n], b[:n], slant, b0, weights), nil
}

package sparse

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/design"
)

// missingShare of the weight is what an entry's derivative has to be above it to be missing.
const missingShare = 1e-9

// Check implements [lower.JointSolver]. With rho > 0 the objective is strongly convex, so that its least subgradient e
// at the solution bounds the gap: e_j^2 / (2 (rho + f_j m_2)) in a coefficient, e_0^2 / (2 rho) in a constant. Else
// the bound is that of [Fit].
func (s *solver) Check(ctx context.Context, w *lower.JointWeights) (c lower.JointCheck, err error) {
	c.Gap = math.Inf(1)
	if s.ctx = ctx; ctx.Err() != nil {
		return c, nil
	}
	descent, ascent, losses := s.descents(w)
	c.Values = lower.Values{Validation: losses[validating], Train: losses[training], Penalties: s.penaltiesAt()}
	c.Objective = s.objective(w, c.Values)
	if ctx.Err() != nil {
		return c, nil
	}
	one, two, gap := w.Penalties[0], w.Penalties[1], 0.0
	var missing []ranked
	for e, g := range descent {
		j, v := e/s.k, 0.0
		f := s.terms.weight(j)
		if i := s.at[e]; i >= 0 {
			v = s.b[i]
		}
		if w.Rho > 0 {
			g += w.Rho * (w.Centre[0][e] - v)
		}
		if v == 0 && math.Abs(g) <= f*one { // most of them
			continue
		}
		off := s.terms.off(j, v, f*one, g-f*two*v)
		if w.Rho > 0 {
			gap += off * off / (2 * (w.Rho + f*two))
		}
		if v == 0 && s.at[e] < 0 && off > missingShare*f*one {
			missing = append(missing, ranked{off, e})
		}
	}
	if w.Rho > 0 {
		for k, g := range ascent {
			g += w.Rho * (w.Centre[1][k] - s.b[k])
			gap += g * g / (2 * w.Rho)
		}
	} else {
		gap = math.Max(0, c.Objective-s.bound(w.Validation*losses[validating]+w.Train*losses[training], descent, ascent, one, two))
	}
	c.Gap = gap
	if c.Grew = len(missing) > 0; c.Grew {
		var list []int
		for _, r := range foremost(missing, max(newFeatures, len(s.set))) {
			list = append(list, r.j)
		}
		slices.Sort(list)
		entries := make([]entry, len(list))
		for i, e := range list {
			entries[i] = entry{e / s.k, e % s.k}
		}
		s.take(entries)
	}
	return c, nil
}

// descents are minus the derivatives of the weighted losses at the last solution, in the coefficients and the
// constants, and the losses.
func (s *solver) descents(w *lower.JointWeights) (descent, ascent []float64, losses [2]float64) {
	descent = make([]float64, len(s.at))
	if s.intercept {
		ascent = make([]float64, s.k)
	}
	for k, share := range shares(w) {
		if share == 0 && k == validating {
			continue
		}
		x, at := s.sets[k].features(), s.seen[k]
		if at == nil {
			at = s.lookAt(k, s.b)
		}
		at.products = make([]float64, len(s.at))
		of := at.products
		for class, u := range at.slopes {
			if s.k > 1 {
				of = make([]float64, s.p)
			}
			x.MulTransIn(s.ctx, of, u, runtime.GOMAXPROCS(0))
			for j := 0; s.k > 1 && j < s.p; j++ {
				at.products[j*s.k+class] = of[j]
			}
		}
		floats.AddScaled(descent, share, at.products)
		for class := range ascent {
			ascent[class] += share * at.descent(x, entry{design.Ones, class}, s.k)
		}
		losses[k] = at.value
		s.seen[k] = at
	}
	return descent, ascent, losses
}

// bound is that of [Fit] at the last solution, where the losses have some value and derivatives.
func (s *solver) bound(loss float64, descent, ascent []float64, one, two float64) float64 {
	distance := farther * math.Sqrt(2*s.scale)
	share, total := 1.0, loss
	for k, q := range ascent {
		total -= math.Abs(q) * (math.Abs(s.b[k]) + distance)
	}
	at := func(share float64, near bool) float64 {
		sum := share * total
		for e, q := range descent {
			j, v, far := e/s.k, 0.0, math.Inf(1)
			if i := s.at[e]; i >= 0 {
				v = s.b[i]
			}
			f := s.terms.weight(j)
			if v == 0 && math.Abs(q) <= f*one {
				continue
			}
			if near || s.terms.always(j) {
				far = 2*math.Abs(v) + distance*s.reach[j]
			}
			sum += share*q*v - s.terms.conjugate(j, share*q, f*one, f*two, far)
		}
		return sum
	}
	for e, q := range descent {
		if most := s.terms.weight(e/s.k) * one; math.Abs(q) > most {
			share = math.Min(share, s.terms.share(e/s.k, q, most))
		}
	}
	best := at(share, false)
	if share < 1 {
		best = math.Max(best, at(1, !(two > 0)))
	}
	return best
}

// ranked is an entry that is missing from what is worked with, and how much it wants to move.
type ranked struct {
	over float64
	j    int
}

// foremost are the entries that want to move most, so many of them at most, the first of equal ones first.
func foremost(list []ranked, most int) []ranked {
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.over, a.over), a.j-b.j) })
	return list[:min(len(list), most)]
}

package regression

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
)

// Poisson is a sparse Poisson regression, [ElasticNet] for counts. A target y >= 0 has the mean exp(f) with
// f = a'b + b0, and costs half its deviance,
//
//	y log(y / exp(f)) - y + exp(f),
//
// and the losses L on validation and l on training rows are means of that (J. Friedman, T. Hastie, R. Tibshirani,
// Regularization paths for generalized linear models via coordinate descent, JSS 33, 2010, for the penalty form). The
// prediction is the mean exp(f). Errors are mean half deviances. A backend needs exponential cones; the native one is
// spared most of them by package internal/lower/sparse. Targets for training must not be all zero, and offsets be
// logarithms.
func Poisson(s dataset.Division, o Options) (*Model, error) {
	return poisson(s, o, Net{Name: "poisson", Takes: []string{"Terms"}, Fit: making(fits.Poisson)})
}

// poisson completes a net of the Poisson deviance.
func poisson(s dataset.Division, o Options, n Net) (*Model, error) {
	return checked(n.Name, s, func() (m *Model, err error) {
		s.Map(func(y float64) float64 {
			if y < 0 && err == nil {
				err = fmt.Errorf("a target is %g, expected numbers that are not negative, such as counts", y)
			}
			return y
		})
		if err == nil {
			err = logarithms(s.Table().Offset)
		}
		if err != nil {
			return nil, err
		}
		n.Loss, n.KeepTarget, n.Finish = poissonLoss, true, func(f *problems.Fit) { f.LogLink = true }
		n.Advice = problems.Advice{Modes: normModes}
		return n.model(s, o)
	})
}

// mostOffsets bounds by how much offsets differ: means of which one is exp(35) times the other have no digit in common.
const mostOffsets = 35

// logarithms refuses offsets that are exposures themselves.
func logarithms(offset []float64) error {
	if offset == nil {
		return nil
	}
	if lo, hi := slices.Min(offset), slices.Max(offset); hi-lo > mostOffsets {
		return fmt.Errorf(
			"the offset goes from %g to %g, expected the logarithm of the exposure, which differs by %d at most", lo, hi,
			mostOffsets)
	}
	return nil
}

// poissonLoss is half the deviance.
var poissonLoss = Loss{
	Sum: func(f convex.Expr, y, weights []float64, _ float64) convex.Expr {
		constant, minus := 0.0, make([]float64, len(y))
		for i, v := range y {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			if minus[i] = -w * v; v > 0 {
				constant += w * v * (math.Log(v) - 1)
			}
		}
		return convex.Add(total(convex.Exp(f), weights), convex.Add(convex.Dot(minus, f), constant))
	},
	Value:  func(f, y []float64, _ float64) float64 { return deviance.HalfPoisson(y[0], math.Exp(f[0]), f[0]) },
	Slope:  func(f, y, _ float64) float64 { return math.Exp(f) - y },
	Engine: func(float64) glm.Loss { return glm.Poisson{} },
}

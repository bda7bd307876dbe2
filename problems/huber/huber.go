// Package huber selects the hyperparameters of a regression that outliers do not ruin: the elastic net with the
// Huber loss.
//
// # Formulation
//
// With a threshold d > 0, a residual r costs
//
//	r^2/2 for |r| <= d,  d |r| - d^2/2 elsewhere
//
// (P. J. Huber, Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35, 1964), and
// the losses L on validation and l on training rows are means of that. The bilevel program is that of package
// elasticnet,
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2 }.
//
// Errors are mean Huber losses in the user's units.
package huber

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Options are [regression.Options].
type Options = regression.Options

// Model is a Huber regression with its data.
type Model struct {
	*regression.Model
	threshold float64
}

// New checks the rows, split or in folds, the threshold d, in the unit of the user's target, where 0 means [Threshold]
// of the training targets, and the options. It keeps a reference to the data, which must not change.
func New(s dataset.Division, d float64, o Options) (*Model, error) {
	if !(d >= 0) || math.IsInf(d, 1) {
		return nil, fmt.Errorf("huber: threshold %v, expected a positive number", d)
	}
	if err := dataset.Check(s); err != nil {
		return nil, fmt.Errorf("huber: %w", err)
	}
	if d == 0 {
		table := dataset.WithoutOffset(s).Table()
		d = threshold(table.Y, table.Weights)
	}
	net, err := regression.NewNet(s, o, regression.Net{
		Name: "huber", Kind: regression.Kind{Loss: loss(d)},
	})
	if err != nil {
		return nil, err
	}
	return &Model{net, d}, nil
}

// Threshold is the d of the model, in the unit of the user's target.
func (m *Model) Threshold() float64 { return m.threshold }

// Threshold is a threshold for targets y: 1.345 s, with which Huber's estimate has 95 % of the efficiency of least
// squares on normal errors of standard deviation s. As the errors are not known, s is half the spread of y,
// their median absolute deviation over 0.6745, as if the features explained three quarters of its square.
// It is 1 where more than half of the targets are the same.
func Threshold(y []float64) float64 { return threshold(y, nil) }

// threshold is [Threshold] of targets with weights, nil for equal ones.
func threshold(y, weights []float64) float64 {
	centre := median(y, weights)
	away := make([]float64, len(y))
	for i, v := range y {
		away[i] = math.Abs(v - centre)
	}
	if spread := median(away, weights) / 0.6745; spread > 0 {
		return 1.345 * spread / 2
	}
	return 1
}

// median is the lower median: the least value up to which there is half of the weight.
func median(v, weights []float64) float64 {
	if weights == nil {
		return slices.Sorted(slices.Values(v))[(len(v)-1)/2]
	}
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	half, sum := floats.Sum(weights)/2, 0.0
	for _, i := range order {
		if sum += weights[i]; sum >= half*(1-halfRounding) {
			return v[i]
		}
	}
	return v[order[len(order)-1]]
}

// halfRounding is the rounding of a half of the weights.
const halfRounding = 1e-12

// loss is the Huber loss with a threshold in the user's unit.
func loss(threshold float64) regression.Loss {
	return regression.Loss{
		Sum: func(f convex.Affine, y, weights []float64, sd float64) convex.Convex {
			return regression.Total(convex.Huber(regression.Differences(f, y, sd), threshold/sd), weights)
		},
		Value: func(f []float64, y, sd float64) float64 {
			r, d := math.Abs(f[0]-y), threshold/sd
			if r > d {
				return d * (r - d/2)
			}
			return r * r / 2
		},
		Slope: func(f, y, sd float64) float64 {
			d := threshold / sd
			return math.Max(-d, math.Min(d, f-y))
		},
		Residuals: regression.Differences,
		Engine:    func(sd float64) glm.Loss { return glm.Huber{Threshold: threshold / sd} },
	}
}

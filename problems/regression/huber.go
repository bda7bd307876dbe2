package regression

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/problems/dataset"
)

// Huber is a regression that outliers do not ruin: [ElasticNet] with the Huber loss. With the threshold d > 0 of
// [Options], a residual r costs
//
//	r^2/2 for |r| <= d,  d |r| - d^2/2 elsewhere
//
// (P. J. Huber, Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35, 1964), and
// the losses L on validation and l on training rows are means of that. Errors are mean Huber losses in the user's
// units.
func Huber(s dataset.Division, o Options) (*Model, error) {
	if !(o.Threshold >= 0) || math.IsInf(o.Threshold, 1) {
		return nil, fmt.Errorf("huber: threshold %v, expected a positive number", o.Threshold)
	}
	return checked("huber", s, func() (*Model, error) {
		if o.Threshold == 0 {
			table := dataset.WithoutOffset(s).Table()
			o.Threshold = threshold(table.Y, table.Weights)
		}
		n := Net{Name: "huber", Loss: huberLoss(o.Threshold), Takes: []string{"Threshold"}}
		return n.model(s, o)
	})
}

// threshold is the [Options].Threshold of targets with weights, nil for equal ones.
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
	v, weights = slices.Clone(v), slices.Clone(weights)
	stat.SortWeighted(v, weights)
	return stat.Quantile((1-halfRounding)/2, stat.Empirical, v, weights)
}

// halfRounding is the rounding of a half of the weights.
const halfRounding = 1e-12

// huberLoss is the Huber loss with a threshold in the user's unit.
func huberLoss(threshold float64) Loss {
	return Loss{
		Sum: func(f convex.Expr, y, weights []float64, sd float64) convex.Expr {
			return total(convex.Huber(differences(f, y, sd), threshold/sd), weights)
		},
		Value: func(f, y []float64, sd float64) float64 {
			r, d := math.Abs(f[0]-y[0]), threshold/sd
			if r > d {
				return d * (r - d/2)
			}
			return r * r / 2
		},
		Slope: func(f, y, sd float64) float64 {
			d := threshold / sd
			return math.Max(-d, math.Min(d, f-y))
		},
		Residuals: differences,
		Engine:    func(sd float64) glm.Loss { return glm.Huber{Threshold: threshold / sd} },
	}
}

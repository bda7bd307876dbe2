// Package bounded selects the hyperparameters of an elastic net whose coefficients are bounded, by default
// not negative.
//
// # Formulation
//
// With losses L on validation and l on training rows as in package regression, the bilevel program
//
//	minimize   L(b)   over b and r >= 0
//	subject to b solves  min { l(b) : |b|_1 <= r1, 1/2 |b|_2^2 <= r2, lower <= b <= upper }
//
// is that of package elasticnet with bounds on the coefficients in the user's units, which hold for the iterate as for the
// refit. The multipliers of the two radii are lambda1 and lambda2.
package bounded

import (
	"fmt"
	"math"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/regression"
)

// Options of the model.
type Options struct {
	// Intercept adds a free constant that is neither penalised nor bounded.
	Intercept bool
	// Standardize works on features and targets in units of their own, the features in that of Scaling, and undoes it in the result.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling
	// R0 are the start values of the two radii, in the unit of the model. Nil means (10, 5).
	R0 []float64
	// Lower and Upper bound the coefficients in the user's units, one for each feature or one for all;
	// entries may be infinite. Both nil means 0 and +Inf; one nil means no bound on that side.
	Lower, Upper []float64
}

// Model is an elastic net with bounds and its data.
type Model struct{ *regression.Model }

// New checks the rows, split or in folds, and the options. Bounds must leave room for coefficients of 0. It keeps a
// reference to the data, which must not change.
func New(s dataset.Division, o Options) (*Model, error) {
	data, err := regression.New(s, regression.Options{Intercept: o.Intercept, Standardize: o.Standardize, Scaling: o.Scaling})
	if err != nil {
		return nil, fmt.Errorf("bounded: %w", err)
	}
	if o.Lower == nil && o.Upper == nil {
		o.Lower = []float64{0}
	}
	lower, err := side(o.Lower, "lower", -1, data)
	if err != nil {
		return nil, err
	}
	upper, err := side(o.Upper, "upper", 1, data)
	if err != nil {
		return nil, err
	}
	spec, err := elasticnet.Spec("bounded-elastic-net", data, o.R0)
	if err != nil {
		return nil, fmt.Errorf("bounded: %w", err)
	}
	spec.Set = func(b convex.Affine) []*convex.Constraint {
		var set []*convex.Constraint
		if len(lower.at) > 0 {
			set = append(set, convex.GreaterEqual(b.Pick(lower.at), convex.Const(lower.value...)))
		}
		if len(upper.at) > 0 {
			set = append(set, convex.GreaterEqual(convex.Const(upper.value...), b.Pick(upper.at)))
		}
		return set
	}
	return &Model{regression.NewModel(data, spec)}, nil
}

// bounds are the finite bounds of one side in the unit of the model.
type bounds struct {
	at    []int
	value []float64
}

// side checks the bounds of one side; sign is that of the allowed ones.
func side(given []float64, name string, sign float64, data *regression.Data) (out bounds, err error) {
	_, p := data.Dims()
	if given == nil {
		return out, nil
	}
	if len(given) != 1 && len(given) != p {
		return out, fmt.Errorf("bounded: %d %s bounds, expected one or %d", len(given), name, p)
	}
	for j := range p {
		v := given[min(j, len(given)-1)]
		if !(sign*v >= 0) {
			return out, fmt.Errorf("bounded: %s bound of %q is %v, which leaves no room for 0", name, data.Features()[j], v)
		}
		if !math.IsInf(v, 0) {
			out.at, out.value = append(out.at, j), append(out.value, v/data.Unit(j))
		}
	}
	return out, nil
}

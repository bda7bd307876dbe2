package regression

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
)

// Options are those of the models; the zero value is the model of the paper. What a model does not take must be left
// out.
type Options struct {
	// Intercept adds a free constant to the model, for each target or class, which is neither penalised nor bounded. Cox
	// has none, whatever this says.
	Intercept bool
	// Standardize brings features to the unit of Scaling and targets to standard deviation 1 over the training
	// rows, and with Intercept targets and dense features to mean 0, and undoes it in the result. Constant columns stay
	// as wide as they are.
	Standardize bool
	// Scaling is the unit of the features; the zero value is that of the table.
	Scaling dataset.Scaling

	// Terms are what is said of single features: for ElasticNet, Lasso, Ridge, BoundedElasticNet, Logistic, Multinomial,
	// Poisson and Cox.
	Terms Terms
	// Groups are those of the features, for GroupLasso and SparseGroupLasso, which keep a reference to them.
	Groups *groups.Groups
	// Gamma is the exponent of the weights of AdaptiveLasso, 0 for 1, and Pilot the model that they come from, one of
	// [Pilots], empty for ridge regression.
	Gamma float64
	Pilot string
	// Order is that of the differences of FusedLasso, 0 for 1, coefficients that are constant in pieces; 2 makes them
	// linear in pieces.
	Order int
	// Threshold is the residual from which on the loss of Huber grows linearly, in the unit of the target; 0 for 1.345 s,
	// with which Huber's estimate has 95 % of the efficiency of least squares on normal errors of standard deviation s.
	// As the errors are not known, s is half the spread of the targets, their median absolute deviation over 0.6745, as
	// if the features explained three quarters of its square; 1 where more than half of the targets are the same.
	Threshold float64
	// Level is the share of targets below the predictions of Quantile, 0 for 1/2, the median.
	Level float64
	// Ties is the rule of Cox for events at one time, breslow or efron, empty for breslow.
	Ties string
	// Label is the name of the class of a value of the target, for Multinomial; nil writes the value.
	Label func(y float64) string
}

// everyModel are the fields that all models take.
var everyModel = []string{"Intercept", "Standardize", "Scaling"}

// check refuses what a model with these further fields does not take.
func (o Options) check(takes []string) error {
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !v.Field(i).IsZero() && !slices.Contains(everyModel, name) && !slices.Contains(takes, name) {
			return fmt.Errorf("the model takes no Options.%s; it takes %s",
				name, strings.Join(slices.Concat(everyModel, takes), ", "))
		}
	}
	return nil
}

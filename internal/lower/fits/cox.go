package fits

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/lower/survival"
)

// CoxOptions say how a Cox regression is trained and validated.
type CoxOptions struct {
	// Ties is the rule for events at one time.
	Ties survival.Ties
	// Grouped has the validation loss be what the validation rows add to the deviance of the training rows; else it is
	// the deviance of the validation rows alone, which have to have an event with others at risk.
	Grouped bool
	// Events is the number of events, or the sum of their weights, that the validation loss is shared out to; 0 means
	// those of the validation rows.
	Events float64
	// Terms are those of single features.
	Terms sparse.Terms
}

// NewCox returns a regression of proportional hazards with the hyperparameters of an elastic net, see [glm.Hazards].
// Times are minus those of censored rows. The validation loss is a deviance for each event: with D(rows) twice the half
// deviance of [survival.Likelihood],
//
//	D(validation) / events,   or grouped   (D(training and validation) - D(training)) / events
//
// (Verweij, van Houwelingen, Statistics in Medicine 12, 1993), which is not convex, as all validation rows are
// compared with the training rows then: such a fit has no subproblems.
func NewCox(train, val Rows, o CoxOptions) (*Net, error) {
	if err := check("Cox regression", train, val); err != nil {
		return nil, err
	}
	if err := val.Check(glm.Hazards{}); err != nil {
		return nil, fmt.Errorf("fits: validation rows of the Cox regression: %w", err)
	}
	own, events := survival.New(val.Y, val.Weights, o.Ties), o.Events
	if !o.Grouped && own.HalfDeviance(make([]float64, len(val.Y))) == 0 {
		return nil, fmt.Errorf("fits: no event of the validation rows of the Cox regression has others at risk")
	}
	if events == 0 {
		events = own.Weight()
	}
	if !(events > 0) {
		return nil, fmt.Errorf("fits: no event in the validation rows of the Cox regression")
	}
	m, err := newNet("Cox regression", glm.Hazards{Ties: o.Ties, Unit: events / 2}, train, val, false, o.Terms, nil, both)
	if err != nil {
		return nil, err
	}
	if o.Grouped {
		m.loss, m.traits.Parts = added(train, val, o.Ties, events), nil
	}
	return m, nil
}

// added is the validation loss that is what rows add to the deviance of others.
func added(train, val Rows, ties survival.Ties, events float64) func(x [][]float64, of []int) (float64, []float64) {
	n, weights := len(train.Y), slices.Concat(weightsOf(train), weightsOf(val))
	plus := glm.Hazards{Ties: ties}.Rows(slices.Concat(train.Y, val.Y))(glm.Counted{Weights: weights})
	minus := glm.Hazards{Ties: ties}.Rows(train.Y)(glm.Counted{Weights: weights[:n]})
	return func(x [][]float64, of []int) (value float64, gradient []float64) {
		f := make([]float64, len(weights))
		pull, less, curve := make([]float64, len(f)), make([]float64, n), make([]float64, len(f))
		for i, r := range []Rows{train, val} {
			g := [][]float64{f[:n], f[n:]}[i]
			if r.X.Mul(g, x[0]); r.Offset != nil {
				floats.Add(g, r.Offset)
			}
		}
		value = plus().Sum(f, pull, curve) - minus().Sum(f[:n], less, curve[:n])
		floats.Sub(pull[:n], less)
		for _, j := range of {
			gradient = append(gradient, -2/events*(train.X.Dot(j, pull[:n])+val.X.Dot(j, pull[n:])))
		}
		return 2 / events * value, gradient
	}
}

// weightsOf are those of rows, ones where they are equal.
func weightsOf(r Rows) []float64 {
	if r.Weights == nil {
		return slices.Repeat([]float64{1}, len(r.Y))
	}
	return r.Weights
}

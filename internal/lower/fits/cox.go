package fits

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
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
	plus := survival.New(slices.Concat(train.Y, val.Y), bothWeights(train, val), ties)
	minus := survival.New(train.Y, train.Weights, ties)
	return func(x [][]float64, of []int) (value float64, gradient []float64) {
		var f []float64
		for _, r := range []Rows{train, val} {
			g := make([]float64, len(r.Y))
			if r.X.Mul(g, x[0]); r.Offset != nil {
				floats.Add(g, r.Offset)
			}
			f = append(f, g...)
		}
		gradient = make([]float64, len(of))
		add := func(l *survival.Likelihood, f []float64, factor float64, to ...*design.Matrix) {
			p := l.At(f, nil)
			value += factor * p.HalfDeviance
			u := make([]float64, len(f))
			p.Slopes(u, make([]float64, len(f)))
			for _, x := range to {
				n := x.Rows()
				for i, j := range of {
					gradient[i] -= factor * x.Dot(j, u[:n])
				}
				u = u[n:]
			}
		}
		add(plus, f, 2/events, train.X, val.X)
		add(minus, f[:len(train.Y)], -2/events, train.X)
		return value, gradient
	}
}

// bothWeights are those of two sets of rows; nil for equal ones.
func bothWeights(a, b Rows) []float64 {
	if a.Weights == nil && b.Weights == nil {
		return nil
	}
	of := func(r Rows) []float64 {
		if r.Weights == nil {
			return slices.Repeat([]float64{1}, len(r.Y))
		}
		return r.Weights
	}
	return slices.Concat(of(a), of(b))
}

package cox

import (
	"context"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Program is the bilevel program. Its variables are the coefficients, with folds those of one after the other.
func (m *Model) Program() dca.Program { return m.program(m.data) }

func (m *Model) program(data *regression.Data) dca.Program {
	p := dca.Program{Name: m.Name(), H0: m.r0, Radii: 2, Path: m.path, PathRise: pathRise}
	if data.Folds() == 1 {
		p.Build = m.level(data, 0, 1)
		return p
	}
	for t := range data.Folds() {
		p.Blocks = append(p.Blocks, m.level(data.Fold(t), t, 1/float64(data.Folds())))
	}
	return p
}

// pathRise is how many points of a path may be worse than the best one before it is left: further down are the fits of many coefficients, which take longest.
const pathRise = 3

// level builds the functions of a split or of fold t, whose losses have a share in the whole.
func (m *Model) level(data *regression.Data, t int, share float64) func(*convex.Model, convex.Affine) dca.Level {
	train, val, _ := data.Rows()
	return func(model *convex.Model, r convex.Affine) dca.Level {
		b := model.Variable("b", len(data.Features()))
		var set []*convex.Constraint
		if of := data.Set(); of != nil {
			set = of(b.Expr())
		}
		return dca.Level{
			Set:        set,
			X:          []*convex.Variable{b},
			Train:      m.halfDeviance(train, b).Scale(share / total(train)),
			Validation: m.halfDeviance(val, b).Scale(share * 2 / m.parts[t].events),
			Constraints: []convex.Convex{
				data.Norm1(b.Expr()).MinusAffine(r.At(0)),
				data.HalfSquares(b.Expr()).MinusAffine(r.At(1)),
			},
		}
	}
}

// total is the sum of the weights of rows.
func total(d *dataset.Data) float64 {
	if d.Weights == nil {
		return float64(len(d.Y))
	}
	return floats.Sum(d.Weights)
}

// rowsOf are rows for a fit.
func rowsOf(d *dataset.Data) fits.Rows {
	r := fits.NewRows(d.X, d.Y)
	r.Weights, r.Offset = d.Weights, d.Offset
	return r
}

// halfDeviance is that of rows among themselves.
func (m *Model) halfDeviance(d *dataset.Data, b *convex.Variable) convex.Convex {
	lists := survival.New(d.Y, d.Weights, m.options.Ties).Lists()
	f := b.Expr().MulMat(d.X)
	if d.Offset != nil {
		f = f.Plus(convex.Const(d.Offset...))
	}
	minus := make([]float64, len(d.Y))
	for k, i := range lists.Event {
		minus[i] = -lists.EventWeight[k]
	}
	out := convex.Linear(f.Dot(minus).Plus(convex.Const(lists.Constant)))
	risks := f.Pick(lists.Row).Plus(convex.Const(lists.Offset...))
	groups := map[float64][][]int{} // by their weight
	for k, group := range lists.Group {
		groups[lists.Weight[k]] = append(groups[lists.Weight[k]], group)
	}
	for _, weight := range slices.Sorted(maps.Keys(groups)) {
		out = out.Plus(convex.LogSumExp(risks, groups[weight]).Sum().Scale(weight))
	}
	return out
}

// Evaluate scores values of the variables by the deviance for each event; with folds without a test error, as none of their fits is the predictor.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	var e problems.Errors
	for t, v := range m.deviances(x) {
		e.Validation += v / m.parts[t].events / float64(len(m.parts))
	}
	if len(m.parts) == 1 {
		e.Test = m.test(m.Fit(x))
	}
	return e
}

// StandardError is that of the validation error: by the spread of the folds, of which those of further deals do not count, and of a split by that of the events.
func (m *Model) StandardError(x [][]float64) float64 {
	if len(m.parts) == 1 {
		p := m.parts[0]
		losses, weights := p.plus.At(values(p.Val, m.Fit(x)), nil).EventLosses()
		return 2 * regression.StandardError(losses, weights, len(losses))
	}
	list := m.deviances(x)
	for t := range list {
		list[t] /= m.parts[t].events
	}
	return stat.StdDev(list, nil) / math.Sqrt(float64(len(list))/math.Max(1, m.deals))
}

// test is the deviance of a predictor on the test rows for each event, nil where there are none or where nobody else is at risk at the events.
func (m *Model) test(f problems.Fit) *float64 {
	if m.tests == nil {
		return nil
	}
	e := 2 * m.tests.HalfDeviance(values(m.user.Tests(), f)) / m.tests.Weight()
	return &e
}

// whole is the program of all rows as a [problems.Trainer] wants it.
func (m *Model) whole(ctx context.Context, s problems.Solver, gap float64) (dca.Program, func(x [][]float64) problems.Fit, error) {
	all, err := m.data.All(ctx)
	if err != nil {
		return dca.Program{}, nil, err
	}
	p, of := m.program(all), func(x [][]float64) problems.Fit { return m.fit(all, x) }
	if !s.Fits {
		return p, of, nil
	}
	train, _, _ := all.Rows()
	fit, err := fits.NewCox(rowsOf(train), rowsOf(train), fits.CoxOptions{Ties: m.options.Ties, Terms: m.data.Terms()}) // nothing is chosen by it
	if err != nil {
		return p, of, err
	}
	p.Fit = lower.NewChain(fit, gap)
	return p, of, nil
}

// PaperSettings are those of the paper for the elastic net.
func (m *Model) PaperSettings() dca.Settings { return regression.PaperSettings() }

// DefaultSettings start from a path and close the lower-level gap.
func (m *Model) DefaultSettings() dca.Settings {
	return regression.Closing(m.PaperSettings(), len(m.path) > 0)
}

package multinomial

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// Program is the bilevel program. Its variables are B row by row and, with an intercept, that of each class, with folds those of one after the other.
func (m *Model) Program() dca.Program { return m.program(m.data) }

func (m *Model) program(data *regression.Data) dca.Program {
	p := dca.Program{Name: m.Name(), H0: m.r0, Radii: 2, Path: m.path}
	p.Outline = func(model *convex.Model, r convex.Affine) dca.Level {
		var all dca.Level
		for range data.Folds() {
			part := m.outline(data, model, r)
			all.X, all.Constraints = append(all.X, part.X...), append(all.Constraints, part.Constraints...)
		}
		return all
	}
	if data.Folds() == 1 {
		p.Build = m.level(data, 1)
		return p
	}
	for t := range data.Folds() {
		p.Blocks = append(p.Blocks, m.level(data.Fold(t), 1/float64(data.Folds())))
	}
	return p
}

// level builds the functions of a split or of a fold, whose losses have a share in the whole.
func (m *Model) level(data *regression.Data, share float64) func(*convex.Model, convex.Affine) dca.Level {
	train, val, intercept := data.Rows()
	return func(model *convex.Model, r convex.Affine) dca.Level {
		level := m.outline(data, model, r)
		level.Set = m.set(data, level.X[0].Expr())
		if intercept {
			level.Set = append(level.Set, convex.Equal(level.X[1].Expr().Sum(), convex.Const(0)))
		}
		level.Train, level.Validation = m.loss(train, level.X).Scale(share), m.loss(val, level.X).Scale(share)
		return level
	}
}

// outline builds the variables and penalties of a split or of a fold.
func (m *Model) outline(data *regression.Data, model *convex.Model, r convex.Affine) dca.Level {
	k := len(m.classes)
	b := model.Variable("B", len(data.Features())*k)
	level := dca.Level{
		X: []*convex.Variable{b},
	}
	one, two := convex.Norm1(b.Expr()), convex.SumSquares(b.Expr()).Scale(0.5)
	if data.Terms().Factors != nil {
		for c := range k {
			if own := m.ofClass(data, b.Expr(), c); c == 0 {
				one, two = data.Norm1(own), data.HalfSquares(own)
			} else {
				one, two = one.Plus(data.Norm1(own)), two.Plus(data.HalfSquares(own))
			}
		}
	}
	level.Constraints = []convex.Convex{one.MinusAffine(r.At(0)), two.MinusAffine(r.At(1))}
	if m.options.Intercept {
		level.X = append(level.X, model.Variable("c", k))
	}
	return level
}

// ofClass are the coefficients of a class.
func (m *Model) ofClass(data *regression.Data, b convex.Affine, c int) convex.Affine {
	at := make([]int, len(data.Features()))
	for j := range at {
		at[j] = j*len(m.classes) + c
	}
	return b.Pick(at)
}

// set are the bounds of coefficients, and that those of a feature without a penalty add up to 0 over the classes where it has none, which nothing else determines.
func (m *Model) set(data *regression.Data, b convex.Affine) (out []*convex.Constraint) {
	if of := data.Set(); of != nil {
		for c := range m.classes {
			out = append(out, of(m.ofClass(data, b, c))...)
		}
	}
	t := data.Terms()
	for j, f := range t.Factors {
		if f > 0 || t.Lower != nil && !math.IsInf(t.Lower[j], -1) || t.Upper != nil && !math.IsInf(t.Upper[j], 1) {
			continue
		}
		k := len(m.classes)
		out = append(out, convex.Equal(b.Slice(j*k, (j+1)*k).Sum(), convex.Const(0)))
	}
	return out
}

// loss is the mean one of rows, by their weights.
func (m *Model) loss(d *dataset.Data, x []*convex.Variable) convex.Convex {
	n, p := d.Dims()
	k := len(m.classes)
	weights, total := []float64(nil), floats.Sum(d.Weights)
	if d.Weights != nil {
		weights = make([]float64, n)
		floats.AddScaled(weights, 1/total, d.Weights)
	}
	var values []convex.Affine // one class after the other
	own := convex.Const(0)
	for c := range k {
		column, is := make([]int, p), make([]float64, n)
		for j := range column {
			column[j] = j*k + c
		}
		f := x[0].Expr().Pick(column).MulMat(d.X)
		if len(x) > 1 {
			f = f.Plus(x[1].Expr().At(c))
		}
		for i, y := range d.Y {
			if int(y) == c {
				if is[i] = -1 / float64(n); d.Weights != nil {
					is[i] = -d.Weights[i] / total
				}
			}
		}
		values, own = append(values, f), own.Plus(f.Dot(is))
	}
	groups := make([][]int, n)
	for i := range groups {
		for c := range k {
			groups[i] = append(groups[i], c*n+i)
		}
	}
	losses := convex.LogSumExp(convex.Stack(values...), groups)
	if weights != nil {
		return losses.Dot(weights).PlusAffine(own)
	}
	return losses.Sum().Scale(1 / float64(n)).PlusAffine(own)
}

// Evaluate scores values of the variables by the mean loss; with folds by the mean of theirs, and without a test error, as none of their fits is the predictor.
func (m *Model) Evaluate(x [][]float64) problems.Errors {
	var e problems.Errors
	for t, part := range m.user.Parts() {
		e.Validation += part.Val.Mean(m.losses(part.Val, m.fold(x, t))) / float64(m.data.Folds())
	}
	if m.data.Folds() == 1 {
		e.Test = m.test(m.Fit(x))
	}
	return e
}

// StandardError is that of the validation error, in which a row that several deals validate counts once.
func (m *Model) StandardError(x [][]float64) float64 {
	var losses, weights []float64
	for t, part := range m.user.Parts() {
		losses, weights = append(losses, m.losses(part.Val, m.fold(x, t))...), append(weights, part.Val.Weights...)
	}
	n := len(losses)
	if m.data.Folds() > 1 {
		n = min(n, len(m.user.Table().Y))
	}
	return regression.StandardError(losses, weights, n)
}

// test is the mean loss of a predictor on the test rows, nil where there are none.
func (m *Model) test(f problems.Fit) *float64 {
	rows := m.user.Tests()
	if rows == nil {
		return nil
	}
	e := rows.Mean(m.losses(rows, f))
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
	fit, err := m.fits(all)
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

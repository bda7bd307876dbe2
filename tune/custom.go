package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems"
)

// Custom is a [problems.Model] made of a bilevel program that the user writes with the atoms of package convex. Only
// Bilevel is needed, whose losses are best means over rows. By default VF-iDCA finds its own start, on a line between h
// that hold nothing back and h that hold back all and by a compass search from there, closes the gap from it, and the
// result says which hyperparameters are at an end of their range.
type Custom struct {
	// Bilevel is the program, see [dca.Program]; its Name is the model's.
	Bilevel dca.Program
	// Hyperparameters are the names of the entries of h; nil means h1, h2, ..
	Hyperparameters []string
	// Score returns the errors of values of the lower-level variables. Nil means the program's own
	// Validation at H0, and no test error.
	Score func(x [][]float64) problems.Errors
	// Predictor turns values of the lower-level variables into a linear predictor. Nil means that the first
	// variable holds its coefficients, without names.
	Predictor func(x [][]float64) problems.Fit
	// Says is the advice of the model; the zero value says nothing.
	Says problems.Advice
	// Common, optional, gives a program whose h are radii a ladder of rungs from few weights to many, see [Rung]. Its rows
	// are the kinds of the penalties, one or two: on the first rung P_i has the weight lambda_i = sum_k w_k Common[k][i].
	// Entries are 1 for coefficients, roots of sizes for norms of groups, and 0 for penalties of the other kind; the first
	// of two kinds is the one that selects more. On the rungs above they are times a power of P_i(x) / Common[k][i], the
	// size in the pilot x, of each block its own. Says.Losses are needed for it. Says.Compare and Says.Used stand in the
	// place of equal losses and of the number of the predictor's coefficients; Says.RetrainWeighted trains on all rows,
	// with the geometric means over the blocks of the weights. Says.Fit and Says.Together are not of rungs, which are
	// conic programs.
	Common [][]float64
}

var _ problems.Model = Custom{}

// Name is the program's.
func (c Custom) Name() string { return c.Bilevel.Name }

// Program is the bilevel program, with numbers for H0.
func (c Custom) Program() dca.Program { return c.Bilevel.Started() }

// Names are the names of the hyperparameters.
func (c Custom) Names() []string {
	if c.Hyperparameters != nil {
		return c.Hyperparameters
	}
	names := make([]string, len(c.Program().H0))
	for j := range names {
		names[j] = fmt.Sprintf("h%d", j+1)
	}
	return names
}

// Evaluate is Score.
func (c Custom) Evaluate(x [][]float64) problems.Errors {
	if c.Score != nil {
		return c.Score(x)
	}
	p := c.Program()
	v, err := p.ValidationAt(x)
	if err != nil {
		v = math.NaN() // which no run selects
	}
	return problems.Errors{Validation: v}
}

// Fit is Predictor.
func (c Custom) Fit(x [][]float64) problems.Fit {
	if c.Predictor != nil {
		return c.Predictor(x)
	}
	return problems.Fit{Coefficients: x[0]}
}

// Advice is Says, with the ladder that Common makes, and the gradient of conic programs where there is no fit.
func (c Custom) Advice() problems.Advice {
	a := c.Says
	if a.Fit == nil && a.Modes == nil {
		a.Modes = []lower.Mode{lower.Adjoint, lower.Forward}
	}
	if c.Common != nil {
		a.Ladder = c.ladder
	}
	return a
}

// ladder are the rungs, each the program with its penalties tied, by factors for each block.
func (c Custom) ladder() []problems.Rung {
	blocks := max(1, len(c.Bilevel.Blocks))
	common := func() (problems.Model, error) {
		switch n := len(c.Common); {
		case n == 0 || n > compassMost:
			return nil, fmt.Errorf("tune: %s: Custom.Common has %d rows, expected one or two", c.Name(), n)
		case c.Says.Retrain != nil && c.Says.RetrainWeighted == nil:
			return nil, fmt.Errorf("tune: %s: Says.Retrain is for radii, but rungs choose weights: "+
				"Custom.Common wants Says.RetrainWeighted, too", c.Name())
		}
		return c.rung(slices.Repeat([][][]float64{c.Common}, blocks))
	}
	adaptive := func(_ problems.Model, gamma float64, _ []float64, x [][]float64) (problems.Model, error) {
		factors := make([][][]float64, blocks)
		for t, each := 0, len(x)/blocks; t < blocks; t++ {
			block := c.Bilevel.Block(t)
			penalties, err := block.Penalties(x[t*each:(t+1)*each], nil)
			if err != nil {
				return nil, err
			}
			for _, f := range c.Common {
				factors[t] = append(factors[t], adapted(f, penalties, gamma))
			}
		}
		return c.rung(factors)
	}
	return problems.AdaptiveRungs(common, adaptive)
}

// adapted are factors times the powers of what a pilot has of their penalties.
func adapted(factors, penalties []float64, gamma float64) []float64 {
	sizes := make([]float64, len(factors))
	for i, f := range factors {
		if f > 0 {
			sizes[i] = penalties[i] / f
		}
	}
	return floats.MulTo(sizes, factors, problems.Powers(sizes, gamma, problems.PilotFloor))
}

// rung is the model with the factors of each block.
func (c Custom) rung(factors [][][]float64) (problems.Model, error) {
	tied, err := c.Bilevel.Tied(factors)
	if err != nil {
		return nil, err
	}
	spread := func(w []float64) (lambda, upper []float64) { // geometric means
		lambda = make([]float64, c.Bilevel.Radii)
		for i := range lambda {
			for _, rows := range factors {
				v := 0.0
				for k, f := range rows {
					v += w[k] * f[i]
				}
				lambda[i] += math.Log(v) / float64(len(factors))
			}
			lambda[i] = math.Exp(lambda[i])
		}
		return lambda, nil
	}
	a := problems.Advice{
		Rows: c.Says.Rows, Features: c.Says.Features, Folds: c.Says.Folds, Predicts: c.Says.Predicts,
		Separable: c.Says.Separable, Score: c.Says.Score, StandardError: c.Says.StandardError, Columns: c.Says.Columns,
		Losses: c.Says.Losses, Compare: c.Says.Compare, Used: c.Says.Used, TestError: c.Says.TestError, Spread: spread,
	}
	if a.Compare == nil {
		a.Compare = func(a, b []float64) (mean, se float64) { return problems.Compare(a, b, nil, len(a)) }
	}
	if a.Used == nil {
		a.Used = func(x [][]float64) float64 {
			b := c.Fit(x).Coefficients
			return float64(len(b) - len(negligible(0, b)))
		}
	}
	if train := c.Says.RetrainWeighted; train != nil {
		a.RetrainWeighted = func(ctx context.Context, s problems.Solver, w []float64) (problems.Fit, *float64, error) {
			lambda, _ := spread(w)
			return train(ctx, s, lambda)
		}
		a.Retrain = a.RetrainWeighted // rungs choose weights
	}
	return Custom{Bilevel: tied, Score: c.Evaluate, Predictor: c.Fit, Says: a}, nil
}

// PaperSettings are those of package dca.
func (c Custom) PaperSettings() dca.Settings { return dca.Settings{} }

// DefaultSettings find a start and close the gap.
func (c Custom) DefaultSettings() dca.Settings { return dca.Settings{GapTol: 1e-4, PathStart: true} }

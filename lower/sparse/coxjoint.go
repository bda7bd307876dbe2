package sparse

import (
	"context"
	"fmt"

	"github.com/conetune/conetune/lower/survival"
)

// Joint adds validation rows, whose loss is their half deviance divided by n, with their weights as they are.
func (g *Cox) Joint(val Sample, ties survival.Ties, n float64) (*HessianJoint, error) {
	m, err := rowsOf(val, "times")
	if err != nil {
		return nil, err
	}
	if err := survival.Check(val.Y); err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	if p := val.X.Columns(); p != g.x.Columns() || !(n > 0) {
		return nil, fmt.Errorf("sparse: %d validation rows of %d features, shared out to %g, expected %d features and a positive number", m, p, n, g.x.Columns())
	}
	rows := &Cox{x: val.X, risk: survival.Weighted(val.Y, val.Weights, ties), offset: val.Offset, n: n, terms: g.terms}
	return &HessianJoint{sets: [2]rowSet{rows, g}, p: g.x.Columns(), k: 1, terms: g.terms}, nil
}

func (g *Cox) loss(x [][]float64) float64 { return g.begin(0, 0, &CoxSolution{B: x[0]}).loss }

func (g *Cox) look(x [][]float64) looked {
	s := g.begin(0, 0, &CoxSolution{B: x[0]})
	s.look()
	return s
}

func (g *Cox) bound(x [][]float64, w1, w2 float64) float64 {
	s := g.begin(w1, w2, &CoxSolution{B: x[0]})
	s.look()
	return s.dual()
}

func (s *coxSolve) value() float64 { return s.loss }

func (s *coxSolve) coefficient(e entry) float64 { return s.b[e.feature] }

func (s *coxSolve) descent(e entry) float64 { return s.c[e.feature] }

func (s *coxSolve) second(ctx context.Context, set []entry) []float64 {
	return s.curvatures(ctx, s.point, s.a, featuresOf(set))
}

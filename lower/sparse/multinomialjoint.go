package sparse

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/design"
)

// Joint adds validation rows, which may lack a class.
func (g *Multinomial) Joint(val Classed) (*HessianJoint, error) {
	x, class := val.X, val.Class
	m, p := x.Dims()
	if p != g.x.Columns() || len(class) != m || m == 0 {
		return nil, fmt.Errorf("sparse: %d validation rows of %d features with %d classes, expected %d features and a class for each row", m, p, len(class), g.x.Columns())
	}
	for i, k := range class {
		if k < 0 || k >= g.k {
			return nil, fmt.Errorf("sparse: class of validation row %d is %d, expected 0 to %d", i, k, g.k-1)
		}
	}
	if err := val.check(); err != nil {
		return nil, err
	}
	rows := &Multinomial{x: x, class: class, weight: meanOne(val.Weights), k: g.k, intercept: g.intercept, terms: g.terms}
	return &HessianJoint{sets: [2]rowSet{rows, g}, p: p, k: g.k, intercept: g.intercept, terms: g.terms}, nil
}

// at is a solve at a point, with probabilities and loss.
func (g *Multinomial) at(x [][]float64) *multinomialSolve {
	start := &MultinomialSolution{B: x[0]}
	if len(x) > 1 {
		start.B0 = x[1]
	}
	s := g.begin(0, 0, start)
	s.probabilities()
	return s
}

func (g *Multinomial) loss(x [][]float64) float64 { return g.at(x).loss }

func (g *Multinomial) look(x [][]float64) looked {
	s := g.at(x)
	s.slopes()
	return s
}

// bound is at the best intercepts.
func (g *Multinomial) bound(x [][]float64, w1, w2 float64) float64 {
	start := &MultinomialSolution{B: x[0]}
	if len(x) > 1 {
		start.B0 = x[1]
	}
	s := g.begin(w1, w2, start)
	s.look()
	return s.dual()
}

func (s *multinomialSolve) value() float64 { return s.loss }

func (s *multinomialSolve) second(ctx context.Context, set []entry) []float64 {
	s.set = set
	return s.curvatures(ctx)
}

// descent is minus the derivative of the loss in an entry.
func (s *multinomialSolve) descent(e entry) float64 {
	if e.feature == design.Ones {
		return floats.Sum(s.u[e.class]) / s.n
	}
	return s.c[e.feature*s.k+e.class]
}

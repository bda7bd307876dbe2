package sparse

import (
	"context"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/survival"
)

func Squares(s Sample, intercept bool, t Terms) (*Fit, error) { return New(nil, s, intercept, t, nil) }

func Logistic(s Sample, intercept bool, t Terms) (*Fit, error) {
	return New(glm.Logistic{}, s, intercept, t, nil)
}

func Poisson(s Sample, intercept bool, t Terms) (*Fit, error) {
	return New(glm.Poisson{}, s, intercept, t, nil)
}

func Cox(s Sample, ties survival.Ties, t Terms) (*Fit, error) {
	return New(glm.Hazards{Ties: ties}, s, false, t, nil)
}

func Multinomial(s Sample, classes int, intercept bool, t Terms) (*Fit, error) {
	return New(glm.Multinomial{Classes: classes}, s, intercept, t, nil)
}

func Groups(s Sample, intercept bool, members [][]int) (*Fit, error) {
	return New(nil, s, intercept, Terms{}, members)
}

// solve solves at the weights w1 and w2.
func (g *Fit) solve(ctx context.Context, w1, w2, tol float64, start *Solution) (*Solution, error) {
	w, err := g.weights(w1, w2)
	if err != nil {
		return nil, err
	}
	return g.Solve(ctx, w, tol, start)
}

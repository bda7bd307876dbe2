package lower

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/stop"
)

// Chain solves a fit at one lambda after the other, each from the point before or, where the fit knows it, from the
// best of the last ones. It is for one goroutine at a time; several chains may share a fit.
type Chain struct {
	fit    Fit
	tol    float64
	last   *Point
	traits Traits
	points []*Point // for its start, at most keptPoints
}

// keptPoints and keptNumbers bound the memory for points to start from, of which two are kept at least.
const keptPoints, keptNumbers = 64, 1 << 24

// NewChain solves to the relative gap tol.
func NewChain(fit Fit, tol float64) *Chain {
	return &Chain{fit: fit, tol: tol, traits: fit.Traits()}
}

// Fit is the fit.
func (c *Chain) Fit() Fit { return c.fit }

// Traits are those of the fit.
func (c *Chain) Traits() Traits { return c.traits }

// Fresh returns a chain of the same fit that begins afresh, nil for nil.
func (c *Chain) Fresh() *Chain {
	if c == nil {
		return nil
	}
	return &Chain{fit: c.fit, tol: c.tol, traits: c.traits}
}

// Solve solves the penalised form. A point that is not solved is returned, but none starts from it.
func (c *Chain) Solve(ctx context.Context, lambda []float64) (*Point, error) {
	return c.SolveTo(ctx, lambda, c.tol)
}

// SolveTo is Solve to another relative gap.
func (c *Chain) SolveTo(ctx context.Context, lambda []float64, tol float64) (*Point, error) {
	start := c.last
	if len(c.points) > 0 {
		start = c.traits.Start(lambda, c.points)
	}
	pt, err := SolveUntil(ctx, c.fit, lambda, tol, start)
	if err != nil || !pt.Solved {
		return pt, err
	}
	c.last = pt
	if c.traits.Start != nil {
		size := 1
		for _, x := range pt.X {
			size += len(x)
		}
		if most := max(2, min(keptPoints, keptNumbers/size)); len(c.points) >= most {
			c.points = slices.Delete(c.points, 0, len(c.points)-most+1)
		}
		c.points = append(c.points, pt)
	}
	return pt, nil
}

// SolveUntil is [Fit.Solve], which is left to itself where it takes more than a moment to notice that its context has
// ended: the point then is not solved.
func SolveUntil(ctx context.Context, fit Fit, lambda []float64, tol float64, start *Point) (*Point, error) {
	lambda = slices.Clone(lambda)
	return stop.Do(ctx, &Point{Lambda: lambda, Gap: math.Inf(1)}, func() (*Point, error) {
		return fit.Solve(ctx, lambda,
			tol, start)
	})
}

// Forget makes the next solve independent of those before.
func (c *Chain) Forget() { c.last, c.points = nil, nil }

// Package warm starts fits from the points that they have solved before.
package warm

import (
	"context"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
)

// Chain solves a fit at one lambda after the other, each from the point before or, where the fit knows it, from the
// best of the last ones. It is for one goroutine at a time; several chains may share a fit.
type Chain struct {
	fit    lower.Fit
	last   *lower.Point
	traits lower.Traits
	points []*lower.Point // for its start, at most keptPoints
}

// keptPoints and keptNumbers bound the memory for points to start from, of which two are kept at least.
const keptPoints, keptNumbers = 64, 1 << 24

// NewChain begins a chain of a fit.
func NewChain(fit lower.Fit) *Chain { return &Chain{fit: fit, traits: fit.Traits()} }

// Solve solves the penalised form to a relative gap. A point that is not solved is returned, but none starts from it.
func (c *Chain) Solve(ctx context.Context, lambda []float64, tol float64) (*lower.Point, error) {
	start := c.last
	if len(c.points) > 0 {
		start = c.traits.Start(lambda, c.points)
	}
	pt, err := Solve(ctx, c.fit, lambda, tol, start)
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

// Solve is [lower.Fit.Solve], which is left to itself where it takes more than a moment to notice that its context has
// ended: the point then is not solved.
func Solve(ctx context.Context, fit lower.Fit, lambda []float64, tol float64, start *lower.Point) (*lower.Point,
	error) {
	lambda = slices.Clone(lambda)
	return stop.Do(ctx, &lower.Point{Lambda: lambda, Gap: math.Inf(1)}, func() (*lower.Point, error) {
		return fit.Solve(ctx, lambda, tol, start)
	})
}

// Forget makes the next solve independent of those before.
func (c *Chain) Forget() { c.last, c.points = nil, nil }

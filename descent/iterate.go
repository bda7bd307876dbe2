package descent

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// iterate is a point of a problem over a regression's coefficients, and its residual.
type iterate struct {
	*Regression
	n float64
	b []float64
	// The residual is r + off: with an intercept, centring would fill sparse columns, so their
	// constant part is kept apart. Its mean is always 0.
	r   []float64
	off float64

	// Loops whose rounds are long look at stop before each of them, others tell it of their work. What they leave undone is never looked at:
	// the outer iterations look again before they take anything for an answer.
	ctx  context.Context
	stop stop.Stop
}

// begin arms stop.
func (s *iterate) begin(ctx context.Context) {
	s.ctx = ctx
	s.stop.Begin(ctx, 0)
}

func newIterate(g *Regression) iterate {
	n, p := g.x.Dims()
	return iterate{Regression: g, n: float64(n), b: make([]float64, p), r: make([]float64, n)}
}

// residual computes r = y - X b afresh.
func (s *iterate) residual() {
	copy(s.r, s.y)
	s.off = 0
	for j, v := range s.b {
		if v != 0 {
			s.move(j, -v)
		}
	}
	s.fold()
}

// fold adds the constant part to the residual.
func (s *iterate) fold() {
	if s.off != 0 {
		floats.AddConst(s.off, s.r)
		s.off = 0
	}
}

// move adds d times the (centred) column j to the residual.
func (s *iterate) move(j int, d float64) {
	s.x.axpy(d, j, s.r)
	if s.mean != nil {
		s.off -= d * s.mean[j]
	}
}

// correlation is x_j'u / n for the residual u = r + off.
func (s *iterate) correlation(j int, r []float64, off float64) float64 {
	c := s.x.dot(j, r) / s.n
	if off != 0 {
		c += off * s.mean[j]
	}
	return c
}

// loss is |r + off|^2 / (2n), where r + off has mean 0: |r + off|^2 = |r|^2 - n off^2.
func (s *iterate) loss(r []float64, off float64) float64 {
	return floats.Dot(r, r)/(2*s.n) - off*off/2
}

// solution is the iterate as the outcome of a solve, whose other numbers the caller fills in.
func (s *iterate) solution() *Solution {
	s.fold()
	out := &Solution{B: s.b, B0: s.yMean, Residual: s.r}
	for j, v := range s.b {
		if v != 0 {
			out.Support = append(out.Support, j)
			if s.mean != nil {
				out.B0 -= s.mean[j] * v
			}
		}
	}
	return out
}

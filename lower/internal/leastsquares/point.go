package leastsquares

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// Point is coefficients on the way to a solution, and their residual.
type Point struct {
	*Data
	N float64 // rows
	B []float64
	// The residual is R + Off: with an intercept, centring would fill sparse columns, so their
	// constant part is kept apart. Its mean is always 0.
	R   []float64
	Off float64

	// Loops whose rounds are long look at Stop before each of them, others tell it of their work. What they leave undone is never looked at:
	// the outer iterations look again before they take anything for an answer.
	Ctx  context.Context
	Stop stop.Stop
}

// NewPoint has zero coefficients, and room for the residual.
func NewPoint(g *Data) Point {
	n, p := g.X.Dims()
	return Point{Data: g, N: float64(n), B: make([]float64, p), R: make([]float64, n)}
}

// Begin arms Stop.
func (s *Point) Begin(ctx context.Context) {
	s.Ctx = ctx
	s.Stop.Begin(ctx, 0)
}

// Residual computes R = y - X b afresh.
func (s *Point) Residual() {
	copy(s.R, s.Y)
	s.Off = 0
	for j, v := range s.B {
		if v != 0 {
			s.Move(j, -v)
		}
	}
	s.Fold()
	if s.Mean != nil { // a column far from 0 has a mean whose rounding is large beside its deviations
		floats.AddConst(-floats.Sum(s.R)/s.N, s.R)
	}
}

// Fold adds the constant part to the residual.
func (s *Point) Fold() {
	if s.Off != 0 {
		floats.AddConst(s.Off, s.R)
		s.Off = 0
	}
}

// Move adds d times the (centred) column j to the residual.
func (s *Point) Move(j int, d float64) {
	s.X.Axpy(d, j, s.R)
	if s.Mean != nil {
		s.Off -= d * s.Mean[j]
	}
}

// Correlation is x_j'u / n for the residual u = r + off.
func (s *Point) Correlation(j int, r []float64, off float64) float64 {
	c := s.X.Dot(j, r) / s.N
	if off != 0 {
		c += off * s.Mean[j]
	}
	return c
}

// Loss is |r + off|^2 / (2n), where r + off has mean 0: |r + off|^2 = |r|^2 - n off^2.
func (s *Point) Loss(r []float64, off float64) float64 {
	return floats.Dot(r, r)/(2*s.N) - off*off/2
}

// Solution folds the residual and returns the intercept, 0 where there is none, and the indices of the coefficients that are not zero, rising.
func (s *Point) Solution() (b0 float64, support []int) {
	s.Fold()
	b0 = s.YMean
	for j, v := range s.B {
		if v != 0 {
			support = append(support, j)
			if s.Mean != nil {
				b0 -= s.Mean[j] * v
			}
		}
	}
	return b0, support
}

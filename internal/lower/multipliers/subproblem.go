package multipliers

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/bilevel"
)

// Subproblem solves the subproblems of an iteration, each time from the multipliers of the one before. It is for one
// goroutine at a time.
type Subproblem struct {
	*program
	alpha float64 // of the solve before
}

// NewSubproblem takes the fits of the parts, which have the same penalties. So many parts at most are solved at once.
func NewSubproblem(fits []bilevel.Joint, workers int) *Subproblem {
	return &Subproblem{program: newProgram(fits, workers, false)}
}

// Solve is a [bilevel.Subproblem].
func (s *Subproblem) Solve(ctx context.Context, c *bilevel.Centre) (*bilevel.Subsolution, error) {
	s.c = c
	from := state{x: c.X, r: c.R}
	for t, x := range c.X {
		from.values = append(from.values, s.fits[t].Values(x))
	}
	if s.m == nil {
		s.m = s.first()
	} else {
		floats.Scale(c.Alpha/s.alpha, s.m)
	}
	s.alpha = c.Alpha
	out, err := s.solve(ctx, from, make([]float64, len(s.m)), c.Alpha)
	if out == nil || err != nil {
		return &bilevel.Subsolution{Gap: math.Inf(1), Fits: s.count}, err
	}
	return &bilevel.Subsolution{X: out.x, R: out.r, M0: out.m[0], M: s.split(out.m), Objective: out.merit, Gap: out.gap,
		Solved: out.solved, Fits: s.count}, nil
}

// split are the multipliers of the penalties of each part.
func (s *Subproblem) split(m []float64) (of [][]float64) {
	for t := range s.fits {
		of = append(of, slices.Clone(s.of(t, m)))
	}
	return of
}

// first are the multipliers of a penalty so large that the lower level's solution is the subproblem's.
func (s *Subproblem) first() []float64 {
	m := make([]float64, 1+len(s.fits)*s.dims)
	m[0] = s.c.Alpha / (1 + floats.Sum(s.c.Gamma))
	for t := range s.fits {
		for j, g := range s.c.Gamma {
			s.of(t, m)[j] = m[0] * g / float64(len(s.fits))
		}
	}
	return m
}

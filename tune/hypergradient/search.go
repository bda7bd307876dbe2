package hypergradient

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Scale is what a method takes its steps in.
type Scale string

// The scales.
const (
	// Log is the logarithm of lambda.
	Log Scale = "log"
	// Plain is lambda itself, kept positive.
	Plain Scale = "plain"
)

// Status says how a search ended.
type Status string

// The ways in which a search ends.
const (
	// Stationary: the hypergradient vanishes, or steps and progress became as small as asked for.
	Stationary Status = "stationary"
	// IterationLimit: Settings.MaxIter iterations were done.
	IterationLimit Status = "iteration limit"
	// Cancelled: the context ended.
	Cancelled Status = "cancelled"
	// LowerFailed: a lower level could not be solved to the tolerance.
	LowerFailed Status = "lower level not solved"
)

// Settings of a search; zeros ask for the defaults of the method.
type Settings struct {
	// Start are the hyperparameters to begin with, all positive: one for each, or one for all. Nil asks
	// for 0.01 times [Model.LambdaMax].
	Start []float64
	// Scale is Log by default.
	Scale Scale
	// Mode is that of the hypergradient: Forward for IFDM, Adjoint for the others.
	Mode Mode
	// MaxIter bounds the steps. Default 100; 50 for IFDM.
	MaxIter int
	// Tol ends the search when an iteration lowers the validation loss by less than this share of it, several times in a
	// row, and when the hypergradient in the logarithms is below this share of the loss. Default 1e-5.
	Tol float64
	// LowerTol is the accuracy of the lower levels, as in [Model.Solve]. Default 1e-10.
	LowerTol float64
	// Observe, if not nil, is called for each lower-level solution, in order.
	Observe func(Step)
}

// Step is one lower-level solution that a search looked at.
type Step struct {
	*Point
	// K counts the solutions from 1, Iteration the steps taken so far.
	K, Iteration int
	// Accepted says that the search went on from here.
	Accepted bool
}

// Result is the outcome of a search.
type Result struct {
	Status Status
	// Best is the lower-level solution with the least validation loss.
	Best *Point
	// Iterations counts the steps, Solves the lower levels.
	Iterations, Solves int
}

func (s Settings) withDefaults(m Model) (Settings, error) {
	if s.Scale == "" {
		s.Scale = Log
	}
	if s.Scale != Log && s.Scale != Plain {
		return s, fmt.Errorf("hypergradient: unknown scale %q, expected %s or %s", s.Scale, Log, Plain)
	}
	if s.Mode != "" && s.Mode != Adjoint && s.Mode != Forward {
		return s, fmt.Errorf("hypergradient: unknown mode %q, expected %s or %s", s.Mode, Adjoint, Forward)
	}
	for name, v := range map[string]float64{"Tol": s.Tol, "LowerTol": s.LowerTol, "MaxIter": float64(s.MaxIter)} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return s, fmt.Errorf("hypergradient: %s is %g, expected a finite number that is not negative", name, v)
		}
	}
	if s.MaxIter == 0 {
		s.MaxIter = 100
	}
	if s.Tol == 0 {
		s.Tol = 1e-5
	}
	if s.LowerTol == 0 {
		s.LowerTol = 1e-10
	}
	if s.Start == nil {
		top := m.LambdaMax()
		if !(top > 0) {
			return s, fmt.Errorf("hypergradient: the training rows tell nothing about the coefficients: all of them vanish for every lambda")
		}
		s.Start = []float64{0.01 * top}
	}
	if len(s.Start) != 1 && len(s.Start) != m.Dim() {
		return s, fmt.Errorf("hypergradient: %d hyperparameters to start from, expected one or %d", len(s.Start), m.Dim())
	}
	for i, v := range s.Start {
		if !(v > 0) || math.IsInf(v, 1) {
			return s, fmt.Errorf("hypergradient: hyperparameter %d of the start is %g, expected a positive finite number", i+1, v)
		}
	}
	if len(s.Start) < m.Dim() {
		s.Start = slices.Repeat(s.Start, m.Dim())
	}
	return s, nil
}

// search is a run of any of the methods.
type search struct {
	Settings
	model Model
	out   Result
}

// solve solves the lower level at lambda and keeps it if it is the best. A nil point means that
// the search has to end; the status says why.
func (s *search) solve(ctx context.Context, lambda []float64, tol float64, start *Point) (*Point, error) {
	if ctx.Err() != nil {
		s.out.Status = Cancelled
		return nil, nil
	}
	pt, err := s.model.Solve(ctx, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	if !pt.Solved {
		s.out.Status = LowerFailed
		if ctx.Err() != nil {
			s.out.Status = Cancelled
		}
		return nil, nil
	}
	s.out.Solves++
	if s.out.Best == nil || pt.Validation < s.out.Best.Validation {
		s.out.Best = pt
	}
	return pt, nil
}

func (s *search) observe(pt *Point, accepted bool) {
	if s.Observe != nil {
		s.Observe(Step{Point: pt, K: s.out.Solves, Iteration: s.out.Iterations, Accepted: accepted})
	}
}

// gradient is the hypergradient in the scale of the search.
func (s *search) gradient(ctx context.Context, at *Point, tol float64) ([]float64, error) {
	g, err := s.model.Gradient(ctx, at, GradientOptions{Mode: s.Mode, Tol: tol})
	if err == nil && s.Scale == Log {
		floats.Mul(g, at.Lambda) // df/dlog(lambda) = lambda df/dlambda
	}
	return g, err
}

// floorShare of the start and of LambdaMax is the least value of a hyperparameter.
const floorShare = 1e-8

// step is lambda - t g in the scale of the search. In the logarithms no entry moves by more than most.
func (s *search) step(lambda, g []float64, t float64) []float64 {
	out := make([]float64, len(lambda))
	for i, l := range lambda {
		if s.Scale == Log {
			out[i] = l * math.Exp(-t*g[i])
		} else {
			out[i] = l - t*g[i]
		}
		out[i] = math.Max(out[i], floorShare*s.Start[i])
	}
	return out
}

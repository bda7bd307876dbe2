package hypergradient

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/warm"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
)

// The ways in which a search ends beside those of package outcome. Converged is that the hypergradient vanishes, steps
// and progress became as small as asked for, or all steps of Settings.Normalised were done; a numerical error is that a
// validation loss, a hypergradient or a hyperparameter was no finite number.
const (
	// SolveLimit: Settings.MaxSolves lower levels were solved.
	SolveLimit outcome.Stop = "solve limit"
	// LowerFailed: a lower level could not be solved to the tolerance.
	LowerFailed outcome.Stop = "lower level not solved"
)

// Settings of a search; zeros ask for the defaults of the method. Numbers are not negative.
type Settings struct {
	// Start are the hyperparameters to begin with, all positive: one for each, or one for all. Nil asks
	// for the two best local minima on the model's path.
	Start []float64
	// Chosen says that Start is a choice made before, which the search is never to end above: HOAG solves it to LowerTol,
	// too.
	Chosen bool
	// Backtracking asks IGJO for the steps of its authors' program in the place of those along a line, and of the default
	// of Tol; nil asks for the latter.
	Backtracking *Backtracking
	// Normalised asks IFDM for those of its authors' program, in the place of those along a line and of Tol.
	Normalised *Normalised
	// MaxIter bounds the steps from each start. Default 100; 50 for IFDM.
	MaxIter int
	// MaxSolves bounds the lower levels that are solved, at most a third of them for the path. 0 means no bound.
	MaxSolves int
	// Tol ends the search when an iteration lowers the validation loss by less than this share of it, several times in a
	// row, and when the hypergradient in the logarithms is below this share of the loss. Default 1e-5.
	Tol float64
	// LowerTol is the accuracy of the lower levels, as in [lower.Fit]. Default 1e-10.
	LowerTol float64
	// Project, if not nil, moves hyperparameters to the nearest ones of a convex set of positive ones, distances relative
	// to those of where a step began, which are those of the logarithms to first order: steps are projected gradients
	// (Goldstein, 1964; Bertsekas, On the Goldstein-Levitin-Polyak gradient projection method, 1976).
	Project func(ctx context.Context, lambda, from []float64) error
	// Observe, if not nil, is called for each lower-level solution, in order; k counts them from 1.
	Observe func(k int, at *lower.Point)
}

// Result is the outcome of a search.
type Result struct {
	Status outcome.Stop
	// Best is the lower-level solution with the least validation loss.
	Best *lower.Point
	// Iterations counts the steps, Solves the lower levels.
	Iterations, Solves int
}

func (s Settings) withDefaults(m lower.Fit) (Settings, error) {
	if slices.ContainsFunc(s.Start, func(v float64) bool { return !(v > 0 && v <= math.MaxFloat64) }) {
		return s, fmt.Errorf("hypergradient: the start is %v, expected finite positive numbers", s.Start)
	}
	s.MaxIter = cmp.Or(s.MaxIter, 100)
	if s.Tol == 0 && s.Backtracking == nil {
		s.Tol = 1e-5
	}
	s.LowerTol = cmp.Or(s.LowerTol, 1e-10)
	if top := m.LambdaMax(); !(top > 0) || math.IsInf(top, 1) {
		return s, fmt.Errorf(
			"hypergradient: the coefficients do not depend on the training rows: they vanish for every lambda")
	}
	if s.Start == nil {
		return s, nil
	}
	if len(s.Start) != 1 && len(s.Start) != m.Dim() {
		return s, fmt.Errorf("hypergradient: %d hyperparameters to start from, expected one or %d", len(s.Start), m.Dim())
	}
	if len(s.Start) < m.Dim() {
		s.Start = slices.Repeat(s.Start, m.Dim())
	}
	return s, nil
}

// search is a run of any of the methods.
type search struct {
	Settings
	model  lower.Fit
	traits lower.Traits // of the model
	mode   lower.Mode   // of the hypergradient
	// low and high bound the hyperparameters.
	low, high []float64
	out       Result
	exact     *lower.Point // the best of those solved to LowerTol
	begun     int          // the iterations before those from this start
	idle      int          // steps in a row without progress
}

func newSearch(o Settings, m lower.Fit, mode lower.Mode) (*search, error) {
	o, err := o.withDefaults(m)
	if err != nil {
		return nil, err
	}
	s := &search{Settings: o, model: m, traits: m.Traits(), mode: mode}
	s.low, s.high = lower.BoundsOf(m)
	return s, nil
}

// each goes down from each start, whose lower levels are solved to tol.
func (s *search) each(ctx context.Context, tol float64, down func(ctx context.Context, at *lower.Point) error) error {
	starts, err := s.begin(ctx, tol)
	for _, at := range starts {
		if err != nil || !s.running() {
			break
		}
		s.enter()
		err = down(ctx, at)
	}
	return err
}

// enter begins to count afresh.
func (s *search) enter() { s.out.Status, s.begun, s.idle = "", s.out.Iterations, 0 }

// over says whether there are no more steps from this start, at a point with gradient g, and sets the status.
func (s *search) over(at *lower.Point, g []float64) bool {
	switch {
	case g == nil || s.out.Status != "":
		return true
	case floats.Norm(g, math.Inf(1)) <= s.Tol*at.Validation:
		s.out.Status = outcome.Converged
	case s.out.Iterations-s.begun == s.MaxIter:
		s.out.Status = outcome.IterationLimit
	}
	return s.out.Status != ""
}

// progress takes note of a step that has changed the loss by so much.
func (s *search) progress(from *lower.Point, change float64) {
	if s.idle++; change > s.Tol*from.Validation {
		s.idle = 0
	}
	if s.idle == patience {
		s.out.Status = outcome.Converged
	}
}

// solve solves the lower level at lambda and keeps it if it is the best. A nil point means that
// the search has to end; the status says why.
func (s *search) solve(ctx context.Context, lambda []float64, tol float64, start *lower.Point) (*lower.Point, error) {
	end := func(status outcome.Stop) (*lower.Point, error) {
		s.out.Status = status
		return nil, nil
	}
	switch {
	case ctx.Err() != nil:
		return end(outcome.Cancelled)
	case s.MaxSolves > 0 && s.out.Solves == s.MaxSolves:
		return end(SolveLimit)
	case !finite.All(lambda...):
		return end(outcome.NumericalError)
	}
	pt, err := warm.Solve(ctx, s.model, lambda, tol, start)
	if err != nil {
		return nil, err
	}
	switch {
	case pt.Solved && finite.All(pt.Validation):
	case ctx.Err() != nil:
		return end(outcome.Cancelled)
	case pt.Solved:
		return end(outcome.NumericalError)
	default:
		return end(LowerFailed)
	}
	s.out.Solves++
	if s.out.Best == nil || pt.Validation < s.out.Best.Validation {
		s.out.Best = pt
	}
	if pt.Gap <= s.LowerTol && (s.exact == nil || pt.Validation < s.exact.Validation) {
		s.exact = pt
	}
	if s.Observe != nil {
		s.Observe(s.out.Solves, pt)
	}
	return pt, nil
}

// gradientTol is the accuracy of gradients that are not meant to be inexact.
const gradientTol = 1e-10

// gradient is the hypergradient in the logarithms, with Settings.Backtracking in the hyperparameters themselves. It is
// nil where the search has to end.
func (s *search) gradient(ctx context.Context, at *lower.Point, tol float64) ([]float64, error) {
	g, err := stop.Do(ctx, nil, func() ([]float64, error) {
		return s.traits.Gradient(ctx, at, s.mode, tol)
	})
	switch {
	case ctx.Err() != nil: // what there is may not be the whole
		s.out.Status = outcome.Cancelled
		return nil, nil
	case err != nil:
		return nil, err
	}
	if s.Backtracking == nil {
		floats.Mul(g, at.Lambda) // df/dlog(lambda) = lambda df/dlambda
	}
	if !finite.All(g...) {
		s.out.Status = outcome.NumericalError
		return nil, nil
	}
	return g, nil
}

// running says that nothing but a start's own end has ended the search.
func (s *search) running() bool {
	return s.out.Status == "" || s.out.Status == outcome.Converged || s.out.Status == outcome.IterationLimit
}

// mostStarts bounds the points of the path, all of them better than their neighbours, from which searches start.
const mostStarts = 2

// begin returns the points to start from, the best first; none where the search has to end.
func (s *search) begin(ctx context.Context, tol float64) ([]*lower.Point, error) {
	if s.Start != nil {
		if s.Chosen {
			tol = s.LowerTol
		}
		start, err := s.project(ctx, slices.Clone(s.Start), s.Start)
		if err != nil {
			return nil, err
		}
		at, err := s.solve(ctx, start, tol, nil)
		if at == nil {
			return nil, err
		}
		return []*lower.Point{at}, nil
	}
	var path []*lower.Point
	var last *lower.Point
	points := s.traits.Path()
	if most := max(1, s.MaxSolves/3); s.MaxSolves > 0 && most < len(points) {
		for i := range most { // the middles of parts of the same size
			points[i] = points[(2*i+1)*len(points)/(2*most)]
		}
		points = points[:most]
	}
	for _, lambda := range points {
		at, err := s.solve(ctx, lambda, tol, last)
		if at == nil {
			return nil, err
		}
		path = append(path, at)
		last = at
	}
	starts := numerics.Valleys(path, func(at *lower.Point) float64 { return at.Validation })
	slices.SortStableFunc(starts, func(a, b *lower.Point) int { return cmp.Compare(a.Validation, b.Validation) })
	return starts[:min(mostStarts, len(starts))], nil
}

// move returns lambda + t d, in the logarithms, between the bounds of the model; what is outside of them goes no
// further out. With a projection d is relative to lambda: what curves away from the tangent of the logarithms, in a
// direction that is projected out, would outweigh what remains.
func (s *search) move(ctx context.Context, lambda, d []float64, t float64) ([]float64, error) {
	out := make([]float64, len(lambda))
	for i, l := range lambda {
		if out[i] = l * math.Exp(t*d[i]); s.Project != nil {
			out[i] = l + t*d[i]*l
			continue
		}
		out[i] = math.Max(s.below(out[i], l, i), math.Min(s.low[i], l))
	}
	return s.project(ctx, out, lambda)
}

// project is [Settings.Project] in place.
func (s *search) project(ctx context.Context, lambda, from []float64) ([]float64, error) {
	if s.Project == nil {
		return lambda, nil
	}
	return lambda, s.Project(ctx, lambda, from)
}

// below is a value of hyperparameter i on the way from l, which goes no further up than its bound.
func (s *search) below(v, l float64, i int) float64 { return math.Min(v, math.Max(s.high[i], l)) }

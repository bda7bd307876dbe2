package problems

import (
	"context"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/lower"
)

// Solver is what final trainings are solved by.
type Solver struct {
	Backend backends.ConicBackend
	Options backends.Options
	// Fits says that fits of the model are taken in the place of conic programs.
	Fits bool
	// Near are about the multipliers that radii have, to begin at; nil where they are not known.
	Near []float64
}

// Training is a final training at hyperparameters h, see [Advice].
type Training = func(ctx context.Context, s Solver, h []float64) (Fit, *float64, error)

// Settings are those of a solve.
func (s Solver) Settings() dca.Settings { return dca.Settings{Backend: s.Backend, Solver: s.Options} }

// FinalGap is the relative gap of final fits.
const FinalGap = 1e-9

// Train solves the lower level of a program at the radii h and returns the predictor that its values are. A
// [*TrainingError] says that the solve ended without any, and [Fit.Inaccurate] that it missed its tolerances.
func Train(ctx context.Context, p dca.Program, s Solver, h []float64, of func(x [][]float64) Fit) (Fit, error) {
	p.H0 = p.StartAt(h, nil)
	settings := s.Settings()
	settings.Near = s.Near
	low, err := dca.LowerLevel(ctx, p, settings)
	if err != nil {
		return Fit{}, err
	}
	return s.trained(low.X, low.Status, low.Residual, of)
}

// TrainWeighted is [Train] in penalty form, with the weights lambda of the penalties in the place of radii. A weight of
// 0 is a very small one, see [lower.Positive].
func TrainWeighted(ctx context.Context, p dca.Program, s Solver, lambda []float64, of func(x [][]float64) Fit) (Fit,
	error) {
	form, err := dca.NewPenalized(p, s.Settings())
	if err != nil {
		return Fit{}, err
	}
	defer form.Close()
	at, err := form.Minimize(ctx, lower.Positive(lambda), nil)
	if err != nil {
		return Fit{}, err
	}
	return s.trained(at.X, at.Status, at.Residual, of)
}

// trained is the predictor of a solve.
func (s Solver) trained(x [][]float64, status backends.Status, residual float64, of func(x [][]float64) Fit) (Fit,
	error) {
	if x == nil {
		return Fit{}, &TrainingError{Status: status}
	}
	fit := of(x)
	fit.Inaccurate = status != backends.Optimal && !(residual <= dca.Nearly*s.Options.WithDefaults().Eps)
	return fit, nil
}

// perNumber is the least that it takes, for each of its numbers, to make a table ready for a fit: its rows are put
// together, its columns summed and multiplied with each other.
const perNumber = 8 * time.Nanosecond

// Prepare is what to ask before a table of so many numbers is made ready for a fit, none of which can be stopped
// within: it returns the error of the context where that has ended, and [context.DeadlineExceeded] where it will have
// ended before the fit begins.
func Prepare(ctx context.Context, numbers int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && time.Until(at) < time.Duration(numbers)*perNumber {
		return context.DeadlineExceeded
	}
	return nil
}

package dca

import (
	"errors"
	"math"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/outcome"
)

// Numbers that are none.
//
// Losses of large data and weights of large settings can overflow in the functions of a program, where the conic
// solver, which works on scaled numbers, has seen nothing. Points with such numbers are never taken: a lower level's
// solution, a subproblem's or a penalty form's counts as not found, and an iteration ends the run with the status
// [outcome.NumericalError] at the point before.

// errOverflow says that numbers of a subproblem are not finite.
var errOverflow = errors.New("dca: a number of the subproblem is not finite")

// refuse makes a solution one that was not found.
func (s *Solution) refuse() {
	s.X, s.Radii, s.Status, s.conic.status = nil, nil, backends.NumericalError, backends.NumericalError
}

// check refuses a solution with entries that are not numbers.
func (s *Solution) check() {
	if s.X != nil && !(finite.All(s.Value) && finite.All(s.slope...) && finite.Every(s.X)) {
		s.refuse()
	}
}

// finite says that all numbers of an iteration are.
func (it *Iteration) finite() bool {
	return finite.All(it.Objective, it.UpperValue, it.TrainValue, it.LowerValue, it.Step, it.T, it.Alpha, it.Gap,
		it.Distance, it.Bound,
		it.Stationarity) && !math.IsInf(it.Residual, 0) && finite.All(it.H...) && finite.All(it.Lambda...)
}

// notNumbers ends the run.
func (r *run) notNumbers(where string) {
	r.result.Status = outcome.NumericalError
	r.result.Message = where + " has values that are not finite numbers"
}

// accepts is [Settings.Accept]; where it says no, it ends the run.
func (r *run) accepts(x, refit [][]float64) bool {
	if r.settings.Accept == nil || r.settings.Accept(x, refit) {
		return true
	}
	r.notNumbers("the score of a point")
	return false
}

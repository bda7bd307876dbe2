package tune

import (
	"time"

	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/finitejson"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
)

// Event is one iteration of the method, a line of the trace.
type Event struct {
	// Method is the name of the method.
	Method string
	// Iteration is that of VF-iDCA. Other methods fill in the number K, from 1, the weights Lambda of the
	// penalties, one for each radius, and the upper variables H; gap, residual and measures of stationarity are NaN.
	dca.Iteration
	// FitGap is the gap of the [trial] of another method, nil where none was computed.
	FitGap *float64
	// Errors are those of the iterate, which for methods other than VF-iDCA is the refit.
	problems.Errors
	// Refit are the errors of the lower-level solution at the radii of this iteration; nil where it was not computed.
	Refit *problems.Errors
	// Score is that of the lower-level solution, nil for models without, see [problems.Advice]. Best then is the
	// validation error of the best one by it.
	Score *float64
	// Fit is the lower-level solution as a predictor, with [Config.KeepFits] and VF-iDCA only.
	Fit *problems.Fit
	// Best is the least validation error of a lower-level solution so far; nil before there was one.
	Best *float64
	// Elapsed is the time since the start of the run, in JSON "elapsed_seconds".
	Elapsed time.Duration

	iterates bool // by VF-iDCA
}

// Iterates says that the event is an iteration of VF-iDCA, and not a point of another method.
func (e *Event) Iterates() bool { return e.iterates }

// MarshalJSON writes one flat object, durations in seconds. Lines of VF-iDCA have the fields of its iterations, those
// of other methods the lambda and the upper variables, and null errors where the lower level could not be solved.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.iterates {
		return finitejson.Marshal(struct {
			Method string `json:"method"`
			dca.Iteration
			problems.Errors
			Refit   *problems.Errors `json:"refit"`
			Best    *float64         `json:"best_validation_error"`
			Elapsed float64          `json:"elapsed_seconds"`
		}{e.Method, e.Iteration, e.Errors, e.Refit, e.Best, e.Elapsed.Seconds()})
	}
	var validation, test *float64
	if e.Refit != nil {
		validation, test = &e.Refit.Validation, e.Refit.Test
	}
	return finitejson.Marshal(struct {
		Method     string           `json:"method"`
		K          int              `json:"k"`
		Validation *float64         `json:"validation_error"`
		Test       *float64         `json:"test_error"`
		Refit      *problems.Errors `json:"refit"`
		Best       *float64         `json:"best_validation_error"`
		Score      *float64         `json:"score,omitempty"`
		Gap        *float64         `json:"fit_gap"`
		Lambda     []float64        `json:"lambda"`
		Upper      []float64        `json:"u,omitempty"`
		Elapsed    float64          `json:"elapsed_seconds"`
	}{e.Method, e.K, validation, test, e.Refit, e.Best, e.Score, e.FitGap, e.Lambda, e.H, e.Elapsed.Seconds()})
}

// Result is the outcome of one run.
type Result struct {
	Model   string       `json:"model"`
	Method  string       `json:"method"`
	Backend string       `json:"backend"`
	Status  outcome.Stop `json:"status"`
	// TimeSeconds is the wall time of everything after the data are in memory: building the programs, all solves, scoring,
	// the refit. SetupSeconds is the part of it that the conic solvers took to set up and update.
	TimeSeconds  float64 `json:"time_seconds"`
	SetupSeconds float64 `json:"setup_seconds"`
	Iterations   int     `json:"iterations"`
	// Errors are those of the last iterate; its validation error is NaN, in JSON null, where there is none.
	problems.Errors
	// Refit are the errors of the model to use; nil if the run ended before there was one. Its validation error is that of
	// the lower-level solution at the selected radii. Its test error is that of the same solution or, where
	// TrainedOn is not [FinalTrain], of the model trained once more with the validation rows among the training rows.
	Refit *problems.Errors `json:"refit"`
	// Score is what the selection is compared with others by, where that is a score; else nil, and the validation error of
	// the refit is.
	Score *float64 `json:"score,omitempty"`
	// TrainedOn says on which rows the refit is trained, see [Config]: [FinalTrain], [FinalAll] or [FinalFolds].
	TrainedOn string `json:"trained_on"`
	// LowerLevel are the errors of the lower-level solution itself; nil where it is no predictor.
	LowerLevel *problems.Errors `json:"lower_level"`
	// Ladder are the rungs that were searched, the simplest first, nil for a model or a method without.
	Ladder []Rung `json:"ladder,omitempty"`
	// Loss is the name of that of training, of models that have several.
	Loss string `json:"loss,omitempty"`
	// Hyperparameters are the multipliers of the radii by name: the lambda of the
	// penalised form whose solution the refit is.
	Hyperparameters map[string]float64 `json:"hyperparameters"`
	// Names and Lambda hold the same in the order of the radii.
	Names  []string  `json:"-"`
	Lambda []float64 `json:"-"`
	Radii  []float64 `json:"radii"`
	// LowerGap is (l(x) - v(r)) / max(1, |v(r)|) of the iterate, Stationarity the measure of [dca.KKT], Alpha the last
	// penalty parameter. The first two are NaN, in JSON null, where they were not computed, as by methods that only look
	// at solutions of the lower level.
	LowerGap     float64 `json:"lower_gap"`
	Stationarity float64 `json:"stationarity"`
	Alpha        float64 `json:"alpha"`
	// BackendSetups, BackendUpdates and SolverIterations count over all conic solves.
	BackendSetups    int   `json:"backend_setups"`
	BackendUpdates   int   `json:"backend_updates"`
	SolverIterations int   `json:"solver_iterations"`
	Seed             int64 `json:"seed"`
	// Version is the version of the program, set by the caller.
	Version string `json:"version"`
	// LeastNorm says that the lower level interpolates at the selected radii, so that its
	// solution is not unique, and that the refit is the one of least norm.
	LeastNorm bool `json:"refit_least_norm"`
	// Message says more about a status other than converged; often empty.
	Message string `json:"message,omitempty"`

	// Iterate and RefitFit are the two predictors in the user's units.
	Iterate  problems.Fit `json:"-"`
	RefitFit problems.Fit `json:"-"`
	// Selection is the choice with its lower-level solution, for a method that goes on from there; nil if there is none.
	Selection *Selection `json:"-"`
	// Curve is the validation error around the selection, where [Config.Curve] asked for it and the model has a standard
	// error.
	Curve []CurvePoint `json:"-"`
	// Trace holds one event for each iteration.
	Trace []Event `json:"-"`

	// Given says that nothing was chosen, as [Config.Fixed] has all hyperparameters.
	Given bool `json:"-"`

	measured bool // LowerGap and Stationarity, which are numbers then
}

// MarshalJSON writes the fields with null in the place of numbers that are not finite.
func (out Result) MarshalJSON() ([]byte, error) {
	type fields Result
	return finitejson.Marshal(fields(out))
}

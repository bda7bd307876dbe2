package tune

import (
	"encoding/json"
	"time"

	"github.com/conetune/conetune/dca"
)

// Event is one iteration of the method, a line of the trace.
type Event struct {
	dca.Iteration
	// Errors are those of the iterate.
	Errors
	// Refit are the errors of the lower-level solution at the radii of this
	// iteration; nil where it was not computed.
	Refit *Errors
	// Elapsed is the time since the start of the run, in JSON "elapsed_seconds".
	Elapsed time.Duration
}

// MarshalJSON writes one flat object, durations in seconds.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		dca.Iteration
		Errors
		Refit   *Errors `json:"refit"`
		Elapsed float64 `json:"elapsed_seconds"`
	}{e.Iteration, e.Errors, e.Refit, e.Elapsed.Seconds()})
}

// Result is the outcome of one run.
type Result struct {
	Model   string     `json:"model"`
	Method  string     `json:"method"`
	Backend string     `json:"backend"`
	Status  dca.Status `json:"status"`
	// TimeSeconds is the wall time of everything after the data are in memory:
	// building the programs, all solves, scoring, the refit. SetupSeconds is the part
	// of it that the conic solvers took to set up and update.
	TimeSeconds  float64 `json:"time_seconds"`
	SetupSeconds float64 `json:"setup_seconds"`
	Iterations   int     `json:"iterations"`
	// Errors are those of the last iterate.
	Errors
	// Refit are the errors of the lower-level solution at the selected radii; nil if
	// the run ended before there was one.
	Refit *Errors `json:"refit"`
	// Hyperparameters are the multipliers of the radii by name: the lambda of the
	// penalised form whose solution the refit is.
	Hyperparameters map[string]float64 `json:"hyperparameters"`
	// Names and Lambda hold the same in the order of the radii.
	Names  []string  `json:"-"`
	Lambda []float64 `json:"-"`
	Radii  []float64 `json:"radii"`
	// LowerGap is (l(x) - v(r)) / max(1, |v(r)|) of the iterate, Stationarity the measure
	// of [dca.KKT], Alpha the last penalty parameter.
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
	Iterate  Fit `json:"-"`
	RefitFit Fit `json:"-"`
	// Trace holds one event for each iteration.
	Trace []Event `json:"-"`
}

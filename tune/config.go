package tune

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/portfolio"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/finite"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/problems"
)

// PresetPaper names the settings of the paper's experiments.
const PresetPaper = "paper"

// The rows on which a refit can be trained.
const (
	// FinalTrain are the training rows: the refit is the lower-level solution.
	FinalTrain = "train"
	// FinalAll are training and validation rows together.
	FinalAll = "all"
	// FinalFolds are the training rows of the folds of a cross-validation: where a run was stopped before the training on
	// all rows, the refit is the mean of the folds' fits. It cannot be asked for.
	FinalFolds = "folds"
)

// Presets returns the names of the presets, sorted.
func Presets() []string { return []string{PresetPaper} }

// Config says how to tune. The zero value asks for the recommended settings of the model on the native backend.
type Config struct {
	// Backend is the name of the conic solver; empty means [backends.Default], and "auto" those that suit the programs,
	// see [portfolio.Auto].
	Backend string
	// CrossCheck has every conic program solved by all of the backends that Backend names, with commas between them, and
	// those must agree: see [portfolio.CrossCheck]. Fits of models are not used then.
	CrossCheck bool
	// Engine is [EngineAuto], also where it is empty, or [EngineConic].
	Engine string
	// Method is one of [Methods]; empty means vf-idca.
	Method string
	// Preset is empty for the model's recommended settings, or [PresetPaper].
	Preset string
	// Tol, GapTol, Rho, Delta, CAlpha and Epsilon override the fields of [dca.Settings] of that name, whose bounds they
	// keep, see [dca.MostTol] and [dca.MostWeight]; 0 leaves the preset's value.
	Tol, GapTol, Rho, Delta, CAlpha, Epsilon float64
	// IgnoreGap turns the GapTol of the preset off. It does not go with GapTol.
	IgnoreGap bool
	// Init is the start of the radii; where it is shorter than their number its last
	// entry repeats. Nil leaves the preset's start.
	Init []float64
	// Final says on which rows the reported refit is trained, one of [FinalTrain] and [FinalAll]; empty means FinalTrain
	// with PresetPaper, and otherwise FinalAll where the model can.
	Final string
	// Rung takes a rung of a model with a ladder, by its name, in the place of the one that the rule of ladder.go takes,
	// or [RungFree]. It is for vf-idca.
	Rung string
	// OneSE has the simplest model chosen whose validation error is within one standard error of the least one: that with
	// all weights of the penalties multiplied by the same factor, as large as possible. The model has to have a standard
	// error.
	OneSE bool
	// Fixed are values of hyperparameters that are not chosen, by their names in [Result.Hyperparameters], so that
	// those of a result give its model again, or by the name of an axis of a search. Two weights lambda1 and lambda2
	// may be given by lambda, their sum, and l1_ratio, the share of the first in it; of a model with a ladder the
	// weights of the first rung may be. What is free is chosen by the methods that search, and one by VF-iDCA.
	Fixed map[string]float64
	// MaxIter bounds the iterations; 0 leaves the preset's value.
	MaxIter int
	// TimeLimit bounds the whole run; 0 means none. A tenth of it is kept for the final training where a cross-validation
	// needs one, which is stopped, as after a cancellation, within a tenth of a second of the end.
	TimeLimit time.Duration
	// Seed is what methods that draw random numbers draw them by.
	Seed int64
	// Eps is the tolerance of the conic solver, see [backends.Options]; 0 means its default, 1e-8.
	Eps float64
	// Evaluations is how many hyperparameters a search tries, and Ranges where; 0 and nil leave the preset's.
	Evaluations int
	Ranges      []Range
	// Scope says whether a search gives all penalties of a kind one weight, or each its own; empty leaves the preset's.
	Scope string
	// KeepFits has VF-iDCA put the refit of each iteration into its event, for figures; it takes memory for all
	// coefficients.
	KeepFits bool
	// Curve asks for [Result.Curve], with 2 Curve + 1 points over four decades around the selection; 0 for none.
	Curve int
	// Workers bounds how many lower levels, or parts of one, are solved at once; 0 means as many as there are
	// threads. It does not change results.
	Workers int
	// Threads bounds the threads of one conic solve; 0 means 1. The backends native, scs and osqp solve on one thread
	// whatever it is: see Workers for what runs side by side.
	Threads int
	// Logger gets the conic solver's iterations at level debug; nil means silence.
	Logger *slog.Logger
	// Progress, if not nil, is called after each iteration, one call at a time.
	Progress func(Event)
	// Begin, if not nil, is told where the run is before each piece of work, one call at a time.
	Begin func(dca.Place)
}

// mostEvaluations bounds the points of a search, which are all held in memory.
const mostEvaluations = 1_000_000

// The engines.
const (
	// EngineAuto takes the fast fits that models bring, where the backend is ours, and conic programs for what these do
	// not solve.
	EngineAuto = "auto"
	// EngineConic solves everything as conic programs.
	EngineConic = "conic"
)

// Engines are their names.
func Engines() []string { return []string{EngineAuto, EngineConic} }

// quick says whether fits of models are taken.
func (c Config) quick() bool {
	ours := c.backend() == backends.Default || c.backend() == portfolio.AutoName
	return ours && !c.CrossCheck && c.Engine != EngineConic
}

// Validate rejects unknown names and numbers that make no sense, and names the choices there are.
func (c Config) Validate() error {
	if _, err := method(c.Method); err != nil {
		return err
	}
	for _, of := range []struct {
		what, name string
		known      []string
	}{
		{"preset", c.Preset, Presets()}, {"engine", c.Engine, Engines()},
		{"final rows", c.Final, []string{FinalTrain, FinalAll}}, {"scope", c.Scope, []string{ScopeCommon, ScopeEach}},
	} {
		if of.name != "" && !slices.Contains(of.known, of.name) {
			return fmt.Errorf("tune: unknown %s %q; known are: %s", of.what, of.name, strings.Join(of.known, ", "))
		}
	}
	if err := finite.Check([]finite.Setting{
		{"tol", c.Tol, 0, dca.MostTol}, {"gap-tol", c.GapTol, 0, dca.MostTol},
		{"rho", c.Rho, dca.LeastWeight, dca.MostWeight}, {"c-alpha", c.CAlpha, dca.LeastWeight, dca.MostWeight},
		{"delta", c.Delta, 0, dca.MostWeight}, {"epsilon", c.Epsilon, 0, dca.MostWeight}, {"eps", c.Eps, 0, math.MaxFloat64},
		{"max-iter", float64(c.MaxIter), 0, math.MaxInt}, {"time-limit", float64(c.TimeLimit), 0, math.MaxInt},
		{"threads", float64(c.Threads), 0, math.MaxInt}, {"workers", float64(c.Workers), 0, math.MaxInt},
		{"evaluations", float64(c.Evaluations), 0, math.MaxInt}, {"curve", float64(c.Curve), 0, mostCurve},
	}...); err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	if c.IgnoreGap && c.GapTol > 0 {
		return fmt.Errorf("tune: gap-tol is %v, but the gap is to be ignored", c.GapTol)
	}
	for i, r := range c.Init {
		if !(r >= 0) || math.IsInf(r, 1) {
			return fmt.Errorf("tune: init: radius %d is %v, expected a finite number that is not negative", i+1, r)
		}
	}
	if c.Evaluations > mostEvaluations {
		return fmt.Errorf("tune: evaluations is %d, expected at most %d", c.Evaluations, mostEvaluations)
	}
	for _, r := range c.Ranges {
		if err := r.validate(); err != nil {
			return err
		}
	}
	return c.validateFixed()
}

// final is Final with its default filled in.
func (c Config) final() string {
	if c.Preset == PresetPaper {
		return cmp.Or(c.Final, FinalTrain)
	}
	return cmp.Or(c.Final, FinalAll)
}

// backend returns the name of the backend with the default filled in.
func (c Config) backend() string {
	return cmp.Or(c.Backend, backends.Default)
}

// open opens what Backend names.
func (c Config) open() (backends.ConicBackend, error) {
	switch {
	case c.CrossCheck:
		return portfolio.OpenCrossCheck(c.backend())
	case c.backend() == portfolio.AutoName:
		return portfolio.Auto(c.chosen), nil
	}
	return backends.Open(c.backend())
}

// chosen logs whom [portfolio.Auto] asks.
func (c Config) chosen(backend, reason string) {
	if c.Logger != nil {
		c.Logger.Debug("backend chosen", "backend", backend, "reason", reason)
	}
}

// solverIterations bounds a conic solve. The first-order solvers may stall where the lower level interpolates; the run
// then goes on with what they have, if its residual is small, and says that it is inaccurate. Where a program takes a
// sequence of others, theirs are counted together.
func (c Config) solverIterations() int {
	b, err := c.open()
	switch {
	case err != nil || !b.Capabilities().FirstOrder:
		return 0
	case len(b.Capabilities().BySequence) > 0:
		return 500_000
	}
	return 50_000
}

// settings are the preset's settings with the overrides of c.
func (c Config) settings(m problems.Model) dca.Settings {
	s := m.DefaultSettings()
	if c.Preset == PresetPaper {
		s = m.PaperSettings()
	}
	if c.IgnoreGap {
		s.GapTol = 0
	}
	s.Tol, s.GapTol, s.MaxIter = cmp.Or(c.Tol, s.Tol), cmp.Or(c.GapTol, s.GapTol), cmp.Or(c.MaxIter, s.MaxIter)
	s.Rho, s.Epsilon = cmp.Or(c.Rho, s.Rho), cmp.Or(c.Epsilon, s.Epsilon)
	s.Delta, s.CAlpha = cmp.Or(c.Delta, s.Delta), cmp.Or(c.CAlpha, s.CAlpha)
	s.Solver, s.Workers = c.solver(), c.Workers
	return s
}

// solver are the options of the conic solver, whose memory is bounded: a program of a large table is an error, not the
// end of the process.
func (c Config) solver() backends.Options {
	return backends.Options{Eps: c.Eps, MaxIterations: c.solverIterations(), Threads: c.Threads, Memory: memory.Default(),
		Logger: c.Logger}
}

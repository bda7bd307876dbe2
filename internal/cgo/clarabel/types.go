//go:build clarabel && cgo

package clarabel

/*
#include "library.h"
*/
import "C"

// Matrix is compressed sparse column, with Ptr of length Cols+1 and increasing row
// indices in each column.
type Matrix struct {
	Rows, Cols int
	Ptr, Ind   []int
	Val        []float64
}

// Kind is a cone of Clarabel.
type Kind int32

// The cones, with the meaning of Cone.Dim.
const (
	Zero             Kind = C.CONETUNE_CLARABEL_ZERO
	Nonnegative      Kind = C.CONETUNE_CLARABEL_NONNEGATIVE
	SecondOrder      Kind = C.CONETUNE_CLARABEL_SECOND_ORDER
	Exponential      Kind = C.CONETUNE_CLARABEL_EXPONENTIAL // Dim does not count
	Power            Kind = C.CONETUNE_CLARABEL_POWER       // one of Weights; Dim does not count
	GeneralizedPower Kind = C.CONETUNE_CLARABEL_GENPOWER    // the length of Weights, with Extra entries of the norm
	PSD              Kind = C.CONETUNE_CLARABEL_PSD         // the order; upper triangle by columns, off-diagonals times sqrt 2
)

// Cone is a factor of the product K.
type Cone struct {
	Kind       Kind
	Dim, Extra int
	Weights    []float64
}

// Data are a problem: minimise 1/2 x'Px + q'x subject to Ax + s = b, s in K.
type Data struct {
	P     *Matrix // upper triangle
	Q     []float64
	A     *Matrix
	B     []float64
	Cones []Cone
}

// LinearSolver says how the linear systems are solved.
type LinearSolver int32

// The linear solvers: the first takes the second where little work is to be done for each
// entry of the factor, and the third elsewhere.
const (
	ByWork LinearSolver = iota
	QDLDL
	Faer
)

// Merge says how the cliques of a sparse PSD cone are merged after its decomposition.
type Merge int32

// The ways.
const (
	ByCliqueGraph Merge = iota
	ParentsWithChildren
	NoMerge
)

// Settings are Clarabel's, without those for printing.
type Settings struct {
	MaxStepFraction                                                                                  float64
	TolGapAbs, TolGapRel, TolFeas, TolInfeasAbs, TolInfeasRel, TolKTRatio                            float64
	ReducedTolGapAbs, ReducedTolGapRel, ReducedTolFeas                                               float64
	ReducedTolInfeasAbs, ReducedTolInfeasRel, ReducedTolKTRatio                                      float64
	EquilibrateMinScaling, EquilibrateMaxScaling                                                     float64
	LinesearchBacktrackStep, MinSwitchStepLength, MinTerminateStepLength                             float64
	StaticRegularizationConstant, StaticRegularizationProportional                                   float64
	DynamicRegularizationEps, DynamicRegularizationDelta                                             float64
	IterativeRefinementRelTol, IterativeRefinementAbsTol, IterativeRefinementStopRatio               float64
	MaxIter, MaxThreads, EquilibrateMaxIter, IterativeRefinementMaxIter                              uint32
	LinearSolver                                                                                     LinearSolver
	Merge                                                                                            Merge
	Equilibrate, StaticRegularization, DynamicRegularization, IterativeRefinement, Presolve, Chordal bool
	ChordalCompact, ChordalCompleteDual                                                              bool
}

// DefaultSettings returns Clarabel's defaults.
func DefaultSettings() Settings {
	var c C.conetune_clarabel_settings
	C.conetune_clarabel_defaults(&c)
	return Settings{
		MaxStepFraction: float64(c.max_step_fraction),
		TolGapAbs:       float64(c.tol_gap_abs), TolGapRel: float64(c.tol_gap_rel), TolFeas: float64(c.tol_feas),
		TolInfeasAbs: float64(c.tol_infeas_abs), TolInfeasRel: float64(c.tol_infeas_rel), TolKTRatio: float64(c.tol_ktratio),
		ReducedTolGapAbs: float64(c.reduced_tol_gap_abs), ReducedTolGapRel: float64(c.reduced_tol_gap_rel), ReducedTolFeas: float64(c.reduced_tol_feas),
		ReducedTolInfeasAbs: float64(c.reduced_tol_infeas_abs), ReducedTolInfeasRel: float64(c.reduced_tol_infeas_rel),
		ReducedTolKTRatio:     float64(c.reduced_tol_ktratio),
		EquilibrateMinScaling: float64(c.equilibrate_min_scaling), EquilibrateMaxScaling: float64(c.equilibrate_max_scaling),
		LinesearchBacktrackStep: float64(c.linesearch_backtrack_step), MinSwitchStepLength: float64(c.min_switch_step_length),
		MinTerminateStepLength:           float64(c.min_terminate_step_length),
		StaticRegularizationConstant:     float64(c.static_regularization_constant),
		StaticRegularizationProportional: float64(c.static_regularization_proportional),
		DynamicRegularizationEps:         float64(c.dynamic_regularization_eps), DynamicRegularizationDelta: float64(c.dynamic_regularization_delta),
		IterativeRefinementRelTol: float64(c.iterative_refinement_reltol), IterativeRefinementAbsTol: float64(c.iterative_refinement_abstol),
		IterativeRefinementStopRatio: float64(c.iterative_refinement_stop_ratio),
		MaxIter:                      uint32(c.max_iter), MaxThreads: uint32(c.max_threads), EquilibrateMaxIter: uint32(c.equilibrate_max_iter),
		IterativeRefinementMaxIter: uint32(c.iterative_refinement_max_iter),
		LinearSolver:               LinearSolver(c.linear_solver), Merge: Merge(c.merge),
		Equilibrate: c.equilibrate != 0, StaticRegularization: c.static_regularization != 0, DynamicRegularization: c.dynamic_regularization != 0,
		IterativeRefinement: c.iterative_refinement != 0, Presolve: c.presolve != 0, Chordal: c.chordal != 0,
		ChordalCompact: c.chordal_compact != 0, ChordalCompleteDual: c.chordal_complete_dual != 0,
	}
}

func (s *Settings) mirror() *C.conetune_clarabel_settings {
	f := func(v float64) C.double { return C.double(v) }
	b := func(v bool) C.int32_t {
		if v {
			return 1
		}
		return 0
	}
	return &C.conetune_clarabel_settings{
		max_step_fraction: f(s.MaxStepFraction),
		tol_gap_abs:       f(s.TolGapAbs), tol_gap_rel: f(s.TolGapRel), tol_feas: f(s.TolFeas),
		tol_infeas_abs: f(s.TolInfeasAbs), tol_infeas_rel: f(s.TolInfeasRel), tol_ktratio: f(s.TolKTRatio),
		reduced_tol_gap_abs: f(s.ReducedTolGapAbs), reduced_tol_gap_rel: f(s.ReducedTolGapRel), reduced_tol_feas: f(s.ReducedTolFeas),
		reduced_tol_infeas_abs: f(s.ReducedTolInfeasAbs), reduced_tol_infeas_rel: f(s.ReducedTolInfeasRel), reduced_tol_ktratio: f(s.ReducedTolKTRatio),
		equilibrate_min_scaling: f(s.EquilibrateMinScaling), equilibrate_max_scaling: f(s.EquilibrateMaxScaling),
		linesearch_backtrack_step: f(s.LinesearchBacktrackStep), min_switch_step_length: f(s.MinSwitchStepLength),
		min_terminate_step_length:      f(s.MinTerminateStepLength),
		static_regularization_constant: f(s.StaticRegularizationConstant), static_regularization_proportional: f(s.StaticRegularizationProportional),
		dynamic_regularization_eps: f(s.DynamicRegularizationEps), dynamic_regularization_delta: f(s.DynamicRegularizationDelta),
		iterative_refinement_reltol: f(s.IterativeRefinementRelTol), iterative_refinement_abstol: f(s.IterativeRefinementAbsTol),
		iterative_refinement_stop_ratio: f(s.IterativeRefinementStopRatio),
		max_iter:                        C.uint32_t(s.MaxIter), max_threads: C.uint32_t(s.MaxThreads), equilibrate_max_iter: C.uint32_t(s.EquilibrateMaxIter),
		iterative_refinement_max_iter: C.uint32_t(s.IterativeRefinementMaxIter),
		linear_solver:                 C.int32_t(s.LinearSolver), merge: C.int32_t(s.Merge),
		equilibrate: b(s.Equilibrate), static_regularization: b(s.StaticRegularization), dynamic_regularization: b(s.DynamicRegularization),
		iterative_refinement: b(s.IterativeRefinement), presolve: b(s.Presolve), chordal: b(s.Chordal),
		chordal_compact: b(s.ChordalCompact), chordal_complete_dual: b(s.ChordalCompleteDual),
	}
}

// Status is how Clarabel says that a solve ended.
type Status int32

// The statuses.
const (
	Unsolved Status = iota
	Solved
	PrimalInfeasible
	DualInfeasible
	AlmostSolved
	AlmostPrimalInfeasible
	AlmostDualInfeasible
	MaxIterations
	MaxTime
	NumericalError
	InsufficientProgress
	CallbackTerminated
)

var statuses = [...]string{
	"unsolved", "solved", "primal infeasible", "dual infeasible", "almost solved", "almost primal infeasible", "almost dual infeasible",
	"iteration limit", "time limit", "numerical error", "insufficient progress", "stopped",
}

// String returns the status in words.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statuses) {
		return "unknown"
	}
	return statuses[s]
}

// Solution holds x of length n, s and z of length m: a point, or a certificate where the
// status promises one.
type Solution struct{ X, S, Z []float64 }

// Info is what Clarabel tells of a solve.
type Info struct {
	Status         Status
	Interrupted    bool // by an Interrupt
	TimedOut       bool
	Iterations     int
	Primal, Dual   float64 // objectives
	GapAbs, GapRel float64
	ResPrimal      float64
	ResDual        float64
	Mu, KappaByTau float64
}

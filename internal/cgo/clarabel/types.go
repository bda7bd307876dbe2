//go:build clarabel && cgo

package clarabel

/*
#include "library.h"
*/
import "C"

import "github.com/conetune/conetune/internal/mirror"

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
	P     *mirror.Matrix // upper triangle
	Q     []float64
	A     *mirror.Matrix
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

// Settings are those of Clarabel that this project changes; the others have Clarabel's defaults.
type Settings struct {
	MaxStepFraction                                                  float64
	TolGapAbs, TolGapRel, TolFeas, TolInfeasRel                      float64
	StaticRegularizationConstant                                     float64
	MaxIter, MaxThreads, EquilibrateMaxIter, IterativeRefinementIter uint32
	LinearSolver                                                     LinearSolver
	Merge                                                            Merge
	Equilibrate, Presolve, Chordal                                   bool
}

// DefaultSettings returns Clarabel's defaults.
func DefaultSettings() Settings {
	var c C.conetune_clarabel_settings
	C.conetune_clarabel_defaults(&c)
	return Settings{
		MaxStepFraction: float64(c.max_step_fraction),
		TolGapAbs:       float64(c.tol_gap_abs), TolGapRel: float64(c.tol_gap_rel), TolFeas: float64(c.tol_feas), TolInfeasRel: float64(c.tol_infeas_rel),
		StaticRegularizationConstant: float64(c.static_regularization_constant),
		MaxIter:                      uint32(c.max_iter), MaxThreads: uint32(c.max_threads), EquilibrateMaxIter: uint32(c.equilibrate_max_iter),
		IterativeRefinementIter: uint32(c.iterative_refinement_max_iter), LinearSolver: LinearSolver(c.linear_solver), Merge: Merge(c.merge),
		Equilibrate: c.equilibrate != 0, Presolve: c.presolve != 0, Chordal: c.chordal != 0,
	}
}

func (s *Settings) mirror() *C.conetune_clarabel_settings {
	b := func(v bool) C.int32_t {
		if v {
			return 1
		}
		return 0
	}
	c := new(C.conetune_clarabel_settings)
	C.conetune_clarabel_defaults(c)
	c.max_step_fraction, c.static_regularization_constant = C.double(s.MaxStepFraction), C.double(s.StaticRegularizationConstant)
	c.tol_gap_abs, c.tol_gap_rel = C.double(s.TolGapAbs), C.double(s.TolGapRel)
	c.tol_feas, c.tol_infeas_rel = C.double(s.TolFeas), C.double(s.TolInfeasRel)
	c.max_iter, c.max_threads = C.uint32_t(s.MaxIter), C.uint32_t(s.MaxThreads)
	c.equilibrate_max_iter, c.iterative_refinement_max_iter = C.uint32_t(s.EquilibrateMaxIter), C.uint32_t(s.IterativeRefinementIter)
	c.linear_solver, c.merge = C.int32_t(s.LinearSolver), C.int32_t(s.Merge)
	c.equilibrate, c.presolve, c.chordal = b(s.Equilibrate), b(s.Presolve), b(s.Chordal)
	return c
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
	Status             Status
	Interrupted        bool // by an Interrupt
	TimedOut           bool
	Iterations         int
	Primal             float64 // objective
	GapRel             float64
	ResPrimal, ResDual float64
	Mu                 float64
}

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
	// the order; upper triangle by columns, off-diagonals times sqrt 2
	PSD Kind = C.CONETUNE_CLARABEL_PSD
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

// Settings are those of Clarabel that this project changes. The others, and what is zero, have Clarabel's defaults.
type Settings struct {
	MaxStepFraction                                                  float64
	TolGapAbs, TolGapRel, TolFeas, TolInfeasRel                      float64
	StaticRegularizationConstant                                     float64
	MaxIter, MaxThreads, EquilibrateMaxIter, IterativeRefinementIter int
	LinearSolver                                                     LinearSolver
	Merge                                                            Merge
	NoEquilibration, NoPresolve, NoChordal                           bool
}

func (s *Settings) mirror() *C.conetune_clarabel_settings {
	c := new(C.conetune_clarabel_settings)
	C.conetune_clarabel_defaults(c)
	mirror.Set(&c.max_step_fraction, s.MaxStepFraction)
	mirror.Set(&c.static_regularization_constant, s.StaticRegularizationConstant)
	mirror.Set(&c.tol_gap_abs, s.TolGapAbs)
	mirror.Set(&c.tol_gap_rel, s.TolGapRel)
	mirror.Set(&c.tol_feas, s.TolFeas)
	mirror.Set(&c.tol_infeas_rel, s.TolInfeasRel)
	mirror.Set(&c.max_iter, s.MaxIter)
	mirror.Set(&c.max_threads, s.MaxThreads)
	mirror.Set(&c.equilibrate_max_iter, s.EquilibrateMaxIter)
	mirror.Set(&c.iterative_refinement_max_iter, s.IterativeRefinementIter)
	mirror.Off(&c.equilibrate, s.NoEquilibration)
	mirror.Off(&c.presolve, s.NoPresolve)
	mirror.Off(&c.chordal, s.NoChordal)
	c.linear_solver, c.merge = C.int32_t(s.LinearSolver), C.int32_t(s.Merge)
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
	"unsolved", "solved", "primal infeasible", "dual infeasible", "almost solved", "almost primal infeasible",
	"almost dual infeasible",
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
	GapRel             float64
	ResPrimal, ResDual float64
	Mu                 float64
}

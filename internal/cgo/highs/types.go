//go:build highs && cgo

package highs

/*
#include "library.h"
*/
import "C"

import "github.com/conetune/conetune/internal/mirror"

// Infinity is the size from which on a bound counts as infinite.
const Infinity = 1e30

// Data are a problem: minimise x'Px/2 + q'x subject to Lower <= Ax <= Upper.
type Data struct {
	P            *mirror.Matrix // its lower triangle, nil for a linear program
	Q            []float64
	A            *mirror.Matrix
	Lower, Upper []float64
}

// Settings of a solve.
type Settings struct {
	PrimalTolerance, DualTolerance, IPMTolerance float64
	// Method is HiPO for a quadratic program.
	Method Method
	// Augmented makes HiPO factor the augmented system; else it chooses.
	Augmented bool
	// Crossover goes on from the point of an interior point method to a vertex.
	Crossover  bool
	Presolve   bool
	Iterations int
}

// Method is one of those of HiGHS.
type Method int32

// The methods: the dual simplex method, and two of interior points, by preconditioned iterations and by factors.
const (
	Simplex Method = iota
	IPX
	HiPO
)

func (s *Settings) mirror() *C.conetune_highs_settings {
	b := func(v bool) C.int32_t {
		if v {
			return 1
		}
		return 0
	}
	return &C.conetune_highs_settings{
		primal_tolerance: C.double(s.PrimalTolerance), dual_tolerance: C.double(s.DualTolerance),
		ipm_tolerance: C.double(s.IPMTolerance),
		method:        C.int32_t(s.Method), augmented: b(s.Augmented), crossover: b(s.Crossover), presolve: b(s.Presolve),
		iterations: C.int32_t(s.Iterations),
	}
}

// Status is how HiGHS says that a solve ended.
type Status int32

// The statuses.
const (
	Unset Status = iota
	LoadError
	ModelError
	PresolveError
	SolveError
	PostsolveError
	Empty
	Optimal
	Infeasible
	UnboundedOrInfeasible
	Unbounded
	ObjectiveBound
	ObjectiveTarget
	TimeLimit
	IterationLimit
	Unknown
	SolutionLimit
	Interrupted
	MemoryLimit
)

var statuses = [...]string{
	"unset", "load error", "model error", "presolve error", "solve error", "postsolve error", "empty", "optimal",
	"infeasible", "unbounded or infeasible",
	"unbounded", "objective bound", "objective target", "time limit", "iteration limit", "unknown", "solution limit",
	"interrupted", "memory limit",
}

// String returns the status in words.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statuses) {
		return "unknown"
	}
	return statuses[s]
}

// BasisStatus says where a column or row is.
type BasisStatus = int32

// The places.
const (
	AtLower BasisStatus = iota
	Basic
	AtUpper
	AtZero
	Nonbasic
)

// Basis has a BasisStatus for every column and row.
type Basis struct {
	Cols, Rows []BasisStatus
}

// Solution holds x of length n and the multipliers y of the rows, Px + q = A'y, of length m. Ray is a certificate where
// Info says so.
type Solution struct {
	X, Y, Ray []float64
	Basis     Basis
}

// NewSolution returns room for a problem with n columns and m rows.
func NewSolution(n, m int) *Solution {
	return &Solution{X: make([]float64, n), Y: make([]float64, m), Ray: make([]float64, max(n, m)),
		Basis: Basis{Cols: make([]BasisStatus, n), Rows: make([]BasisStatus, m)}}
}

// Info is what HiGHS tells of a solve.
type Info struct {
	Status             Status
	Iterations         int  // of all methods
	DualRay, PrimalRay bool // Ray proves infeasibility, with its first m entries, or unboundedness, with its first n
	HasPoint, HasBasis bool
}

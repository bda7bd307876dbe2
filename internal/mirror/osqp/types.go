package osqp

import (
	"time"

	"github.com/conetune/conetune/internal/mirror"
)

// Infinity is the size from which on a bound counts as infinite.
const Infinity = 1e30

// Data is what osqp_setup takes: minimise 1/2 x'Px + q'x subject to l <= Ax <= u.
type Data struct {
	P *mirror.Matrix // upper triangle
	Q []float64
	A *mirror.Matrix
	L []float64
	U []float64
}

// Settings are those of an OSQPSettings that this project changes. The others, and what is zero, have OSQP's defaults.
type Settings struct {
	Scaling              int // negative for none
	Polishing            bool
	Rho                  float64
	Sigma                float64
	Alpha                float64
	FixedRho             bool
	AdaptiveRhoInterval  int
	AdaptiveRhoTolerance float64
	MaxIterations        int
	EpsAbs, EpsRel       float64
	EpsPrimalInfeasible  float64
	EpsDualInfeasible    float64
	CheckTermination     int
	// TimeLimit bounds a Solve together with the last update, and the first
	// Solve together with the setup.
	TimeLimit        time.Duration
	Delta            float64
	PolishRefineIter int
}

// Solution is an OSQPSolution: x and the certificate of dual infeasibility of
// length n, y and the certificate of primal infeasibility of length m. Only
// those that the status promises hold anything.
type Solution struct {
	X, Y                               []float64
	PrimalCertificate, DualCertificate []float64
}

// Status is the status of a solve.
type Status int

// The statuses.
const (
	Solved                     Status = 1
	SolvedInaccurate           Status = 2
	PrimalInfeasible           Status = 3
	PrimalInfeasibleInaccurate Status = 4
	DualInfeasible             Status = 5
	DualInfeasibleInaccurate   Status = 6
	MaxIterReached             Status = 7
	TimeLimitReached           Status = 8
	SigInt                     Status = 10
)

// Info is what is asked of an OSQPInfo.
type Info struct {
	Status                            Status
	Text                              string // in the words of OSQP
	Polish                            int    // how polishing ended: 1 well, 0 not tried, 2 without active rows, else badly
	PrimalResidual, DualResidual, Gap float64
	Iterations                        int
	RhoEstimate                       float64
	SetupTime, SolveTime, UpdateTime  time.Duration
}

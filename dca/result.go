package dca

import (
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/outcome"
)

// The ways a run can end beside those of package outcome.
const (
	// Inaccurate means that the stopping test holds, but the last conic solves missed their tolerances by more than a
	// factor of ten.
	Inaccurate outcome.Stop = "inaccurate"
	// LowerInfeasible means that the lower level has no feasible point at some h.
	LowerInfeasible outcome.Stop = "lower_level_infeasible"
)

// Result is the outcome of [Solve], which after an early end is what there is: the last iteration that was completed.
//
// The inexactness of the method allows 0 to be at a distance from the subdifferential of phi_k
// (plus the normal cone of x in X, lo <= h <= hi) at the subproblem's solution. What is reported as
// Distance in every [Iteration] follows from the conic solver's dual point alone: let r be the dual residual on
// w = (x, h, t) and d the dual objective. Then z minimises phi_k - <r, .> up to
//
//	eps = phi_k(z) - <r, w> - d >= 0,
//
// because d is a lower bound for that program. By the theorem of Brondsted and Rockafellar with radius sqrt(eps/rho)
// there is a point z' with |z' - z| <= sqrt(eps/rho) at which the distance is at most
//
//	|r| + sqrt(rho eps).
//
// Residuals on the epigraph variables of the conic form are not in r; they are part of the recomputed residuals.
type Result struct {
	// Status says how the run ended: converged where the stopping test holds, with a numerical error where the conic
	// solver gave no usable point.
	Status outcome.Stop
	// Message says more about a status other than converged; often empty.
	Message string
	// Iterations counts completed iterations.
	Iterations int
	// X and H are the last iterate, X one slice for each variable of [Level.X]. With GapTol, where no penalty brings
	// iterate and refit together, as both are solutions of the lower level (Message says so), X is the refit.
	X [][]float64
	H []float64
	// Lo and Hi are the ends of the ranges in which H was chosen where the program itself had to find the start, without
	// [Program.Path]; else nil. A radius at its end is one whose P_i is held at 0.
	Lo, Hi []float64
	// Lambda are the multipliers of the radii at H, the hyperparameters of the penalised form.
	Lambda []float64
	// Refit is the lower-level solution at H, nil if the run ended before there was one.
	// Where the lower level interpolates (its value and multipliers vanish) it is not unique: then
	// LeastNorm is true and Refit is the solution with the least Euclidean norm.
	Refit     [][]float64
	LeastNorm bool
	// Weighted says that the run ended before the lower level was solved at the start, so that X and Refit are the
	// solution in penalty form, for the weights Lambda, by which the start was chosen; H are its P_i(X).
	Weighted bool
	// LowerValue is v(H), TrainValue l(X, H), UpperValue L(X, H), RefitValue L(Refit, H).
	LowerValue, TrainValue, UpperValue, RefitValue float64
	// Gap is (l(X, H) - v(H)) / max(1, |v(H)|).
	Gap float64
	// KKT measures how far (X, H) is from a stationary solution. It is that of the last subproblem's point.
	KKT KKT
	// StartWeights are the weights of the penalties, one for each radius, at which the data-driven start was found; nil
	// without.
	StartWeights []float64
	// Alpha is the penalty of the last iteration.
	Alpha float64
	// Trace holds one record for each iteration.
	Trace []Iteration
	// Stats add up what the conic solvers did, start and refit included; Iterations are also those of fits that solve
	// programs in their place.
	Stats convex.Stats
}

// KKT measures how far (x, h) is from a KKT stationary solution of the bilevel
// program in the sense of the paper: multipliers eta, mu >= 0 with
//
//	0 in d(L + eta (l - v) + sum_i mu_i c_i)(x, h) + N(x, h),  complementarity, feasibility
//
// where c are all constraints, N is the normal cone of x in X and lo <= h <= hi, and d v is
// taken at h. eta and mu are the multipliers of the last subproblem, the subgradient of v that of the
// lower level at h. For radii the h part is the paper's lambda in -eta dv(r) + N(r).
type KKT struct {
	// Gradient is |r - rho (z - z_k) + eta (s_k - s)|, with r the dual residual of the subproblem,
	// s_k and s the subgradients of v at h_k and at h: a bound for the distance of 0 in the first line.
	Gradient float64
	// Complementarity is eta |l - v - epsilon| + sum_i mu_i |c_i|.
	Complementarity float64
	// Infeasibility is max{0, l - v - epsilon, c_i}.
	Infeasibility float64
	// Eta is the multiplier of l - v <= epsilon.
	Eta float64
}

// Stationarity is the largest of the three measures. It is 0 at a stationary solution only.
func (k KKT) Stationarity() float64 {
	return max(k.Gradient, k.Complementarity, k.Infeasibility)
}

package dca

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/finite"
)

// Bounds of numbers in [Settings]. Beyond them the arithmetic of a subproblem, whose terms weigh against each other,
// means nothing.
const (
	// MostTol bounds Tol and GapTol, which are relative.
	MostTol = 1
	// LeastWeight and MostWeight bound Rho, Alpha0 and CAlpha, and MostWeight also Delta and Epsilon.
	LeastWeight, MostWeight = 1e-12, 1e12
)

// Settings steer [Solve]. Zero values of numbers mean the defaults named here, unless said otherwise.
type Settings struct {
	// Tol bounds the relative step and t at the end. Default 0.1, the paper's for the elastic net.
	Tol float64
	// Rho weighs the proximal term. Default 1e-3; the paper does not say, this is the
	// value of its authors' program. It has meaning only with losses that are means over rows.
	Rho float64
	// Alpha0 is the first penalty. Default 1 (paper).
	Alpha0 float64
	// Delta is added to the penalty by rule 4. Default 5 (paper).
	Delta float64
	// CAlpha is c_alpha of rule 4. Default 1 (paper; sparse group lasso 0.1).
	CAlpha float64
	// Epsilon relaxes l(x, h) - v(h) <= 0 to <= Epsilon, which bounds the penalty
	// (paper, remark in the section on experiments). 0 means no relaxation.
	Epsilon float64
	// GapTol, if positive, asks for more: the run ends only when also (l(x, h) - v(h)) / max(1, |v(h)|) <= GapTol and the
	// validation value of the refit is within a hundredth of that of the iterate. Every iteration then starts from the
	// refit (x~(h_k), h_k), which has no lower-level gap, searches along the step in h for a lower value of L(x~(h), h),
	// and raises the penalty geometrically, see accelerate.go.
	GapTol float64
	// MaxIter bounds the iterations. Default 100, with GapTol 500.
	MaxIter int
	// PlainFirst keeps the iterations plain until their stopping test holds, and accelerates from the best refit that
	// they met. The plain method takes many small steps from where it starts, and passes by the local minima of
	// L(x~(h), h) near the start in which a search along large steps may end. It needs GapTol.
	PlainFirst bool
	// PathStart takes the start from the data: among the weights of [Program.Path] the penalised solution with the least
	// validation value, and its P_i(x) as radii; without a path, what line and compass of line.go lead to. That is also
	// the start of a program without H0, or with one at which the lower level has no feasible point.
	PathStart bool
	// Near are about the multipliers of the radii in the first lower level, for [LowerLevel] to begin at; nil where they
	// are not known.
	Near []float64
	// HoldZeros keeps radii that are zero there. The multipliers of P_i(x) <= 0 are all numbers from a least one on, each
	// of which gives a subgradient of v. The least one, the slope of v for a growing radius, is taken by default: with it
	// V_k is smallest, and radii can grow again. With HoldZeros it is a much larger one, as solvers return that, like
	// those of the paper's experiments, have no reason to prefer the least.
	HoldZeros bool
	// NoWorkingSets solves every conic program with all its columns. Working sets do not
	// change the solutions: they are checked on the full program.
	NoWorkingSets bool
	// Backend solves the conic programs; required.
	Backend backends.ConicBackend
	// Solver are the backend's options.
	Solver backends.Options
	// Workers bounds how many blocks of the lower level are solved at once; 0 means as many as there are processors. It
	// does not change results.
	Workers int
	// Begin, if not nil, is told of every convex program before it is solved, by the goroutine of the run.
	Begin func(Place)
	// Observe, if not nil, sees every iteration before the next begins: its record, the iterate x, and the
	// refit, the lower-level solution at the iterate's h. refit is nil where the lower level
	// interpolates, so that its solution is not unique. The slices must not be changed or kept.
	Observe func(it *Iteration, x, refit [][]float64)
	// Accept, if not nil, sees the points that a run may end at before they are taken: the iterate x and the refit, at the
	// start and after each iteration. Where it says no, the run ends with the status [outcome.NumericalError] and the
	// point before.
	Accept func(x, refit [][]float64) bool
}

// withDefaults fills in the documented defaults.
func (s Settings) withDefaults() Settings {
	s.Tol = cmp.Or(s.Tol, 0.1)
	s.Rho = cmp.Or(s.Rho, 1e-3)
	s.Alpha0 = cmp.Or(s.Alpha0, 1)
	s.Delta = cmp.Or(s.Delta, 5)
	s.CAlpha = cmp.Or(s.CAlpha, 1)
	if s.GapTol > 0 {
		s.MaxIter = cmp.Or(s.MaxIter, 500)
	}
	s.MaxIter = cmp.Or(s.MaxIter, 100)
	return s
}

// accelerates says whether iterations are those of accelerate.go.
func (s *Settings) accelerates() bool { return s.GapTol > 0 }

// workers is Workers with its default filled in.
func (s *Settings) workers() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// validate rejects settings without meaning.
func (s *Settings) validate(p *Program) error {
	if err := finite.Check([]finite.Setting{
		{"Tol", s.Tol, 0, MostTol}, {"GapTol", s.GapTol, 0, MostTol},
		{"Rho", s.Rho, LeastWeight, MostWeight}, {"Alpha0", s.Alpha0, LeastWeight, MostWeight},
		{"CAlpha", s.CAlpha, LeastWeight, MostWeight},
		{"Delta", s.Delta, 0, MostWeight}, {"Epsilon", s.Epsilon, 0, MostWeight},
		{"MaxIter", float64(s.MaxIter), 0, math.MaxInt}, {"Workers", float64(s.Workers), 0, math.MaxInt},
	}...); err != nil {
		return fmt.Errorf("dca: Settings.%w", err)
	}
	if s.Backend == nil {
		return fmt.Errorf("dca: Settings.Backend is nil; get one from backends.Open")
	}
	if n := len(s.Near); n > 0 && (n != p.Radii || !finite.All(s.Near...)) {
		return fmt.Errorf("dca: Settings.Near is %v, expected %d finite numbers", s.Near, p.Radii)
	}
	return s.Solver.Validate()
}

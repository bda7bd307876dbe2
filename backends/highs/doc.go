// Package highs puts HiGHS, the solver for linear and convex quadratic programs, behind [backends.ConicBackend].
//
// HiGHS takes zero, nonnegative and box rows: linear programs to its dual simplex method, or to one of its interior
// point methods with or without a crossover to a vertex, and quadratic programs to HiPO, its interior point method by
// factors. Its active set method for quadratic programs is not offered: on random programs of 10 to 60 variables with
// dense P of low rank it gave up, or its points missed the tolerance, whatever its regularisation.
//
// For second-order and exponential cones the registered backend solves a sequence of quadratic programs, by the method
// of multipliers (package augmented), each from HiPO's own point and with proximal terms that its factors can do with:
// some 16 iterations each.
//
// # Accuracy
//
// The backend is tested to residuals of 1e-8, also where rows, columns or the objective are a million times apart.
// Problems whose rows, columns or objective are more than 5e5 apart are rescaled first. Where an
// answer does not hold on the caller's data, HiGHS is asked again: a linear program without its presolve, with its
// smallest tolerances, and by another method; a quadratic one with its smallest tolerances, and with factors of the
// augmented system, where the equations of the rows that bind do not help (backends.Judge.Polish). Certificates are the
// rays of the simplex method, or, where it has none, those of another linear program with the same rows.
//
// # Formulation
//
// HiGHS solves min x'Px/2 + q'x subject to l <= Ax <= u, with Px + q = A'y. With Ax + s = b and z = -y,
//
//	zero                l = b           u = b
//	nonnegative         l = -inf        u = b
//	box lo <= s <= up   l = b - up      u = b - lo
//
// The slack is b - Ax taken into the cone. Variables have no bounds but those that rows are; the presolve of
// HiGHS makes bounds of rows with one entry.
//
// # Updates and limits
//
// New P, q, b and A go into the solver that is there. A linear program starts from nothing unless WarmStart was called:
// from the basis where the last Solve ended if the point is that one, else from a basis that is made of the point, by
// which rows bind and which do not. HiPO starts from its own point. The time limit and a cancelled context are looked
// at in every iteration. Options.Threads is ignored: HiGHS runs on one thread. Options.Logger gets one record for each
// run of HiGHS, not for each iteration.
//
// # How to get it
//
// The backend is in builds with the tag highs, cgo and the library that "make deps" builds, where
// there is cargo; "make" does all of it. Other builds hold only the Settings type, and
// backends.Open("highs") says what is missing.
//
// Sources: Huangfu, Hall, Parallelizing the dual revised simplex method (2018); Schork, Gondzio,
// Implementation of an interior point method with basis preconditioning (2020); Zanetti, Gondzio, A factorisation-based
// regularised interior point method using the augmented system (2025).
package highs

// Settings are those of HiGHS, for backends.Options.Settings. The zero value means the defaults.
type Settings struct {
	// Method is that for linear programs: "simplex", the default, "ipm", the interior point method with preconditioned
	// iterations, or "hipo", the one with factors.
	Method string
	// NoCrossover leaves the point of the interior point method as it is, else it is taken to a vertex.
	NoCrossover bool
	// NoPresolve turns the presolve of HiGHS off.
	NoPresolve bool
	// PrimalTolerance and DualTolerance bound the violation of rows and of reduced costs,
	// which HiGHS measures without relation to their size. Default Options.Eps / 10, and not less than 1e-10.
	PrimalTolerance, DualTolerance float64
	// NoRescaling passes badly scaled problems on as they are. Else rows, columns or an objective that
	// are more than 5e5 apart are first multiplied by powers of two.
	NoRescaling bool
	// Retries bounds how often HiGHS is asked again. Default 4, negative for never.
	Retries int
}

// DefaultMaxIterations is the bound on iterations of the simplex method where Options.MaxIterations is 0; that of the
// interior point methods is never more than 500.
const DefaultMaxIterations = 100_000_000

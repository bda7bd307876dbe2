// Package osqp puts OSQP, the operator splitting solver for quadratic programs,
// behind [backends.ConicBackend].
//
// OSQP is a first-order method, an alternating direction method of multipliers
// with one factorisation that is kept until its step size changes. It takes zero,
// nonnegative and box rows, that is linear and quadratic programs. For second-order and exponential cones
// the registered backend solves a sequence of quadratic programs, by the method of
// multipliers (package augmented): the Newton steps of one program share a pattern, so
// that OSQP updates numbers and starts from its last solution.
//
// # Accuracy
//
// The backend is tested to residuals of 1e-8, also where rows, columns or the
// objective are a million times apart. It gets there by polishing: the iterations run
// to a loose tolerance, [Settings].StartEps, after which OSQP guesses the binding rows
// and solves the equations that they make. Where the polished point meets
// Options.Eps on the caller's data that is the answer; where not, it is given up, and
// the iterations go on from where they were with a tolerance ten times tighter, down
// to Options.Eps / 2 and, at most [Settings].Retries times, below. Without a good
// guess of the binding rows it is the iterations alone that have to reach the
// tolerance, which can take very many, on linear programs above all. Certificates of
// infeasibility that do not hold on the caller's data are not believed either.
//
// # Formulation
//
// OSQP solves min 1/2 x'Px + q'x subject to l <= Ax <= u, with Px + q + A'y = 0.
// With Ax + s = b and z = y,
//
//	zero                l = b           u = b
//	nonnegative         l = -inf        u = b
//	box lo <= s <= up   l = b - up      u = b - lo
//
// so that y >= 0 acts on an upper bound of Ax, which is where s is smallest, as in
// package backends. The slack is b - Ax taken into the cone.
//
// # Updates and limits
//
// New q, b, P and A go into the solver that is there: q and b keep the
// factorisation, P and A its symbolic part. A solver starts from zero unless
// WarmStart was called or, after SetEps, where the last Solve ended. The time limit
// and a cancelled context are looked at in every iteration; a factorisation is not
// interrupted, polishing is one.
// Options.Threads is ignored: OSQP runs on one thread. Options.Logger gets one record
// for each call of OSQP, not for each iteration.
//
// # How to get it
//
// The backend is in builds with the tag osqp, cgo and the library that "make deps"
// builds; "make" does all of it. It is also in builds with the tag osqp_go, for which
// "make transpile" makes Go of the sources of OSQP; "CGO_ENABLED=0 make" does that. With
// both tags C is taken where there is cgo. Other builds hold only the Settings type,
// and backends.Open("osqp") says what is missing.
//
// Source: Stellato, Banjac, Goulart, Bemporad, Boyd, OSQP: an operator splitting
// solver for quadratic programs (2020).
package osqp

// Settings are OSQP's own settings, for backends.Options.Settings. The zero value
// means the defaults.
type Settings struct {
	// StartEps is the tolerance, absolute and relative, of the first round of
	// iterations. Default 1e-2, and never less than Options.Eps / 2; set it to
	// that for a single round as OSQP itself does it.
	StartEps float64
	// Retries bounds the rounds with tolerances below Options.Eps / 2. Default 3,
	// negative for none.
	Retries int
	// NoPolishing leaves polishing out.
	NoPolishing bool
	// Patience is the number of iterations after which a solver that has not
	// finished takes the adaption of rho from OSQP, whose rule can cycle for ever.
	// From then on rho changes after 2, 4, 8, .. times as many. Default 4000,
	// negative for never.
	Patience int
	// Rho is the first step size. Default 0.1.
	Rho float64
	// Sigma is the weight of the step in x. Default 1e-6.
	Sigma float64
	// Alpha is the relaxation, in (0, 2). Default 1.6.
	Alpha float64
	// FixedRho keeps Rho as it is. Else it is adapted every
	// AdaptiveRhoInterval iterations, default 50, if it would change by more than
	// the factor AdaptiveRhoTolerance, default 5. The clock has no say.
	FixedRho             bool
	AdaptiveRhoInterval  int
	AdaptiveRhoTolerance float64
	// Scaling is the number of rounds of scaling. Default 10, negative for none.
	Scaling int
	// NoRescaling passes badly scaled problems on as they are. Else rows, columns or
	// an objective that are more than 5e5 apart are first multiplied by powers of
	// two, beyond which OSQP's own scaling does not reach.
	NoRescaling bool
	// CheckTermination is the number of iterations between checks. Default 25.
	CheckTermination int
	// Delta is the regularisation in polishing, default 1e-6, and
	// PolishRefinements the number of refinements of its solution, default 3.
	Delta             float64
	PolishRefinements int
}

// DefaultMaxIterations is the bound on iterations where Options.MaxIterations is 0.
const DefaultMaxIterations = 1_000_000

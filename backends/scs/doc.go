// Package scs puts SCS, the splitting conic solver, behind
// [backends.ConicBackend].
//
// SCS is a first-order method: operator splitting on the homogeneous
// self-dual embedding, with Anderson acceleration. It takes every cone of the
// contract, that of the nuclear norm included, and a quadratic objective, and its iterations are cheap: one solve
// with a matrix factored once, and one projection on each cone. What it does not
// give is many digits on badly conditioned problems, where it may need very many
// iterations or stop at a limit.
//
// # Accuracy
//
// The backend is tested to residuals of 1e-8, which 98 in 100 planted programs reach at least, with every cone and with
// rows, columns and objective up to a million apart. On badly conditioned problems 1e-6 is what to ask of it. An answer
// that misses the tolerance on the caller's data, though SCS calls it solved in its own measure, is carried on with a
// tighter tolerance, at most [Settings].Retries times.
//
// # Formulation
//
// SCS solves min 1/2 x'Px + c'x subject to Ax + s = b, s in K with the same sign
// of the multipliers and the same triangle of a PSD cone, lower by columns, as
// package backends. Rows are sorted into the order that SCS asks for. A box
// l <= s <= u becomes rows of its zero and nonnegative cones:
//
//	l = u           Ax = b - l                  z = y
//	l finite        Ax + s1 = b - l, s1 >= 0    z = y1 - y2
//	u finite       -Ax + s2 = u - b, s2 >= 0
//	neither         no row, s = b - Ax, z = 0
//
// SCS has a box cone of its own, {(t, s): t l <= s <= t u} with a row t = 1 to be
// added. It is used only for rows whose bounds differ by less than a thousandth
// of their size, which as two rows converge hardly at all. For others it takes
// more iterations: t couples all rows, and SCS scales them as one block instead of
// each by its own residual. On the 35 quadratic programs with such rows in the
// collection of Maros and Meszaros, at 1e-8 with 4 s each, two rows solved 28 and
// the box cone 23; of the 22 that both solved, two rows took fewer iterations on
// 14 and more on 5.
//
// A generalized power cone is written as a tower of power cones with three entries
// (package internal/tower), whose variables SCS sees after the caller's.
//
// A matrix in a nuclear norm cone with more columns than rows is given as its
// transpose. Each iteration takes one singular value decomposition of it, where the
// usual way through a positive semidefinite matrix of order rows + cols takes an
// eigenvalue decomposition of that. With such a cone SCS keeps its weights of the
// rows the same within the problem, as with NoAdaptiveDiagScale.
//
// # Updates and limits
//
// New q and b keep the factorisation. New P and A are equilibrated and factored in the order
// found by Setup, without another analysis; the iterations are those of a new Setup. With rows in
// the box cone, and where they are badly scaled, they set up again. A solver starts
// from zero unless WarmStart was called or, after SetEps, where the last Solve ended.
// SetEps and the retries keep the factorisation and the weights. SCS has no functions for SetEps and
// new matrices, so only with the libraries of "make deps" and "make transpile" (cgo/own),
// and one of the system sets up again. A cancelled context and the time
// limit are looked at in every iteration (the limit in every 25th with a library of the
// system; a solve that is by a fifth, and by 0.2 s, over it is then stopped without a
// point). A factorisation
// and a projection, which for a large PSD cone takes seconds, are not interrupted.
// Options.Threads is ignored: SCS runs on one thread, and its BLAS is told to do the
// same. Options.Logger gets one record for each call of SCS, not for each iteration.
//
// # How to get it
//
// The backend is in builds with the tag scs, cgo and the library that "make deps"
// builds; "make" does all of it. It is also in builds with the tag scs_go, for which
// "make transpile" makes Go of the sources of SCS; "CGO_ENABLED=0 make" does that. With
// both tags C is taken where there is cgo. Other builds hold only the Settings type,
// and backends.Open("scs") says what is missing.
//
// Sources: O'Donoghue, Chu, Parikh, Boyd, Conic optimization via operator
// splitting and homogeneous self-dual embedding (2016); O'Donoghue, Operator
// splitting for a homogeneous embedding of the linear complementarity problem
// (2021).
package scs

// Settings are SCS's own settings, for backends.Options.Settings. The zero value
// means the defaults; EpsAbs and EpsRel follow from Options.Eps.
type Settings struct {
	// EpsAbs and EpsRel are SCS's tolerances: a residual may be EpsAbs + EpsRel
	// times the size of its terms. Default Options.Eps / 2 each, which implies
	// what package backends asks for except for the gap.
	EpsAbs, EpsRel float64
	// NoNormalize turns the scaling of the data off.
	NoNormalize bool
	// Scale is the first weight of the primal against the dual residual.
	// Default 0.1.
	Scale float64
	// NoAdaptiveScale keeps Scale as it is, and NoAdaptiveDiagScale keeps it the
	// same for all rows.
	NoAdaptiveScale, NoAdaptiveDiagScale bool
	// RhoX is the weight of the step in x. Default 1e-6.
	RhoX float64
	// Alpha is the relaxation, in (0, 2). Default 1.5.
	Alpha float64
	// AccelerationLookback is the memory of the Anderson acceleration. Default 10,
	// negative for none.
	AccelerationLookback int
	// AccelerationInterval is the number of iterations between its steps. Default 5.
	AccelerationInterval int
	// AccelerationTypeII chooses type II, which is more stable and mostly slower.
	AccelerationTypeII bool
	// NoRescaling passes badly scaled problems on as they are. Else rows, columns or
	// an objective that are more than 5e5 apart are first multiplied by powers of
	// two, beyond which SCS's own scaling does not reach.
	NoRescaling bool
	// Retries bounds how often an answer that misses the tolerance on the caller's
	// data is carried on with a tighter one. Default 5, negative for none.
	Retries int
}

// DefaultMaxIterations is the bound on iterations where Options.MaxIterations is 0.
const DefaultMaxIterations = 1_000_000

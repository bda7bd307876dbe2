// Package clarabel puts Clarabel, the interior point solver for conic programs, behind
// [backends.ConicBackend].
//
// Clarabel is a primal-dual interior point method on the homogeneous embedding, with a
// quadratic objective and a sparse direct factorisation in every iteration: few
// iterations, each of the cost of a factorisation, and many digits. It takes every cone of
// the contract but that of the nuclear norm.
//
// # Accuracy
//
// The backend is tested to residuals of 1e-8. Problems whose rows, columns or objective are
// more than 5e5 apart are rescaled first. An answer that Clarabel calls solved and that
// misses the tolerance on the caller's data is asked for again with a tighter one; where
// Clarabel gives up, or its certificate does not hold, it is asked again without what may
// have been in its way: the numbers before an update, to which its scaling belongs, the
// decomposition of sparse PSD cones, its scaling, the long steps. Each run starts anew, and all count
// as iterations; [Settings].Retries bounds them.
//
// # Formulation
//
// Clarabel solves min 1/2 x'Px + q'x subject to Ax + s = b, s in K with the sign of the
// multipliers of package backends. Each of its rows is a combination of at most two of ours,
// s' = T s + t, so that A' = T A, b' = T b + t and z = T'z':
//
//	box, l = u                  s - l = 0
//	box, l finite               s - l >= 0
//	box, u finite               u - s >= 0
//	PSD                         the triangle upper by columns instead of lower by columns
//	dual exponential (u, v, w)  (u - v, -u, w) in the exponential cone
//	dual power (u, v, w)        (u/a, v/(1-a), w) in the power cone
//	dual generalized power      (x_i/w_i, z) in the generalized power cone
//
// # Updates and limits
//
// New q, b, P and A go into the solver that is there, which keeps its ordering, its symbolic
// factorisation and its scaling; where a PSD cone was decomposed, it is set up again. There
// is no warm start: interior points start from a point of their own. The time limit and a
// cancelled context are looked at in every iteration; a factorisation, or the eigenvalues of a
// large PSD cone, are not interrupted.
// Options.Threads bounds the threads of the factorisation. Options.Logger gets one record
// for each run of Clarabel, not for each iteration.
//
// # How to get it
//
// The backend is in builds with the tag clarabel, cgo and the library that "make deps"
// builds, where there is cargo; "make" does all of it. Other builds hold only the Settings
// type, and backends.Open("clarabel") says what is missing.
//
// Source: Goulart, Chen, Clarabel: an interior-point solver for conic programs with
// quadratic objectives (2024).
package clarabel

// Settings are Clarabel's own settings, for backends.Options.Settings. The zero value
// means the defaults.
type Settings struct {
	// EpsFeasible bounds its residuals, each relative to the sizes of its terms and of x, s
	// and z, and EpsGap its gap. Default Options.Eps / 2.
	EpsFeasible, EpsGap float64
	// EpsInfeasible bounds the residual of its certificates. Default 1e-8, and never more
	// than Options.EpsInfeasible / 2.
	EpsInfeasible float64
	// LinearSolver is "qdldl", "faer", or by default "auto", which takes the second where a factorisation
	// has more than 40 operations for each entry of the factor.
	LinearSolver string
	// NoEquilibration turns Clarabel's scaling of the data off, else it has
	// EquilibrationRounds of it. Default 10.
	NoEquilibration     bool
	EquilibrationRounds int
	// NoChordal leaves sparse PSD cones whole. Else they are decomposed into cliques of the
	// entries that occur, which Merge joins: "clique_graph", the default, "parent_child" or "none".
	NoChordal bool
	Merge     string
	// MaxStep is the part of the way to the boundary of the cones that a step may take, in (0, 1). Default 0.99.
	MaxStep float64
	// StaticRegularization is added to the diagonal of the system before it is factored. Default 1e-8.
	StaticRegularization float64
	// Refinements bounds the refinements of a solution of the system. Default 10.
	Refinements int
	// NoRescaling passes badly scaled problems on as they are. Else rows, columns or an
	// objective that are more than 5e5 apart are first multiplied by powers of two, beyond
	// which Clarabel's own scaling does not reach.
	NoRescaling bool
	// Retries bounds how often Clarabel is asked again. Default 6, negative for never.
	Retries int
}

// DefaultMaxIterations is the bound on the iterations of a run where Options.MaxIterations is 0.
const DefaultMaxIterations = 200

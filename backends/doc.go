// Package backends is the contract between conic models and the solvers that
// solve them, and the registry through which a solver is chosen by name.
//
// # Formulation
//
// Every backend solves the pair
//
//	minimize   1/2 x'Px + q'x          maximize  -1/2 x'Px - b'z + beta(z)
//	subject to Ax + s = b, s in K      subject to Px + A'z = -q, z in K*
//
// with x and q of length n, s, z and b of length m. P is n x n, symmetric
// positive semidefinite, given by its upper triangle; A is m x n; both are
// compressed sparse column. K is the product, in the order of the rows of A,
// of the cones listed in [Problem.Cones].
//
// beta(z) is zero unless K has a [Box]: a box is the set l <= s <= u, and each
// of its rows adds l z+ - u z- to the dual objective, where z = z+ - z- and
// z+, z- >= 0. A row without a finite l needs z+ = 0, and likewise for u.
//
// # The sign of the multipliers
//
// All backends return z with the sign above. The derivative of the optimal
// value with respect to b is -z: for min x subject to -x + s = b, s >= 0, that
// is x >= -b, the optimal value is -b and z is 1.
//
// # What Open adds
//
// [Open] returns a backend whose answers have been recomputed on the caller's
// own data, without any scaling. A point that its solver calls optimal and that
// fails the recheck comes back as [Inaccurate], and a certificate that does not
// prove what it claims as [NumericalError]. [Recheck], [CheckPrimalInfeasible]
// and [CheckDualInfeasible] are the same checks for the caller's own use.
//
// Solvers of such a backend take every [Update]: where the backend itself cannot
// follow, it is set up again at the next Solve. Problems without variables are
// answered here, and cones of dimension 0 never reach the backend. A call while
// another one runs returns [ErrBusy], a call after Close [ErrClosed].
package backends

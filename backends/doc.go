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
// own data, without any scaling, and which says only what was proved:
//
//   - P is proved positive semidefinite, to rounding, at Setup and at each Update; a [*ProblemError] with a
//     direction of negative curvature says that it is not.
//   - [PrimalInfeasible]: with Z in K*, V = b'z - beta(z) < 0 and r = A'z, no x within |x_j| <= R is feasible, where
//     V + sum of |r_j| R is still negative ([Solution.Radius] is R). Variables that single rows bound need no R.
//   - [DualInfeasible]: q'x < 0, and by Px and the distance of -Ax to the recession cone of K no dual
//     point within R is feasible, so that the objective falls without bound wherever the problem is feasible.
//   - Both are said where the numbers outweigh what is left over for all points that are 1/EpsInfeasible times as large
//     as the data suggest, whatever the units of rows and columns. Sums are computed in twice the working precision,
//     with bounds of what is lost. A certificate that misses this is first made better, in 106 bits: what is returned
//     is that to the working precision. Last places of the numbers of the problem, 16 roundings of the terms of each
//     sum, are no reason to refuse a certificate which reaches 5e8 times as far as the data suggest; more is none of
//     theirs, as a part of x that A takes to zero can make terms as large as one likes.
//   - Equations a'x = 0 whose entries are no more than the rounding of the largest ones in their columns are left out,
//     where all other numbers are within a factor of 1000 of one: they are what rounding leaves of 0'x = 0.
//     [Solution.Message] says so.
//   - [Optimal]: the residuals of X, S and Z meet the tolerance, also, less strictly, in units in which the numbers of
//     the problem are near one, and leave b and q their weight in points that are large. In small problems, of up to
//     2 000 rows, columns and entries, so does each residual beside the data of its own row or column, or of a typical
//     one, but for last places. [Solution.Distance] bounds how far the objective is from the optimal value; in small
//     problems it is at most 1e-4, or 100 tolerances, of the terms of the objective, but for the rounding of its own
//     sums.
//   - So does a point whose residuals are at most the square root of the tolerance, and beyond it only by the last
//     places, 16 roundings, of the terms that they are added up from: it is exact for numbers that differ by so much
//     from those given. No residual times its variable or multiplier may then be more than 1e-6 of the largest term of
//     the objective. [Solution.Message] says so.
//   - A point that its solver calls optimal and that fails the recheck comes back as [Inaccurate], and so does a
//     certificate that does not reach so far, with words that say how far it does; one that proves nothing comes back
//     as [NumericalError].
//   - Where a backend comes to no verdict it is asked again: for the problem without bounds that are far from all other
//     numbers, for the point nearest to the constraints, for a direction of endless descent, and for a solution along
//     what these runs led to. Their iterations are counted, and keep to the limits. A point that meets the tolerance
//     where a run got stuck, with residuals of more than a thousandth of it that are no last places, counts when
//     nothing else is found: the most settled one, unless two have other objectives.
//
// [Recheck], [CheckPrimalInfeasible], [CheckDualInfeasible], [Judge.ProvePrimalInfeasible] and
// [Judge.ProveDualInfeasible] are the same checks for the caller's own use, [Judge] the whole test of optimal points.
//
// Solvers of such a backend take every [Update]: where the backend itself cannot
// follow, it is set up again at the next Solve. Problems without variables are
// answered here, and cones of dimension 0 never reach the backend. A call while
// another one runs returns [ErrBusy], a call after Close [ErrClosed].
//
// # Misuse
//
// Functions that return an error return it for every misuse, nil arguments too. The others panic with a message that
// begins with "backends: " where a problem, a backend or a context is nil, or shapes do not fit.
package backends

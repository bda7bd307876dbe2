// Package planted makes conic programs whose answers are known because they were
// planted, and judges what solvers say about them. It is the generator, the oracle
// and the shrinker behind the command conicfuzz, which runs millions of them.
//
// # What is planted
//
//	optimal      x, s in K and z in K* with s'z = beta(z); b = Ax + s, q = -Px - A'z.
//	             The optimal value is 1/2 x'Px + q'x.
//	infeasible   z in K* with A'z = 0 and b'z - beta(z) < 0, and a dual feasible point.
//	unbounded    x with Px = 0, -Ax in the recession cone of K and q'x < 0, and a
//	             feasible point.
//	both         z and x of the last two at once.
//	weak         programs that are feasible or infeasible without a certificate, or whose
//	             value is not attained: what is asked is that no answer contradicts the
//	             points that are known, between whose objectives the value lies.
//	nonconvex    P with v'Pv < 0: Setup has to refuse it.
//
// Programs have up to 16 variables, in the mode [Large] 20 to 79. Up to three rewritings follow, which make the program
// degenerate or say the same in another way: rows and columns repeated, added up or empty, cones in another order,
// intervals in another form, the dual program.
// Numbers are multiples of 2^-8 with few digits, so that sums and products are exact:
// certificates and rays hold without any rounding, and so do planted points, except on
// the curved part of exponential, power, matrix and nuclear norm cones, where they hold
// to rounding. A scale k multiplies rows (cones that are no product of intervals as
// a whole), columns, the objective and the right-hand side by powers of 2 between 10^-k
// and 10^k, which keeps all of this.
//
// # What is wrong
//
// An answer is wrong if it
//
//   - calls an infeasible or unbounded program optimal,
//   - calls a program infeasible that has the planted feasible point, or unbounded ("dual infeasible") when a dual
//     feasible point was planted, unless the rounding of that point is all that speaks against the ray: it is undecided
//     then,
//   - is optimal with an objective that is farther than 1e-4 max(1, u) from those of the planted points or what lies
//     between, where u is the largest of |value|, |q_j x_j|, |b_i z_i| and x'Px/2 there, the size of what the value is
//     added up from; that of the optimal dual point is lower by what rounding leaves of s'z,
//   - is optimal with an objective farther from the value than [backends.Solution] says in
//     Distance, where that speaks about the planted solution,
//   - is not a solution in the sense of [backends.Solution] (lengths, finite numbers,
//     an objective that is not that of x),
//   - or is a panic, or an error of Setup or Solve, except for nonconvex programs, where
//     anything else is wrong.
//
// An answer is undecided if it claims nothing: inaccurate, a limit, a numerical error.
package planted

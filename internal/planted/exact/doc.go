// Package exact decides tiny convex programs in rational arithmetic, as a referee of
// solvers that work with rounding.
//
// [Solve] takes a program of package backends with zero, nonnegative and box cones,
//
//	minimise 1/2 x'Px + q'x  subject to  Ax + s = b,  s in K,
//
// whose numbers it takes as the rationals that they are. Its conditions of optimality
// are a linear complementarity problem, which Lemke's method solves by pivots with the
// lexicographic rule (Cottle, Pang and Stone, The Linear Complementarity Problem, 4.4):
// for a positive semidefinite P it ends in a solution, or in a ray that proves that the
// program is infeasible, or unbounded where it is feasible. Every answer carries its
// proof, which is checked by multiplication and comparison alone before it is returned.
//
// It is for a handful of variables and rows: all tableaux are dense, and the numbers
// grow with every pivot. The mode "exact" of package planted asks backends for the answers
// to such programs.
package exact

// Package convex builds convex models from variables, parameters and atoms,
// compiles them once to conic programs of package backends, and solves them
// again and again as the parameters change.
//
// # Models
//
// A [Model] has variables, which are free vectors, an objective and constraints:
//
//	minimize f(x) subject to g_i(x) <= a_i(x), b_j(x) = c_j(x)
//
// with a_i, b_j, c_j affine ([Affine]) and f, g_i convex ([Convex]): an affine
// part plus atoms with nonnegative weights. The atoms are [SumSquares], [Norm1],
// [Norm2], [NormInf], [GroupNorms], [NuclearNorm], [Abs], [Pos] (the hinge), [Huber], [Logistic], [Exp] and [Max]. What is
// not convex by these rules cannot be written, or is an error of [Model.Compile];
// errors made in building an expression stay with it until then.
//
// A [Parameter] is a vector of numbers that may change between solves. It stands
// in constant terms ([Parameter.Expr]), as a factor of variables ([Parameter.Times],
// [Parameter.Dot]) and as a weight in the objective ([Convex.Weight]), never as
// a factor of another parameter.
//
// # Compilation
//
// The conic program is
//
//	minimize 1/2 x'Px + q'x subject to Ax + s = b, s in K
//
// with the model's variables first in x, in the order of their creation, then
// auxiliary ones, and with the rows in the order zero cone, nonnegative cone,
// second-order cones. Affine terms in any parameter change q, b or the values of
// A or P, never the pattern, so a change of parameters is an update of the
// numbers that depend on them.
//
//	SumSquares, objective   P = 2 on the entries of the variable itself where each row has one,
//	                        otherwise on residuals e with Mx + c - e = 0
//	SumSquares <= h         |((h-c)/2, sqrt(c) a)| <= (h+c)/2, c = |a(0)|^2/100 or 1; all squares of
//	                        a constraint share the cone
//	Norm2, GroupNorms <= h  second-order cones with h as head
//	NuclearNorm <= h        the cone of the nuclear norm where the backend has it, else a semidefinite matrix
//	                        [W1 X; X' W2] with (tr W1 + tr W2)/2 <= h; see also below
//	Abs, Pos, Max <= h      rows without new variables where one stands alone
//	Huber                   a sum of squares and a 1-norm: min over v of (a-v)^2/2 + delta |v|
//	Logistic <= h           exp(a-h) + exp(-h) <= 1, two exponential cones an entry
//	Exp <= h                one exponential cone an entry
//	elsewhere               a variable u >= atom in its place
//
// A dense sum of squares with more than twice as many rows as columns is
// replaced by its QR factor, which has the same value at every point.
//
// # Multipliers and sensitivities
//
// Constraints are their own handles: [Result.Dual] returns multipliers, not
// negative for inequalities, whose sign is fixed by
//
//	d(optimal value)/d(right side) = -Dual     for LessEqual and Equal
//	d(optimal value)/d(right side) = +Dual     for GreaterEqual
//
// [Result.Sensitivity] is the derivative in a parameter, wherever it stands. In
// min 1/2 (x-a)^2 subject to x <= h with h < a the solution is x = h, the
// multiplier a - h, and the sensitivity in the parameter h is h - a.
//
// # Engines
//
// A [Solver] has several ways of solving a program. They are built in one place (engine.go) as a chain, which
// [Solver.Chain] shows, with a reason for each that does not take the program: exchanges of active constraints, working sets of
// singular vectors, of columns and of rows, and the backend with the whole program. Each solve asks them in this order; an engine
// may pass a program on at its current numbers. [Result.Engine] is the one that has answered, and Options.Logger hears of all. The
// three kinds of working sets share one loop (rounds.go): restrict, solve, price, extend.
//
// # Working sets
//
// With [SolverOptions.WorkingSets], entries of a variable v to which
// Norm1(v.Expr()) is applied, anywhere in the model, are fixed at zero outside a
// working set. Their columns, the rows of their norm, and rows of other cones
// that are empty then are not even built: with p features of which a few matter,
// the cost of an iteration is that of the few. The multipliers of the small
// program price the others: with g_j the derivative in v_j of the Lagrangian
// and h_j the multiplier of the norm, zero is optimal for v_j in the full
// program if |g_j| <= h_j. Violators enter, and the program is solved again. A
// result is optimal only if the point completed with zeros, and with multipliers
// for the rows left out, meets the tolerance for the full program;
// [Result.Conic] returns that point for an independent check. This is the
// method of column generation; the criterion is that of the strong rules'
// check in Tibshirani et al., Strong rules for discarding predictors in
// lasso-type problems (JRSS B 74, 2012), section 7, for any convex model.
//
// Models with sums of [Pos] of many entries have working sets of rows instead: few
// entries are at the kink, and the others are 0 or linear. See rows.go. Here it is the point
// and not the multipliers that is checked, and the result is optimal only if the point
// completed to the full program meets the tolerance.
//
// # Working sets of singular vectors
//
// A variable that stands, as a whole m x n matrix X, in a NuclearNorm has a solution of low rank. Small ones are solved as one
// semidefinite program all the same, see direct.go. With working sets neither the m n entries nor a semidefinite matrix are ever in a conic program. A round has five steps:
//
//  1. Restrict: X = sum_a c_a u_a v_a' with orthonormal u_a, v_a and c_a >= 0, so that |X|_* = sum_a c_a is linear. The
//     unknowns are c and the other variables of the model; the solver sees an ordinary program of their number (pairs.go, restrict.go).
//  2. Complete: the multipliers of the small program give the gradient G in X of the rest of the Lagrangian, and
//     with the multiplier g of the norm, X is optimal for the full program if |G|_2 <= g and u_a'G v_a = -g
//     wherever c_a > 0. That one spectral norm prices all matrices at once. The completed point, with multipliers scaled
//     so that they are feasible, is measured against the full program; within the tolerance it is the result
//     (matrixpoint.go, measure.go).
//  3. Turn: near the solution the pairs of X only have to turn. They do by a step of Newton's method on the manifold of
//     matrices of that rank, whose Hessian is that of the quadratic terms of the model plus the curvature of the norm
//     (tangent.go, curvature.go), and in which the other variables and the active constraints take part (response.go).
//     Its system is solved by conjugate gradients on vectors of (m + n) rank entries.
//  4. Enter: singular vectors of G above, or about to exceed, g become new pairs (spectral.go, matrixmove.go).
//  5. Hold back: if the objective has not decreased, the step was too long; it is repeated with more damping.
//
// The method is a conic relative of those of
// Dudik, Harchaoui, Malick (Lifted coordinate descent for learning with trace-norm regularization, AISTATS 2012), which lets pairs
// enter, and of Mishra, Meyer, Bach, Sepulchre (Low-rank optimization with trace norm penalty, SIAM J. Optim. 23,
// 2013), which moves them on the manifold. The rounds converge quadratically once the rank is found; where the solution is
// not unique they may not settle, and after some rounds C becomes a whole semidefinite matrix of the size of the rank.
package convex

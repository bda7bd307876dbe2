// Package machine fits linear support vector machines in a box.
//
// # Formulation
//
// With rows x_i, labels y_i of -1 and 1, weights u_i > 0 of sum 1 and the decision value x.w - c, [Problem.Solve]
// solves
//
//	minimize over w, c   sum_i u_i max(0, 1 - y_i (x_i'w - c)) + lambda/2 |w|^2
//	subject to |w_j| <= bound_j for each feature j.
//
// With a_i = y_i x_i, multipliers 0 <= alpha_i <= u_i of sum_i y_i alpha_i = 0, and v = sum_i alpha_i a_i,
//
//	D(alpha) = sum_i alpha_i - sum_j max over |w| <= bound_j of (v_j w - lambda w^2 / 2)
//
// is a lower bound of the optimal value, attained at the solution: there w_j is v_j / lambda, cut to the box, and
// alpha_i is 0 where the margin s_i = 1 - a_i'w + y_i c is negative, u_i where it is positive, and between where the
// row is at the kink of its loss.
//
// With the squared hinge, see [Problem.Squared], alpha_i has no upper bound, and D(alpha) is less by the sum of the
// alpha_i^2 / (4 u_i).
//
// [Problem.Within] minimises the loss alone, with |w|^2/2 at most a radius, within the box; [Subproblem] solves the
// second program of VF-iDCA, for several folds together.
//
// # Method
//
// Up to 500 rows, and up to 2000 where that is less work, an active-set path, as in parametric methods for quadratic
// programs (Best 1996; Ferreau, Bock, Diehl 2008). A point whose alpha meet their bounds and their equation is the
// solution of the program with the linear term, right sides and bounds moved; as they go back, w, c and alpha are
// piecewise linear, and where a row reaches its kink, an alpha its bound, or a feature the box or its inside, it
// changes sides. What the path solves are systems of the order of the number of rows at their kinks, whose Cholesky
// factor is changed and not made anew. From the solution at other lambda and bounds the cost is that of what the two
// solutions differ by. Where there are many times as many features as rows, so that thousands of features change sides,
// the path begins at the end of Newton steps on the dual program (see kernel).
//
// Beyond, the method of multipliers with semismooth Newton steps (Rockafellar 1976; Yan and Li 2020), each of which
// takes the rows near their kinks alone: a system of the order of the features where these are at most 1000, and else
// by conjugate gradients, the pieces of the box changed by gradient steps between (Moré, Toraldo 1991). All rows are
// gone through a few times in a fit. What does not come to its end so is solved by a path. With the squared hinge the
// function is smooth as it is, and these steps are the finite Newton method of Keerthi and DeCoste (2005).
//
// Subproblems are solved by an interior-point method (Mehrotra 1992) on few rows and features, and else by the method
// of multipliers.
package machine

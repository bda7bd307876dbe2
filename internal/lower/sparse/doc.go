// Package sparse fits regressions with penalties that make coefficients zero, and solves the subproblems of VF-iDCA
// that they are in.
//
// # Formulation
//
// With an n x p design X, targets y, half squares or a loss l of package glm, weights w1, w2 >= 0 and factors f of the
// features, [Fit] solves
//
//	minimize over b (and b0)   1/n sum_i l(y_i, x_i'b + b0) + sum_j f_j (w1 |b_j| + w2/2 b_j^2)
//
// with bounds of coefficients, and perhaps with validation rows in it; units have norms of groups of coefficients.
// Without an intercept b0 is absent; with one it is free. The error of a solution is bounded by a duality gap.
//
// # Method
//
// Training rows are fitted by package glm, of a single fold that leaves nothing out. Fits with validation rows in them
// have models to second order, see [Fit] (Lee, Sun, Saunders, Proximal Newton-type methods for minimizing composite
// functions, SIAM J. Optim. 24, 2014), which are solved by glm's Newton steps ([glm.Quadratic]); derivatives are by the
// systems of these ([glm.System]).
package sparse

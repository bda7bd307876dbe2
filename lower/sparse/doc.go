// Package sparse fits regressions with penalties that make coefficients zero, and solves the subproblems of VF-iDCA
// that they are in.
//
// # Formulation
//
// With an n x p design X of n rows, targets y of length n, and weights w1, w2 >= 0,
// one or one for each feature, [Regression] solves
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + sum_j w1_j |b_j| + 1/2 sum_j w2_j b_j^2
//
// the lasso (w1 common, w2 = 0), the elastic net (both common) and the weighted lasso (w1 of each
// feature). Without an intercept b0 is absent; with one it is free. A feature with
// both weights 0 is not penalised.
//
// The error of a solution is bounded by a duality gap. [Groups] have norms of groups of coefficients. [Fit] is an
// elastic net of any loss, [Squares], [Logistic], [Poisson], [Cox] or [Multinomial], with factors and bounds of
// features, and perhaps with validation rows in it.
//
// # Method
//
// Losses that are sums over rows are fitted by package glm, of a single fold that leaves nothing out. Times, classes and
// fits with validation rows in them have Newton steps of their models to second order, see [Fit] (Lee, Sun, Saunders,
// Proximal Newton-type methods for minimizing composite functions, SIAM J. Optim. 24, 2014).
package sparse

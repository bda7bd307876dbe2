// Package glm solves penalised fits of all folds of a cross-validation together, at one vector of weights after the
// other.
//
// # Formulation
//
// With targets Y (n x q), features X (n x p), weights of rows omega, coefficients B (p x q) and the training rows T of
// a fold, it minimises
//
//	1/(2 sum_T omega_i q) sum_T omega_i |y_i - B'x_i - b0|^2 + sum_u w_u |B_u|_F + sum_j (v_j |B_j|_1 + m_j/2 |B_j|^2)
//
// over B and a free constant b0, if there is an intercept; units u are rows of B, or groups of rows, that are used
// together. One row and one target are the lasso and the elastic net, one row and several targets the multi-task
// regression, several rows the (sparse) group lasso. A single coefficient may have bounds about zero. A [Loss] may
// stand in the place of the squares of one target. Features in an order may have the penalty of the fused lasso, see
// [Table].
//
// # Method
//
// What the folds need of the rows are products of columns. The matrix of a fold is that of all rows less that of the
// rows it leaves out (Friedman, Hastie, Tibshirani, Regularization paths for generalized linear models via coordinate
// descent, J. Stat. Softw. 33, 2010, call updates by these "covariance updates"), so that all folds together cost one
// pass. Of more features than rows, and of rows so sparse that a sweep over them takes less than one by products, it
// works with residuals. Each fold goes down by block coordinate descent over its working set: the units in use, and in
// each round about as many at most of those that are furthest from the conditions of optimality (Massias, Gramfort,
// Salmon, Celer: a fast solver for the lasso with dual extrapolation, ICML 2018). Sweeps are extrapolated, and where
// they are slow, Newton steps on the units that are not zero end them. A step goes along its direction as far as the
// objective falls, past the kinks where coefficients become zero. The duality gap comes of the same products.
//
// The fused lasso is worked with in differences of coefficients: proximal steps find its pieces, see chain.
//
// A single fit is one fold that leaves nothing out. It may begin at any coefficients, see [Path.From], and many may be
// solved at the same time.
//
// Systems of Newton steps have a factor of the order of the features in use, or of the rows, or are solved by conjugate
// gradients; they also give the derivatives of fits, see [System]. Sums of models of losses, as joint fits of training
// and validation rows have them, are solved by the same sweeps and steps, see [Quadratic].
//
// Other losses are solved by quadratic models, a fit of squares each, see curved: with the curvatures of all folds
// together where there are products, and of the fold else. As they are not negative, the gap needs no conjugates. A
// solve to any gap ends by Newton steps. Proportional hazards and classes have second derivatives that are not those of
// rows alone, see [Coupled]: the working set has a matrix of these, or truncated steps, or of many sparse columns of
// classes sweeps by rows.
package glm

// Package glm solves penalised fits of all folds of a cross-validation together, at one vector of weights after the other.
//
// # Formulation
//
// With targets Y (n x q), features X (n x p), weights of rows omega, coefficients B (p x q) and the training rows T of a fold, it minimises
//
//	1/(2 sum_T omega_i q) sum_T omega_i |y_i - B'x_i - b0|^2 + sum_u w_u |B_u|_F + sum_j (v_j |B_j|_1 + m_j/2 |B_j|^2)
//
// over B and a free constant b0, if there is an intercept; units u are rows of B, or groups of rows, that are used together. One row and one
// target are the lasso and the elastic net, one row and several targets the multi-task regression, several rows the (sparse) group lasso.
// A single coefficient may have bounds about zero.
//
// # Method
//
// What the folds need of the rows are products of columns. The matrix of a fold is that of all rows less that of the rows it leaves out
// (Friedman, Hastie, Tibshirani, Regularization paths for generalized linear models via coordinate descent, J. Stat. Softw. 33, 2010, call updates
// by these "covariance updates"), so that all folds together cost one pass. Of more features than rows, products are made of those alone that came in.
// Each fold goes down by block coordinate descent over its working set, which the sequential strong rule proposes (Tibshirani and others,
// J. R. Stat. Soc. B 74, 2012) and the conditions of optimality of all units complete. Where sweeps are slow, a Newton step on the
// units that are not zero ends them. The duality gap comes of the same products.
package glm

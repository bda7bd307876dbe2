// Package factor holds factors of positive definite matrices: [Cholesky] for one that gains, loses and changes rows, as
// active sets and homotopies do, [Definite] for one that is made anew by blocked kernels, and the sums of outer
// products that such matrices are.
package factor

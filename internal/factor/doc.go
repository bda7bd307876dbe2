// Package factor holds factors of positive definite matrices: [Cholesky] for one that gains, loses and changes rows, as
// active sets and homotopies do, and [Definite] for one that is made anew by blocked kernels.
package factor

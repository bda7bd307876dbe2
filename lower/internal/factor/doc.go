// Package factor holds factors of positive definite matrices: [Cholesky] for one that gains and loses rows, [Definite] for one that is made anew by
// blocked kernels, and the sums of outer products that such matrices are.
package factor

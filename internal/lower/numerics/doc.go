// Package numerics has what the engines of lower have in common: conjugate gradients, a line search, a compass search,
// a small quadratic program within bounds, and the test of whether a gap still falls.
package numerics

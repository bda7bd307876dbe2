// Package design holds the data of a fit: an n x p matrix whose rows are observations and whose columns are features,
// dense or sparse. Solvers go through it by columns.
package design

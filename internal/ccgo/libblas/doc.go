// Package libblas gives the transpiled SCS the functions of BLAS and LAPACK that it calls, by gonum's.
//
// They take what those of Fortran take: addresses, matrices by columns, indices from 1. gonum has matrices by rows. A
// matrix by columns is its transpose by rows, so that most functions are gonum's with A for A', upper for lower, left
// for right; only what pivots columns and returns them needs a copy.
//
// Those for complex matrices are there to be linked: the mirror of SCS (package internal/ccgo/scs) has no cone that
// calls them.
//
// Everything but this comment needs the build tag scs_go.
package libblas

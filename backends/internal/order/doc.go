// Package order finds the order in which to eliminate the unknowns of a sparse
// symmetric system, and the shape of the factor that results.
//
// # Patterns
//
// A symmetric n x n pattern is given by the entries strictly above its diagonal
// in compressed columns: the row indices of column j are
// rowidx[colptr[j]:colptr[j+1]], in any order. len(colptr) is n+1. Entries on or
// below the diagonal are ignored, so that a full symmetric pattern may be passed
// as well, and duplicates are harmless. No function changes its arguments, and
// none looks whether shapes and indices fit.
//
// # Ordering
//
// [AMD] returns an approximate minimum degree ordering. A permutation perm has
// perm[k] = original index of the k-th pivot, so that the factorised matrix is
// P A P' with (PAP')[i][j] = A[perm[i]][perm[j]]. The method is
//
//	P. R. Amestoy, T. A. Davis, I. S. Duff: An approximate minimum degree
//	ordering algorithm. SIAM J. Matrix Anal. Appl. 17 (1996) 886-905,
//
// with two additions of our own for the dense rows that the KKT systems of data
// fitting have: how they are set aside, described at the constants of amd.go, and when a block
// of them has its turn, described at the method priority. Rows that a caller knows
// to be twins may be given as one row with a weight, see [Options]. The order is a
// postorder of the assembly tree. A code that needs a postorder of the
// elimination tree itself applies [Postorder] to it, which does not
// change the number of entries of L and does not tear supernodes apart.
//
// # Shape of the factor
//
// [Etree], [Postorder] and [ColCounts] take the pattern of the permuted matrix
// and return its elimination tree, a postorder of that tree, and the number of
// entries in each column of L:
//
//	J. W. H. Liu: The role of elimination trees in sparse factorization.
//	SIAM J. Matrix Anal. Appl. 11 (1990) 134-172;
//	J. R. Gilbert, E. G. Ng, B. W. Peyton: An efficient algorithm to compute row
//	and column counts for sparse Cholesky factorization. SIAM J. Matrix Anal.
//	Appl. 15 (1994) 1075-1091.
//
// The counts hold for any factorisation that takes its pivots in this order from
// the diagonal: LL', and LDL' of a quasi-definite matrix.
package order

// Package completion fits matrices of low rank to known entries of an m x n matrix, beside a linear regression on
// features of these entries.
//
// # Formulation
//
// [Problem.Solve] has penalties,
//
//	minimize over b, G (and b0)   1/(2N) |y - X b - G_known - b0|^2 + w_0 |G|_* + sum_g w_g |b^(g)|_2,
//
// with |G|_* the sum of the singular values, and a row of X and of y for each of the N known entries; [Problem.Within]
// has bounds of the same norms. Without an intercept b0 is absent.
//
// # Method
//
// Small completions, of at most 2000 known entries and 120 rows and columns, are solved by a primal-dual interior-point
// method on the dual, which has an unknown for each known entry, in some ten iterations whatever the rank of G and the
// weights. What is zero in the limit is then left out. The dual point, always feasible, gives a lower bound.
//
// Larger ones are solved by their factors, see [Joint]: with G = A B' the objective is smooth and has
//
//	|G|_* = min { (|A|^2 + |B|^2) / 2 : A B' = G },
//
// so that Newton's method goes to the solution of as many columns as A and B have. Its systems are solved by conjugate
// gradients, whose products cost one pass over the known entries. Between its steps a proximal one in the singular
// values alone sets to zero what Newton's method would only shrink. Columns that are missing are singular vectors of
// the residual; the residual, scaled so that its matrix over the known entries has a spectral norm of at most N w_0,
// gives the bound. Where rounding ends the interior-point method, or a tolerance below 1e-10 is asked for, small ones
// go on so.
package completion

// Package separable solves the two programs of an iteration of VF-iDCA for linear regressions with many penalties that
// are norms of groups of coefficients, each with its own radius, and perhaps the 1-norm of all of them: weighted lasso,
// group lasso, sparse group lasso. No conic program is built, and nothing of the order of the features squared.
//
// # Lower level
//
//	v(r) = min over b, b0 of  1/(2n) |y - X b - b0|^2   subject to |b_g| <= r_g for each group g,  |b|_1 <= r_s
//
// is solved by proximal steps on (b, b0) with a falling weight rho (Rockafellar 1976). Any residuals u, with the mean 0
// where there is an intercept, and any m >= 0 bound it from below,
//
//	v(r') >= -y'u - n/2 |u|^2 - sum_g r'_g |soft(X_g'u, m)| - r'_s m   for all r',
//
// so that lambda_g = |soft(X_g'u, m)| and lambda_s = m are multipliers.
//
// # Subproblem
//
// With parts k, the folds of a cross-validation, that share the radii, the program of [bilevel.Centre] has multipliers
// m_0 of V <= t and m_k of |b^k|_1 - r_s <= t. For given ones, and residuals u of all rows, what remains falls apart
// into groups: with z = X - A'u / rho around the centre X, soft their shrinkage by m_k / rho, q_k = |soft(z_g^k)| and
// c_g = R_g - m_0 gamma_g / rho,
//
//	minimize   sum_k (s_k - q_k)^2 + (r_g - c_g)^2   over s_k <= r_g + t,  low_g <= r_g <= high_g,
//
// which is solved by sorting; b_g^k is soft(z_g^k) with the norm s_k. The best t is the root of one monotone function.
//
// # Method
//
// Both are the maximum of a concave function of (u, m), one entry for each row and a few more, which is differentiable
// and has a generalised second derivative everywhere: Newton's method with a search along each step (semismooth Newton;
// Li, Sun, Toh, SIAM J. Optim. 2018). Its matrix is factored at the order of the rows or of the coefficients that are
// free to move, whichever is smaller.
//
// Subproblems of small matrix completions are solved in the same way: |G|_* of a matrix G takes the place of |b|_1, and
// singular value thresholding of X - R(u) / rho, with R(u) the matrix of the residuals, that of the shrinkage. See
// matrix.go.
//
// The gap of an answer is its objective less the dual function, with all features.
package separable

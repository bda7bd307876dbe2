// Package multipliers solves the two programs of an iteration of VF-iDCA by the multipliers of their constraints, for
// fits that are a [bilevel.Joint]: no conic program is built, and a solve costs a few fits of the order of the features
// in use.
//
// # Lower level
//
// The dual of v(r) = min l(x) s.t. P_j(x) <= r_j is the maximum over m >= 0 of the concave function
//
//	D(m) = min over x of l(x) + sum_j m_j P_j(x)  -  m'r,   D'(m) = P(x) - r.
//
// # Subproblem
//
// With parts t = 1, .., T, the folds of a cross-validation, that share the radii r, and with losses that are means over
// them,
//
//	minimize   L(x) + rho/2 |x - x_k|^2 + rho/2 |r - r_k|^2 + alpha t
//	subject to V(x, r) = l(x) - v_k + gamma'(r - r_k) - epsilon <= t,  P_j(x^t) - r_j <= t,  t >= 0,  lo <= r <= hi
//
// has multipliers m_0 of V <= t and m_tj of the penalties, not negative and alpha in all at most. For given ones x is
// the minimiser of a joint fit,
//
//	r_j = clip(r_kj - (m_0 gamma_j - sum_t m_tj) / rho, lo_j, hi_j),
//
// and the dual function is concave with the values of the constraints as its derivative. Any multipliers bound the
// optimal value from below and any (x, r) from above; as the objective is rho-strongly convex, |z - z*|^2 <= 2 gap /
// rho.
//
// # Method
//
// Newton's method on the dual function, whose second derivative the fit has: each step is a small quadratic program
// over the multipliers. Where losses are not quadratic, all this is done for their models at a point, and then for
// those at the solution, as in sequential quadratic programming; steps end where the objective no longer falls. Package
// fits, which has the fits, compares both programs with conic ones.
package multipliers

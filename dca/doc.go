// Package dca solves bilevel programs whose lower level is convex by VF-iDCA, the value-function based
// difference-of-convex algorithm with inexactness of Gao, Ye, Yin, Zeng, Zhang, "Value Function Based
// Difference-of-Convex Algorithm for Bilevel Hyperparameter Selection Problems", ICML 2022 (Algorithm 1, and its
// general form of Supplement B).
//
// # The bilevel program
//
// With hyperparameters h = (r, u), of which r are radii,
//
//	minimize   L(x, h)   over x and lo <= h <= hi
//	subject to x solves  v(h) = min { l(x, h) : P_i(x, h) <= r_i, g(x, h) <= 0, x in X }
//
// where L, l, P_i, g are convex and X is a convex set. A hyperparameter lambda that multiplies a penalty P_i is
// replaced by the radius r_i that bounds it; the multipliers of P_i(x) <= r_i at the solution are the lambda.
//
// v is convex, so that
//
//	minimize L(x, h)  subject to  l(x, h) - v(h) <= epsilon,  P_i(x, h) <= r_i,  g(x, h) <= 0
//
// has constraints that are differences of convex functions. epsilon is 0, or a
// small relaxation that keeps the penalty bounded.
//
// # The iteration
//
// From z_k = (x_k, h_k) and a penalty alpha_k,
//
//  1. solve the lower level at h_k: its value v(h_k), its solution, and a
//     subgradient s_k of v, which for radii is -gamma_k with multipliers gamma_k >= 0;
//  2. minimise, over x in X and lo <= h <= hi, the convex function
//     phi_k = L(x, h) + rho/2 |z - z_k|^2 + alpha_k max{0, V_k(x, h), P_i(x, h) - r_i, g(x, h)}
//     with V_k = l(x, h) - v(h_k) - <s_k, h - h_k> - epsilon;
//  3. t_{k+1} is that maximum at the new point. Stop when the relative step
//     Delta = |z_{k+1} - z_k| / sqrt(1 + |z_k|^2) and t_{k+1} are below the tolerance;
//  4. if max{alpha_k, 1/t_{k+1}} < c_alpha / Delta then add delta to alpha_k.
//
// The step of rule 4 is the relative one; Algorithm 1 has the absolute one
// there, with which the published figures do not come out.
//
// Both problems are compiled once. The lower level changes only in right-hand sides from one iteration to the next, the
// second problem in its linear objective, one row of its matrix and right-hand sides.
//
// # The sign of multipliers
//
// Multipliers of inequalities are nonnegative: the derivative of v in r_i is -gamma_i.
package dca

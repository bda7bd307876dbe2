// Package augmented lets a backend of quadratic programs solve programs with second-order and exponential cones.
//
// # Method
//
// For
//
//	minimize 1/2 x'Px + q'x   subject to   b_L - A_L x in K_L,  s = b - Ax in K,
//
// with K_L of intervals, which the backend has, and K a product of the other cones, the method of multipliers
// (Rockafellar 1976) has for multipliers z and a weight sigma the function
//
//	F(x) = 1/2 x'Px + q'x + sigma/2 dist(s - z/sigma, K)^2
//
// to minimize over b_L - A_L x in K_L, and then the multipliers sigma (proj_K(w) - w), w = s - z/sigma. F is once
// differentiable, and its gradient semismooth: each step of Newton's method (Qi and Sun 1993; for such functions Zhao,
// Sun and Toh 2010) with a line search is a quadratic program, in which two more unknowns a second-order cone keep the
// matrices sparse. With w = (t, v), u = v/|v| and |v| > |t|, the curvature of the distance is
//
//	1/2 (t - u'v)^2 / 2  +  (|v| - t) / (2 |v|) min_eta |v - eta u|^2 / 2,
//
// inside K it is none, and inside -K that of |w|^2/2. An exponential cone, or its dual, has a matrix of order three,
// from the derivative of the projection (exponential.go). The programs of one solve have one pattern, so that the
// backend updates numbers and starts from the last solution. They are solved as far as the step is worth it: to a
// hundredth of the gradient of F, or to what the change of the multipliers waits for (Rockafellar's criteria), and to a
// share of the caller's tolerance at the end. A point in the cone and multipliers in its dual with the product zero
// come with each step: what is left are the residuals of the equations, and the caller's tolerance is tested on these.
package augmented

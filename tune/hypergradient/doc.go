// Package hypergradient chooses the hyperparameters of a penalised problem by
// descending along the gradient of its validation loss, the hypergradient.
//
// # Formulation
//
// With a validation loss L, a training loss l, penalties P_i and hyperparameters lambda_i >= 0,
//
//	minimize   f(lambda) = L(x(lambda)),   x(lambda) = argmin over x of l(x) + sum_i lambda_i P_i(x).
//
// The lower level is not smooth, but near almost all lambda the coefficients that are zero, the
// support and the signs stay as they are. On what is free to move, S, the conditions of optimality are smooth
// equations, and so (Feng, Simon 2018; Bertrand et al. 2020)
//
//	H dx_S/dlambda_i = -grad_S P_i,   H = Hessian_S of l + sum_i lambda_i P_i,
//	df/dlambda_i = grad_S L' dx_S/dlambda_i = -v' grad_S P_i   with   H v = grad_S L.
//
// The forward mode computes the Jacobian dx_S/dlambda, a column for each hyperparameter, by a factor of H, of the order of the
// rows or the coefficients in use, whichever are fewer, and where both are too many by epochs of coordinate descent. The adjoint mode solves for v,
// one system however many hyperparameters there are. The truncated mode ends an iterative solution of these systems early.
//
// # Methods
//
//   - [IGJO]: implicit gradient-based joint optimisation, gradient descent with backtracking. Feng and Simon, Gradient-based
//     regularization parameter selection for problems with non-smooth penalty functions, JCGS 2018. [Backtracking] and the truncated
//     mode make it what their program, and the experiments with it, are: the limit of that mode is what keeps its steps long where H is
//     badly conditioned.
//   - [IFDM]: implicit forward differentiation, in the logarithm of lambda. Bertrand, Klopfenstein, Blondel, Vaiter,
//     Gramfort, Salmon, ICML 2020; Bertrand, Klopfenstein, Massias et al., JMLR 2022.
//   - [HOAG]: approximate gradients from lower levels solved to a tolerance that falls. Pedregosa, ICML 2016.
//
// All three look at lower-level solutions only: the point with the least validation
// loss among them is the result. They read the clock for their trace and decide nothing by it.
package hypergradient

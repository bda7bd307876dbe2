// Package hypergradient chooses the hyperparameters of a penalised problem by
// descending along the gradient of its validation loss, the hypergradient.
//
// # Formulation
//
// With a validation loss L, a training loss l, penalties P_i and hyperparameters lambda_i >= 0,
//
//	minimize   f(lambda) = L(x(lambda)),   x(lambda) = argmin over x of l(x) + sum_i lambda_i P_i(x).
//
// It asks a [lower.Fit] for x(lambda) and for the gradient of f, which package fits documents.
//
// # Methods
//
//   - [IGJO]: implicit gradient-based joint optimisation, gradient descent with backtracking. Feng and Simon,
//     Gradient-based regularization parameter selection for problems with non-smooth penalty functions, JCGS 2018.
//     [Backtracking] and the truncated mode make it what their program, and the experiments with it, are: the
//     limit of that mode is what keeps its steps long where the Hessian is badly conditioned.
//   - [IFDM]: implicit forward differentiation, in the logarithm of lambda. Bertrand, Klopfenstein, Blondel, Vaiter,
//     Gramfort, Salmon, ICML 2020; Bertrand, Klopfenstein, Massias et al., JMLR 2022.
//   - [HOAG]: approximate gradients from lower levels solved to a tolerance that falls. Pedregosa, ICML 2016.
//
// All three look at lower-level solutions only: the point with the least validation
// loss among them is the result. They read the clock for their trace and decide nothing by it.
package hypergradient

// Package convex builds convex models from variables, parameters and atoms,
// compiles them once to conic programs of package backends, and solves them
// again and again as the parameters change.
//
// # Models
//
// A [Model] has variables, vectors and matrices that may have attributes as [Nonneg] and [PSD], an objective and
// constraints:
//
//	minimize f(x) or maximize -f(x) subject to g_i(x) <= h_i(x), b_j(x) = c_j(x)
//
// with b_j and c_j affine, f and g_i convex and h_i concave. An expression ([Expr]) knows its shape, sign and
// curvature. Functions take expressions, numbers, slices and matrices:
//
//	affine       Add, Sub, Neg, Scale, Dot, Mul, Sum, SumRows, CumSum, Diff, Trace, Kron, Conv
//	entries      At, Pick, Slice, Cols, Stack, Beside, Reshape, Transpose, Diag
//	squares      SumSquares, QuadForm, QuadOverLin, Huber
//	norms        Norm1, Norm2, NormInf, Norm, GroupNorms, TotalVariation
//	convex       Abs, Pos (the hinge), Max, Maximum, SumLargest, Exp, Logistic, LogSumExp, RelativeEntropy, Power
//	concave      Min, Minimum, Log, Entropy, GeoMean, Power and Norm of exponents below 1
//	matrices     NuclearNorm, SpectralNorm, LambdaMax, LambdaMin, LogDet, TraceInverse, MatrixFrac
//
// An atom of what is not affine is convex where the rules of disciplined convex programming say so (M. Grant, S. Boyd,
// Y. Ye, 2006): the argument becomes a bound, which the solution attains. All entries of an argument are held in the
// domain of its atom, used or not. What is not convex by these rules is an error of [Model.Compile]; errors made in
// building an expression stay with it until then. [Model.Solve] compiles and solves.
//
//	w := m.Vector("w", n, convex.Nonneg())
//	m.Eq("budget", convex.Sum(w), 1)
//	m.Maximize(convex.Sub(convex.Dot(mu, w), convex.Scale(gamma, convex.QuadForm(w, sigma))))
//	r, err := m.Solve(ctx)
//
// A [Parameter] is a vector of numbers that may change between solves. It stands in constant terms and as a factor of
// what has no other parameter; as that of atoms it must not be negative when the model is solved. It begins with the
// values of the model, and then each [Solver] has its own, so that goroutines share a compiled program:
//
//	p, err := m.Compile()
//	s, err := p.Solver(options) // one for each goroutine
//	err = s.Set(gamma, []float64{0.5})
//	r, err := s.Solve(ctx)
//
// # Misuse
//
// What is wrong with lengths, numbers and convexity in an expression stays with it until [Model.Compile] reports it,
// see [Expr]. A function that returns an error returns it for every misuse, nil arguments too. The others panic
// with a message that begins with "convex: ": where a variable, a parameter, a program or a result is nil or zero, a
// matrix is nil, or a result is asked about what its program does not have. The methods of a nil Model or Solver are
// those of a nil pointer, as are those of a nil Variable, Parameter or Constraint.
//
// # Compilation
//
// The conic program is
//
//	minimize 1/2 x'Px + q'x subject to Ax + s = b, s in K
//
// with the model's variables first in x, in the order of their creation, then
// auxiliary ones, and with the rows in the order zero cone, nonnegative cone,
// second-order cones. Affine terms in any parameter change q, b or the values of
// A or P, never the pattern, so a change of parameters is an update of the
// numbers that depend on them.
//
//	SumSquares, objective   P = 2 on the entries of the variable itself where each row has one,
//	                        otherwise on residuals e with Mx + c - e = 0
//	SumSquares <= h         |((h-c)/2, sqrt(c) a)| <= (h+c)/2, c = |a(0)|^2/100 or 1; all squares of
//	                        a constraint share the cone
//	Norm2, GroupNorms <= h  second-order cones with h as head
//	NuclearNorm <= h        the cone of the nuclear norm where the backend has it, else a semidefinite matrix
//	                        [W1 X; X' W2] with (tr W1 + tr W2)/2 <= h; see also below
//	Abs, Pos, Max <= h      rows without new variables where one stands alone
//	Huber                   a sum of squares and a 1-norm: min over v of (a-v)^2/2 + delta |v|
//	Logistic <= u           exp(a-u) + exp(-u) <= 1, two exponential cones an entry
//	LogSumExp <= u          sum exp(a-u) <= 1, an exponential cone an entry of a, once for groups
//	                        that begin with each other
//	Exp <= u                one exponential cone an entry
//	others <= h             a variable u <= h with the cones of the function's epigraph
//	elsewhere               a variable u >= atom in its place
//
// A dense sum of squares with more than twice as many rows as columns is
// replaced by its QR factor, which has the same value at every point.
//
// # Constants
//
// The constant of SumSquares(x - y) is no part of 1/2 x'Px + q'x, whose value may be as large as it while their sum is
// small. [Result] measures the gap of the model's objective, by sums in which nothing cancels, and where it misses the
// tolerance next to a constant that is larger than the objective, the backend gets the program in the residuals x - y,
// the least point of the squares being y, with the same pattern. Parameters that change later stay in that form as
// long as the constant dominates. What the rounding of x leaves open is in [Result.Distance], and told by
// [Result.Message] if it is more than the tolerance.
//
// # Multipliers and sensitivities
//
// Constraints are their own handles: [Result.Dual] returns multipliers, not
// negative for inequalities, whose sign is fixed by
//
//	d(optimal value)/d(right side) = -Dual     for Le and Eq
//	d(optimal value)/d(right side) = +Dual     for Ge
//
// [Result.Sensitivity] is the derivative in a parameter, wherever it stands. In
// min 1/2 (x-a)^2 subject to x <= h with h < a the solution is x = h, the
// multiplier a - h, and the sensitivity in the parameter h is h - a.
//
// # Derivatives
//
// [Result.Derivative] has the change of all variables along a direction of the parameters, and [Result.Gradient] the
// gradient in all parameters of a function of the solution, as the loss on other data:
//
//	dx, err := r.Derivative(ctx, convex.Change{p: dp})
//	dp, err := r.Gradient(ctx, loss)
//
// # Working sets
//
// With [SolverOptions.WorkingSets] a solver looks for a small program with the same solution: entries of a variable v
// to which Norm1(v) is applied, anywhere in the model, are fixed at zero outside a working set; matrices to
// which NuclearNorm is applied as a whole have few singular vectors. A result is optimal only if the point completed to
// the full program meets the tolerance there; [Result.Conic] returns that point for an independent check.
// [Result.Engine] says what has answered: the rounds of a working set or, where there is none or they do not settle,
// the backend with the whole program. Options.Logger hears of all.
package convex

// Package regression has the penalised regressions, a constructor and a file for each: [ElasticNet] and its relatives
// by penalty, [Lasso], [Ridge], [BoundedElasticNet], [AdaptiveLasso], [WeightedLasso], [GroupLasso],
// [SparseGroupLasso] and [FusedLasso], by loss, [Huber], [Quantile], [Logistic], [Multinomial], [Poisson], [Cox] and
// [MultiTask], and by both, [WeightedLogistic] and [WeightedPoisson]. They have one [Options] and one [Model], keep
// references to the data, which must not change, and check them. A [Net] describes another one.
//
// # Formulation
//
// With n rows of features X and targets y in the unit of the model, a loss of
// coefficients b (length p) and intercept b0 is half the mean squared error,
//
//	1/(2n) |y - X b - b0|^2,
//
// a mean over rows as in the authors' program of Gao, Ye, Yin, Zeng, Zhang (ICML 2022), not the sum of its text, or
// the mean of another [Loss], as each constructor says: penalties, tolerances and multipliers of the method have
// meaning only with this scale. Without an intercept b0 is absent; with one it is free and not penalised.
//
// # Weights of rows
//
// Where rows have weights ([dataset.Data].Weights), losses of training, validation and test rows are means by them, and
// so are means and standard deviations in the units; a row of weight 2 counts as two rows. The mean over the folds
// stays one of equal shares.
//
// # Offsets
//
// Where rows have an offset ([dataset.Data].Offset), a known term, a prediction is X b + b0 + offset, in fits and in
// errors. Losses of the difference of prediction and target alone are those of the targets less the offset. The
// predictor has the coefficients and the intercept; the offset of new rows is added by whoever uses it.
//
// # Folds
//
// With the folds t = 1, .., T of a [dataset.CrossValidation] in the place of a split, each fold has coefficients b^t of
// its own, and all share the hyperparameters:
//
//	minimize   1/T sum_t L_t(b^t)   over b and r >= 0
//	subject to b^t solves  min { l_t(b) : P_i(b) <= r_i }  for each t.
//
// The lower level falls apart into T blocks that are solved side by side; its value is the mean over the folds, and the
// multiplier of r_i, which is lambda_i, the mean of the folds' multipliers in min l_t(b) + sum_i lambda_ti P_i(b). In
// penalty form, as searches and gradient methods have it, lambda is the same in all folds. The predictor is fitted to
// all rows of the folds within the same radii: as losses are means over rows, radii and multipliers need no change for
// the larger number of rows.
//
// # Units
//
// With standardisation the model works on features and targets divided by their standard deviations over the training
// rows, with folds over all rows, and, if there is an intercept, centred at their means. Radii and
// multipliers are in these units; coefficients, intercept and errors are always reported in the user's units.
package regression

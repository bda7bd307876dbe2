// Package regression holds what the penalised linear regressions have in
// common: the losses over training and validation rows, the optional
// standardisation and intercept, and the way back to the user's units.
//
// # Formulation
//
// With n rows of features X and targets y in the unit of the model, a loss of
// coefficients b (length p) and intercept b0 is half the mean squared error,
//
//	1/(2n) |y - X b - b0|^2,
//
// a mean over rows as in the authors' program of Gao, Ye, Yin, Zeng, Zhang (ICML 2022), not
// the sum of its text, or the mean of another [Loss]: penalties, tolerances and multipliers of the method have
// meaning only with this scale. Without an intercept b0 is absent; with one it is free and
// not penalised.
//
// # Units
//
// With standardisation the model works on features and targets divided by their standard
// deviations over the training rows, and, if there is an intercept, centred at their means. Radii and
// multipliers are in these units; coefficients, intercept and errors are always
// reported in the user's units.
package regression

// Package problems holds what the models in its subfolders have in common:
// how they report errors on held-out data and the model that a user deploys.
package problems

// Errors are the errors of one vector of coefficients on data that it was not
// trained on, in the unit that the model documents (half the mean squared
// error for regressions).
type Errors struct {
	Validation float64 `json:"validation_error"`
	// Test is nil where there are no test data.
	Test *float64 `json:"test_error"`
}

// Fit is a linear predictor in the user's units: the prediction for a row a of
// features is Intercept + sum_j Coefficients[j] a[j].
type Fit struct {
	Coefficients []float64
	Intercept    float64
	// Features are the names that belong to Coefficients.
	Features []string
}

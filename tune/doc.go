// Package tune selects hyperparameters: it runs a method on a model with its
// data, takes the time, scores every iterate on validation and test data, and
// puts all that a user or a table wants to know into one [Result].
//
// Two vectors of coefficients are reported everywhere. The iterate x is the
// last point of the method; it may fit the validation rows better than the
// lower level can for any hyperparameters. The refit is the solution of the
// lower level at the selected hyperparameters, the model that a user would
// deploy. They agree where the lower-level gap is closed ([Config.GapTol]).
package tune

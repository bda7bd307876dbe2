// Package tune selects hyperparameters: it runs a method on a model with its data, takes the time, scores every iterate
// on validation and test data, and puts all that a user or a table wants to know into one [Result].
//
// Two vectors of coefficients are reported everywhere. The iterate x is the last point of the method; it may fit the
// validation rows better than the lower level can for any hyperparameters. The refit is the solution of the lower level
// at the selected hyperparameters, the model that a user would deploy. They agree where the lower-level gap is closed
// ([Config.GapTol]).
//
// # Methods
//
// Methods have names ([Methods]) and run by [Run], several side by side or in a chain by [Compare]. All have the same
// clock, which covers everything after the data are in memory, the same split, and the same rule of selection: the
// least validation error of a lower-level solution. A model with a weight for each coefficient or group has a ladder
// from one common weight to free ones, and VF-iDCA takes the rung that validation rows tell from simpler ones, see
// [problems.Advice].Ladder.
//
// Apart from VF-iDCA they are searches over the lower level in penalty form,
//
//	min over x of  l(x, u) + sum_i lambda_i P_i(x)  s.t. g(x, u) <= 0,
//
// on a logarithmic scale of the weights lambda and of the upper variables u, if there are any: a grid, random points,
// the tree-structured Parzen estimator (package tpe) and an evolution strategy. They work for every [problems.Model]
// whose [dca.Program] has constraints P_i(x) <= r_i. An axis of a search has one hyperparameter or all those of a kind
// ([Config.Scope], [dca.Program.Kinds]). Its range is the user's ([Range]), the model's ([problems.Advice].Axes), the
// paper's, or that of [dca.Program.Path], which goes on below for a separable model by folds, as far as its errors
// fall; without any, it goes down four decades from the multipliers that the constrained form has at small radii.
//
// Lower levels of models that bring a fit of their own ([problems.Advice].Fit) are solved by that if the backend is
// native, which takes a tenth of the time of a conic program; the others are compiled once for each worker and then
// updated, each solved from the one before it in its chain. Chains begin afresh and do not depend on the number of
// workers, nor do results. The proposals of the Parzen estimator and of the evolution strategy come one after the
// other, in a single chain.
//
// A result has the weights in Lambda and the P_i(x) in Radii whatever the method, so that any method can begin where
// another one ended: VF-iDCA at the radii, a search in the middle half, in logarithms, of its range moved to the
// lambda.
package tune

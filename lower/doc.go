// Package lower is the lower level of a bilevel problem: fits with penalties or bounds, by methods made for their kind, which take a
// fraction of the time of a conic program. Each kind has a room of its own:
//
//   - [github.com/conetune/conetune/lower/sparse]: linear, logistic and Poisson regressions whose penalties make coefficients zero, one by one or in groups.
//   - [github.com/conetune/conetune/lower/machine]: support vector machines in a box.
//   - [github.com/conetune/conetune/lower/completion]: regressions with a matrix of low rank, of which some entries are known.
//
// All of them take designs of [github.com/conetune/conetune/lower/design], bound the distance of what they return from the optimum by
// a duality gap, and say in a [Status] how they ended. Nothing in them depends on the clock or on the number of threads: the same
// input gives the same bytes.
package lower

// Package paper repeats the experiments of Gao, Ye, Yin, Zeng and Zhang, Value Function Based
// Difference-of-Convex Algorithm for Bilevel Hyperparameter Selection Problems, ICML 2022 (section 4): every
// method on every data set, on many random data or splits, and puts the means beside those of the paper.
//
// # Work
//
// The work is a list of independent items ([Item]): one method with one conic backend on the data of one
// row of a table, drawn by one seed. The list is a function of a [Plan] alone. All methods see the same
// rows of data for the same seed. An item runs on one thread, so that times are comparable
// however many run side by side.
//
// # Results
//
// A folder of results has
//
//	manifest.json   what was asked for, by which program, on which machine: a [Manifest]
//	results.jsonl   one line for each item that ended, a [Record], in the order in which they ended
//	tables/         the tables: errors.md .csv and times.md .csv
//	figures/        figures of each row as SVG and PNG: TABLE-ROW-iterate has validation and test error of the iterate
//	                over time, as in the paper, TABLE-ROW-refit the same of the best solution of the lower level so far,
//	                and TABLE-ROW-alpha the penalty parameter of VF-iDCA over its iterations
//	report.html     a page with tables and figures, which needs no other file
//
// A line of a figure is the mean over the seeds. At a time, a run counts with what it had last reached; before every
// run has reached something, there is no line; after the end of a run its last value stands.
//
// Package worklist runs the items and keeps the first two; a kill loses the items in work and nothing else. Everything
// in a record but the times is a function of the item and the version of the program. So the tables
// of errors are the same, byte by byte, for an undisturbed run, one that was killed and resumed, and one whose
// shards ran on several machines. Seconds are in tables of their own.
//
// # What is measured
//
// Errors are half the mean squared error for regressions; for the support vector machine they are the mean hinge loss
// over the folds (validation) and the error rate of the machine retrained on all rows of the folds (test). There are
// two of each: of the iterate, as in the paper, and of the refit, the solution of the lower level at the selected
// hyperparameters, which a user would deploy. They are the same for searches. Means are over the seeds, with the
// standard error of the mean, s / sqrt(n) with s^2 the sample variance. The paper does not say what its +- is; by its
// size it is the standard deviation.
package paper

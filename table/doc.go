// Package table reads tables as they come from R, pandas, spreadsheets and instruments, finds out what their columns
// are, and turns them into the numbers that a model is fitted to.
//
// # From a file to numbers
//
// [Read] takes a file as it is: its separator, decimal point, encoding, comments and compression are found from its
// content (see [Options] to say so instead). A [Table] has one column for each of the file, whose [Kind]
// is found over the whole file: numbers, dates, or categories.
//
// [Choose] gives the columns their parts: a target, features, and labels of rows such as names and numbers, which are
// no features. What is wrong with them is one error that lists everything, with lines; what the user should know are
// [Finding] values.
//
// [Design.Fit] learns from the training rows, and from these alone, how columns become features: an [Encoder], which is
// kept with the model. [Encoder.Encode] makes a [dataset.Data] of any rows of any table that has the columns, by name
// and in any order.
//
// # Features
//
// A number is a feature. A category with levels l_0 < l_1 < .. < l_k, texts in the order of their bytes, has the k
// features "name=l_1", .., "name=l_k", each 1 in the rows of its level and 0 elsewhere; l_0 is the reference. A level
// that the training rows do not have is taken as the reference. A date is the number of days since 1970-01-01. [Forms]
// say otherwise: features are sums of [Element]s of a column, levels or functions of its number, see [Basis], and
// products of those of several columns.
//
// # Missing values
//
// Empty cells and the texts NA, N/A, #N/A, <NA>, NaN, NaT, NULL, None, ? and a point, in some spellings, are missing. A
// row whose target is missing is left out. A missing number becomes the median, or the mean, of the training rows, or a
// sum of the features of the other columns ([Regression]); where more than a twentieth of them is missing, a further
// feature "name=(missing)" is 1 in these rows. A missing category is a level of its own, "name=(missing)", where more
// than a twentieth of the training rows is missing, and else the reference.
//
// # Memory
//
// A table is kept in blocks of rows as they were read, of which those of mostly zeros have their nonzeros only. A cell
// takes 8 bytes, whether it is a number or a text, whose levels are kept once for a column.
package table

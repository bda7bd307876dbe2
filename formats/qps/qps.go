// Package qps reads and writes linear and quadratic programs in the MPS format and
// its quadratic extension QPS.
//
// # Formulation
//
//	minimize or maximize  1/2 x'Px + q'x + c0
//	subject to            row lower <= Ax <= row upper
//	                      column lower <= x <= column upper
//
// with n columns and m rows; P is n x n, symmetric, given by its upper triangle.
// [Model.Conic] brings this into the form of package backends and the solution
// back. Multipliers belong to the minimised objective (a file that maximises is
// read as minimising the negative): the reduced costs are z = Px + q - A'y, so that
// y >= 0 on a row with a lower side alone, y <= 0 with an upper side alone, and on
// a row with both, y > 0 acts on the lower and y < 0 on the upper.
//
// # The format
//
// Text, plain or compressed. A line that starts in the first column opens a section,
// lines that start with a blank hold its data, lines that start with * are
// comments. The fields of a data line are words (free format); where a line makes
// no sense like that because a name has a blank, it and those after it are read by
// their columns (fixed format): 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61.
//
// What implementations differ on is read as follows.
//
//   - ROWS: the first row of type N, or the one that OBJNAME names, is the objective.
//     Others of type N are dropped, with what the file says about them. A row or
//     column name twice is an error.
//   - COLUMNS: an entry given twice counts as the sum. Integer columns, which stand
//     between markers, are an error.
//   - RHS: zero where none is given. On the objective it is minus the constant c0.
//   - RANGES: R makes [rhs-|R|, rhs] of an L row, [rhs, rhs+|R|] of a G row, and of an
//     E row [rhs, rhs+R] or [rhs+R, rhs] by the sign of R.
//   - BOUNDS: 0 to infinity where none is given. UP below zero without a lower bound
//     makes the lower one -infinity; MI leaves the upper one. A later bound of a
//     column replaces an earlier one. BV, LI, UI and SC are errors.
//   - Of several sets in RHS, RANGES or BOUNDS the first counts. A right-hand side or
//     a range given twice with two values is an error.
//   - Sides and bounds of 1e20 and more, and the word inf, are infinite.
//   - QUADOBJ holds one triangle of P, each pair of columns once; QMATRIX holds both,
//     and must be symmetric; QSECTION may hold either. Entries given twice count as
//     the sum. The factor 1/2 is outside in all three.
//   - OBJSENSE is MAX, MAXIMIZE, MIN or MINIMIZE, on its line or on the next one.
//   - ENDATA must be there; what follows it is not read.
//
// Every error about a file is a *formats.Error with its line.
//
// # Source
//
// I. Maros and C. Meszaros, A repository of convex quadratic programming problems,
// Optimization Methods and Software 11 (1999) 671-681, for QPS.
package qps

import (
	"io"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/internal/textfile"
)

// Model is a linear or quadratic program as it stands in a file.
type Model struct {
	// Name is the first word after NAME, often empty.
	Name string
	// Objective is the name of the objective row, empty if there is none.
	Objective string
	// Rows and Columns are the m and n names, in the order of the file, rows of type
	// N left out.
	Rows, Columns []string
	// Maximize says that the objective is to be maximised; P, Q and Constant are those
	// of the file nevertheless.
	Maximize bool
	// P is the upper triangle of the n x n quadratic term; nil means zero.
	P *sparse.CSC
	// Q is the linear term, of length n, and Constant the constant c0.
	Q        []float64
	Constant float64
	// A is m x n.
	A *sparse.CSC
	// RowLower and RowUpper are of length m, ColumnLower and ColumnUpper of length n;
	// -Inf and +Inf mean no bound.
	RowLower, RowUpper, ColumnLower, ColumnUpper []float64
}

// Infinite is the size from which a side or a bound in a file counts as infinite.
const Infinite = 1e20

// Read reads a file, plain or compressed by gzip, bzip2, zstd or zip. The error is a *formats.Error.
func Read(path string) (*Model, error) { return textfile.ReadFile(path, read) }

// Decode reads from r; name stands for the file in messages. The error is a
// *formats.Error.
func Decode(name string, r io.Reader) (*Model, error) { return textfile.Decode(name, r, read) }

// Package cbf reads and writes conic programs in the conic benchmark format, CBF, versions 1 to 4, without integer
// variables.
//
// # Formulation
//
//	minimize or maximize  c'x + <C_1, X_1> + .. + c0
//	subject to            Ax + <F_1, X_1> + .. + b  in a product of cones (CON)
//	                      x                         in a product of cones (VAR)
//	                      X_j                       positive semidefinite (PSDVAR)
//	                      sum_j x_j H_ij + D_i      positive semidefinite (PSDCON)
//
// with x of length n and m scalar constraints. [Model.Conic] brings this into the
// form of package backends and the solution back.
//
// # The cones
//
//	F, L+, L-, L=     free, nonnegative, nonpositive, zero
//	Q                 x1 >= |(x2, ..)|
//	QR                2 x1 x2 >= |(x3, ..)|^2, x1, x2 >= 0
//	EXP               x1 >= x2 exp(x3/x2), x2 >= 0 (the closure)
//	@k:POW            x1^a1 .. xl^al >= |(x(l+1), ..)|, x1, .., xl >= 0, where a are the l
//	                  powers of entry k of POWCONES, divided by their sum
//	EXP*, @k:POW*     the duals, with entry k of POW*CONES
//	SVECPSD           the lower triangle of a positive semidefinite matrix by columns,
//	                  off the diagonal times sqrt 2
//	GMEANABS          (x1 .. xl)^(1/l) >= |x(l+1)|, x1, .., xl >= 0
//	GMEANABS*         its dual
//
// # The format
//
// Text, plain or compressed: keywords, each on a line and followed by its data. Lines
// that start with # are comments, indices count from 0. Sections of structure (VAR,
// CON, ..) come before those that use them. Matrices are given by one triangle: an entry
// off the diagonal stands for its mirror image too. The same entry twice counts as
// the sum. INT with integer variables and CHANGE are errors.
//
// Every error about a file is a *formats.Error with its line.
//
// # Source
//
// H. A. Friberg, CBLIB 2014: a benchmark library for conic mixed-integer and continuous
// optimization, Mathematical Programming Computation 8 (2016) 191-214.
package cbf

import (
	"io"

	"github.com/conetune/conetune/internal/textfile"
)

// The kinds of cones, by their names in the format. Those with powers are written @k:POW and @k:POW* in a file.
const (
	Free              = "F"
	Nonnegative       = "L+"
	Nonpositive       = "L-"
	Zero              = "L="
	SecondOrder       = "Q"
	RotatedSecond     = "QR"
	Exponential       = "EXP"
	DualExponential   = "EXP*"
	Power             = "POW"
	DualPower         = "POW*"
	PSDVector         = "SVECPSD"
	GeometricMean     = "GMEANABS"
	DualGeometricMean = "GMEANABS*"
)

// Cone is one factor of VAR or CON.
type Cone struct {
	Kind string
	Dim  int
	// Powers are those of a power cone as they stand in the file, positive; nil for others.
	Powers []float64
}

// Model is a conic program as it stands in a file. All indices count from 0.
type Model struct {
	// Version is that of the format, 1 to 4.
	Version  int
	Maximize bool
	// Var and Con are the cones of the scalar variables and constraints.
	Var, Con []Cone
	// PSDVar and PSDCon are the orders of the matrix variables and constraints.
	PSDVar, PSDCon []int

	// The entries have the indices of their sections in the file: of a variable, of a constraint, or of a matrix with a
	// row and a column.
	Objective       []Entry // c: variable
	ObjectiveMatrix []Entry // C: matrix variable, row, column
	Constant        float64 // c0
	A               []Entry // constraint, variable
	F               []Entry // constraint, matrix variable, row, column
	B               []Entry // b: constraint
	H               []Entry // matrix constraint, variable, row, column
	D               []Entry // matrix constraint, row, column
}

// Entry is an entry of a vector or a matrix, with as many indices as it has. Those of symmetric matrices, whose row is
// not less than their column, stand for their mirror images too.
type Entry struct {
	Index [4]int
	Value float64
}

// Dims returns the number of scalar variables and of scalar constraints.
func (m *Model) Dims() (variables, constraints int) { return total(m.Var), total(m.Con) }

func total(cones []Cone) int {
	n := 0
	for _, c := range cones {
		n += c.Dim
	}
	return n
}

// Read reads a file, plain or compressed by gzip, bzip2, zstd or zip. The error is a *formats.Error.
func Read(path string) (*Model, error) { return textfile.ReadFile(path, read) }

// Decode reads from r; name stands for the file in messages. The error is a
// *formats.Error.
func Decode(name string, r io.Reader) (*Model, error) { return textfile.Decode(name, r, read) }

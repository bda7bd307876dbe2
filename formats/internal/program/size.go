package program

// What the parts of a program take of the budget of memory that a reader has (see package textfile): its arrays, and
// what a solver then holds for them. The figures are half of the peak that the process of conetune solve reaches with
// the native solver, the other half being what the garbage collector leaves lying about.
const (
	// Scalar is for a row or a column with its bounds, and its part of matrices and points.
	Scalar = 256
	// MatrixRow is for an entry of the triangle of a positive semidefinite matrix, as a row.
	MatrixRow = 256
	// MatrixVariable is for one that is a row and a column.
	MatrixVariable = 400
	// PowerScalar is for an entry of a power cone with more than three: in a tower of cones with three, or in a dense
	// block.
	PowerScalar = 2048
	// Name is for a row or a column that has a name in the file, beside the text of the name: what
	// the reader holds, not what a solver will, since it grows with the file.
	Name = 160
)

// Triangle returns n(n+1)/2, the entries of a symmetric matrix of order n.
func Triangle(n int) float64 { return float64(n) * (float64(n) + 1) / 2 }

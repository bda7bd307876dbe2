// Package sdpa reads semidefinite programs in the sparse format of SDPA.
//
// # Formulation
//
//	minimize   c'x                                maximize   <F_0, Y>
//	subject to x_1 F_1 + .. + x_m F_m - F_0 >= 0   subject to <F_i, Y> = c_i, Y >= 0
//
// with x and c of length m and symmetric, block-diagonal matrices F_i; >= 0 means
// positive semidefinite, and for a diagonal block nonnegative. [Model.Conic] brings
// the left problem into the form of package backends, whose primal it is: primal
// infeasible means that there is no such x, dual infeasible that c'x falls without
// bound. (CSDP calls the right problem the primal.)
//
// # The format
//
// Text, plain or compressed. Lines at the top that start with " or * are comments. Then
// come m and the number of blocks, each first on a line of its own whose rest is not
// read; the sizes of the blocks, negative for a diagonal block; the m numbers of c;
// and then the entries, five numbers each: matrix (0 for F_0), block, row, column
// (from 1) and value. Sizes, c and entries may run over lines, and , { } ( ) count
// as blanks.
//
// An entry off the diagonal stands for itself and its mirror image, and may be in
// either triangle. The same entry twice counts as the sum; an entry and its mirror
// image, so that the file might mean both triangles, are an error.
//
// Every error about a file is a *formats.Error with its line.
//
// # Source
//
// K. Fujisawa, M. Kojima, K. Nakata and M. Yamashita, SDPA User's Manual (2002);
// B. Borchers, SDPLIB 1.2, Optimization Methods and Software 11 (1999) 683-690.
package sdpa

import (
	"io"

	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/internal/textfile"
)

// Model is a semidefinite program as it stands in a file.
type Model struct {
	// C is the objective, of length m.
	C []float64
	// Blocks are the sizes of the blocks, negative for a diagonal block.
	Blocks []int
	// Entries are the nonzeros of all matrices, in the order of the file. They have the indices of the matrix, 0 for F_0
	// and i for F_i, and of the block, the row and the column, which count from 0, in the lower triangle.
	Entries []cbf.Entry
}

// Read reads a file, plain or compressed by gzip, bzip2, zstd or zip. The error is a *formats.Error.
func Read(path string) (*Model, error) { return textfile.ReadFile(path, read) }

// Decode reads from r; name stands for the file in messages. The error is a
// *formats.Error.
func Decode(name string, r io.Reader) (*Model, error) { return textfile.Decode(name, r, read) }

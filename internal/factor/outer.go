package factor

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// AddOuter adds a sum_i c_i c_i' to a matrix, for k columns c_i that follow each other.
func AddOuter(to *mat.SymDense, a float64, columns []float64, k int) {
	raw := to.RawSymmetric()
	scaled := make([]float64, len(columns))
	floats.ScaleTo(scaled, -a, columns)
	dense.SyrkNT(raw.N, k, columns, raw.N, scaled, raw.N, raw.Data, raw.Stride)
}

const (
	// blockWork is the number of multiplications of a blocked kernel between two looks, a few milliseconds.
	blockWork = 1 << 22
	// leastBlock is the least number of columns in one go: fewer would cost such kernels much.
	leastBlock = 64
)

// Block is the number of columns that a blocked kernel takes in one go, between two looks whether to stop, where each costs so many
// multiplications.
func Block(work int) int { return max(leastBlock, blockWork/work) }

// Package fits has the fits of models whose losses and penalties the packages below lower know, with the error on other
// rows and its derivative: what the models of problems bring as their fast engines.
//
// # Formulation
//
// A fit is trained on some rows and has a validation loss L on others. The lower level
//
//	x(lambda) = argmin over x of  l(x) + sum_i lambda_i P_i(x)
//
// is not smooth, but near almost all lambda the coefficients that are zero, the
// support and the signs stay as they are. On what is free to move, S, the conditions of optimality are smooth
// equations, and so (Feng, Simon 2018; Bertrand et al. 2020)
//
//	H dx_S/dlambda_i = -grad_S P_i,   H = Hessian_S of l + sum_i lambda_i P_i,
//	dL/dlambda_i = grad_S L' dx_S/dlambda_i = -v' grad_S P_i   with   H v = grad_S L.
//
// The forward mode computes the Jacobian dx_S/dlambda, a column for each hyperparameter, by a factor of H, of the order
// of the rows or the coefficients in use, whichever are fewer, and where both are too many by conjugate gradients. The
// adjoint mode solves for v, one system however many hyperparameters there are. The truncated mode ends an iterative
// solution of these systems early.
package fits

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/sparse"
)

// Rows are the data of a regression: a target for each row of the design. Fits with a smooth loss take weights of rows
// and an offset, the support vector machine and the multinomial regression weights; the others take neither.
type Rows = sparse.Sample

// NewRows copies the features by columns, but for compressed sparse columns and a [design.Columnwise], which are
// shared; nil stands for no features.
func NewRows(x mat.Matrix, y []float64) Rows {
	if x == nil {
		return Rows{X: design.FromColumns(len(y), 0, nil), Y: y}
	}
	return Rows{X: design.New(x), Y: y}
}

// SquaresRows are rows for fits whose losses are squares. Of a dense table with many more rows than features they are
// few, and have the same mean squares for all coefficients and constants.
func SquaresRows(x mat.Matrix, y []float64) Rows {
	if x != nil {
		if small, targets, ok := glm.Reduce(x, y, runtime.GOMAXPROCS(0)); ok {
			return Rows{X: small, Y: targets}
		}
	}
	return NewRows(x, y)
}

// check says what is wrong with the rows of a fit.
func check(name string, train, val Rows) error {
	n, p := train.X.Dims()
	m, q := val.X.Dims()
	switch {
	case n == 0 || m == 0:
		return fmt.Errorf("fits: %d training and %d validation rows of the %s, expected at least one of each", n, m, name)
	case p != q:
		return fmt.Errorf("fits: %d features of the training rows and %d of the validation rows of the %s", p, q, name)
	case len(val.Y) != m:
		return fmt.Errorf("fits: %d targets for %d validation rows of the %s", len(val.Y), m, name)
	}
	return nil
}

// plainRows says that a fit takes neither weights nor offsets of rows, which it would pass over.
func plainRows(name string, sets ...Rows) error {
	for _, rows := range sets {
		if rows.Weights != nil || rows.Offset != nil {
			return fmt.Errorf("fits: the %s takes neither weights nor an offset of rows", name)
		}
	}
	return nil
}

// Entries are known entries (Row[k], Col[k]) of a matrix with their values Y[k], and a row of features X for each.
type Entries struct {
	Rows
	Row, Col []int
}

// pathPoints is the number of points of a path with common values from pathTop to pathBottom times LambdaMax.
const (
	pathPoints          = 25
	pathTop, pathBottom = 0.8, 1e-3
)

// commonPath falls geometrically, all hyperparameters equal.
func commonPath(dim int, top float64) [][]float64 {
	path := make([][]float64, pathPoints)
	for i := range path {
		l := top * pathTop * math.Pow(pathBottom/pathTop, float64(i)/(pathPoints-1))
		path[i] = slices.Repeat([]float64{l}, dim)
	}
	return path
}

// curvature is the largest mean square of a column, that of a squared loss.
func curvature(x *design.Matrix) float64 {
	n, p := x.Dims()
	most := 0.0
	for j := range p {
		if _, squares, err := x.Sums(j); err == nil {
			most = math.Max(most, squares/float64(n))
		}
	}
	return most
}

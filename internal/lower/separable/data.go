package separable

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/sparse"
)

// Rows are observations with a target for each, without weights and offsets.
type Rows = sparse.Sample

// Regression is the data of one split or fold, with the penalties: the norm of each group of features, of which a
// single feature is one too, and perhaps |b|_1 as the last one.
type Regression struct {
	train, val Rows
	groups     [][]int
	shared     bool
	intercept  bool
	curvature  float64 // the mean of |x_j|^2 / n on training rows
	matrix     *matrix // nil without one
}

// New takes training and validation rows of the same features, each of which is in one of the groups. With shared the
// 1-norm is the last of the penalties. Package fits has checked all of them.
func New(train, val Rows, members [][]int, shared, intercept bool) *Regression {
	g := &Regression{train: train, val: val, groups: members, shared: shared, intercept: intercept}
	n, p := train.X.Dims()
	for j := range p {
		_, squares, _ := train.X.Sums(j)
		g.curvature += squares / float64(n*p)
	}
	return g
}

// Penalties is their number.
func (g *Regression) Penalties() int {
	if g.shared {
		return len(g.groups) + 1
	}
	return len(g.groups)
}

// Shape is that of a point: p coefficients, the entries of the matrix by rows, if there is one, and the intercept, if
// there is one.
func (g *Regression) Shape() []int {
	shape := []int{g.train.X.Columns()}
	if g.matrix != nil {
		shape = append(shape, g.matrix.m*g.matrix.n)
	}
	if g.intercept {
		shape = append(shape, 1)
	}
	return shape
}

// constant is the intercept of a point, 0 without one.
func (g *Regression) constant(x [][]float64) float64 {
	if !g.intercept {
		return 0
	}
	return x[len(x)-1][0]
}

// Values are the losses and the penalties.
func (g *Regression) Values(x [][]float64) bilevel.Values {
	out := bilevel.Values{Penalties: g.penalties(x[0])}
	var train, val []int
	if q := g.matrix; q != nil {
		train, val = q.train, q.val
		var svd mat.SVD
		if svd.Factorize(mat.NewDense(q.m, q.n, x[1]), mat.SVDNone) {
			out.Penalties[len(out.Penalties)-1] = floats.Sum(svd.Values(nil))
		}
	}
	out.Validation, out.Train = g.loss(g.val, val, x), g.loss(g.train, train, x)
	return out
}

// loss is half the mean squared error, with the places of the rows, if there is a matrix.
func (g *Regression) loss(rows Rows, places []int, x [][]float64) float64 {
	f := make([]float64, len(rows.Y))
	rows.X.Mul(f, x[0])
	floats.AddConst(g.constant(x), f)
	for e, at := range places {
		f[e] += x[1][at]
	}
	return halfMean(f, rows.Y)
}

// halfMean is |f - y|^2 / (2n).
func halfMean(f, y []float64) float64 {
	sum := 0.0
	for i, v := range y {
		sum += (f[i] - v) * (f[i] - v)
	}
	return sum / (2 * float64(len(y)))
}

func (g *Regression) penalties(b []float64) []float64 {
	out := make([]float64, g.Penalties())
	for k, group := range g.groups {
		out[k] = size(group, b)
	}
	if g.shared {
		out[len(out)-1] = floats.Norm(b, 1)
	}
	return out
}

// size is the norm of some entries of b.
func size(group []int, b []float64) float64 {
	if len(group) == 1 {
		return math.Abs(b[group[0]])
	}
	sum := 0.0
	for _, j := range group {
		sum += b[j] * b[j]
	}
	return math.Sqrt(sum)
}

package completion

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/design"
)

// grouped is a design with targets, whose features are divided into groups, prepared for many solves, which do not
// change it.
type grouped struct {
	X         *design.Matrix
	Y         []float64 // centred if there is an intercept
	Intercept bool
	YMean     float64   // 0 without intercept
	Mean      []float64 // means of the columns; nil without intercept
	Norm2     []float64 // squared norms of the (centred) columns
	Scale     float64   // the objective at zero
	Members   [][]int   // features of each group
}

// newGrouped checks and prepares the data: y has a target for each row of x, and the features are divided as
// [indices.Divide] has it. It keeps a reference to the design.
func newGrouped(x *design.Matrix, y []float64, members [][]int, intercept bool) (*grouped, error) {
	n, p := x.Dims()
	switch {
	case n == 0:
		return nil, fmt.Errorf("no rows")
	case len(y) != n:
		return nil, fmt.Errorf("%d targets for %d rows", len(y), n)
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("target of row %d is %g, expected a finite number", i, v)
		}
	}
	g := &grouped{X: x, Y: y, Intercept: intercept, Norm2: make([]float64, p), Members: members}
	if intercept {
		g.YMean = floats.Sum(y) / float64(n)
		g.Y = make([]float64, n)
		for i, v := range y {
			g.Y[i] = v - g.YMean
		}
		g.Mean = make([]float64, p)
	}
	for j := range p {
		sum, squares, err := x.Sums(j)
		if err != nil {
			return nil, err
		}
		g.Norm2[j] = squares
		if intercept {
			g.Mean[j] = sum / float64(n)
			// A constant column has rounding errors only.
			if g.Norm2[j] -= sum * g.Mean[j]; g.Norm2[j] < 1e-13*squares {
				g.Norm2[j] = 0
			}
		}
	}
	g.Scale = floats.Dot(g.Y, g.Y) / (2 * float64(n))
	return g, indices.Divide(members, p)
}

// Relative is a gap in units of the objective at b = 0.
func (g *grouped) Relative(gap float64) float64 {
	if g.Scale == 0 {
		return 0
	}
	return gap / g.Scale
}

// eigenMost bounds the groups whose largest eigenvalue is computed; larger ones get a bound.
const eigenMost = 100

// LargestEigenvalue returns that of X_g'X_g / n for group k, as the columns are, or a bound of it.
func (g *grouped) LargestEigenvalue(k int) float64 {
	set, trace := g.Members[k], 0.0
	for _, j := range set {
		trace += g.Norm2[j] / float64(g.X.Rows())
	}
	// Beyond these sizes the eigenvalues of gonum, which scales matrices by themselves there, are not to be had; nor are
	// those of blocks of entries that are as small beside the others, which are nothing.
	if len(set) == 1 || len(set) > eigenMost || !(trace > 1e-100 && trace < 1e100) {
		return trace
	}
	h := mat.NewSymDense(len(set), nil)
	products := g.X.Gram(context.Background(), set, nil, 1)
	for i := range set {
		for j := i; j < len(set); j++ {
			if v := products[i*len(set)+j] / float64(g.X.Rows()); math.Abs(v) >= 1e-30*trace {
				h.SetSym(i, j, v)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return trace
	}
	return math.Min(trace, eigen.Values(nil)[len(set)-1]*(1+1e-12))
}

// Size is |b_g|_2.
func (g *grouped) Size(k int, b []float64) float64 {
	sum := 0.0
	for _, j := range g.Members[k] {
		sum += b[j] * b[j]
	}
	return math.Sqrt(sum)
}

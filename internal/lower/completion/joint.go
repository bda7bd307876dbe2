package completion

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
)

// Joint is a completion on training and validation entries at once,
//
//	minimize over b, G (and b0)   v L + t l + rho/2 (|b - c|^2 + |G - C|^2 + (b0 - c0)^2)
//	                              + m_0 |G|_* + sum_g m_g |b^(g)|_2
//
// with L and l half the mean squared errors over the entries of each set, as subproblems of VF-iDCA have it, see
// [bilevel.Joint]. Nothing of the size of G is formed: G = A B' is kept by its factors, and so is C.
//
// Points are the coefficients, the factors, A by rows followed by B by rows, and with an intercept b0. The number of
// columns of the factors is what their length says.
//
// # Method
//
// For fixed columns, Newton's method on the factors and on the groups in use, as in [Problem.Solve]. Missing columns
// are singular vectors of
//
//	T = R(v r_val / n_val + t r_train / n_train) - rho (G - C)
//
// beside those of G whose singular values are above m_0, found by Lanczos bidiagonalisation with full
// reorthogonalisation (Golub and Kahan 1965). The bound is that of the multipliers u = w r and Z = rho (G - C),
// shortened until |R(u) - Z|_2 <= m_0. With Q and P for the singular vectors of G the norm of T is bounded by that of
// the 2 x 2 matrix of norms of its blocks Q'TP, Q'T(I - PP'), (I - QQ')TP and (I - QQ')T(I - PP').
//
// F is of fourth order in a column whose singular value is to be zero, so that Newton's method alone takes it there
// slowly. Before each of its steps there is a proximal one in the core S of G = Q S P', where small singular values are
// cut off. While columns are missing the Hessian is shifted as far as T is too large.
type Joint struct {
	m, n, p   int
	sides     [2]*side // validation, training
	members   [][]int
	of        []int // the group of each coefficient
	intercept bool
	unit      float64 // l at zero
}

// The sets of a [Joint].
const (
	validating = iota
	training
)

// side is one set of entries, in the order of its blocks where there are no features.
type side struct {
	*grid
	*lines
	row, col  []int
	y         []float64
	x         *design.Matrix
	lipschitz []float64 // bounds of X_g'X_g
	norm2     []float64 // of columns
	gram      []float64 // (X, 1)'(X, 1); nil where there are more than blockMost features
}

// Joint is the completion with these validation entries, whose groups and size are those of the known ones.
func (c *Problem) Joint(val Data) (*Joint, error) {
	j := *c.joint
	val.M, val.N, val.Groups = j.m, j.n, j.members
	var err error
	j.sides[validating], err = newSide(val, j.members)
	return &j, err
}

// newJoint is one without validation entries.
func newJoint(d Data, intercept bool) (*Joint, error) {
	j := &Joint{m: d.M, n: d.N, p: d.X.Columns(), members: d.Groups, intercept: intercept}
	j.of = make([]int, j.p)
	var err error
	if j.sides[training], err = newSide(d, d.Groups); err != nil {
		return nil, err
	}
	for g, group := range d.Groups {
		for _, l := range group {
			j.of[l] = g
		}
	}
	j.sides[validating] = &side{grid: newGrid(d.M, d.N, nil, nil), lines: &lines{}, x: design.FromColumns(0, j.p, nil)}
	j.unit = floats.Dot(d.Y, d.Y) / (2 * float64(len(d.Y)))
	return j, nil
}

func newSide(d Data, groups [][]int) (*side, error) {
	data, err := newGrouped(d.X, d.Y, groups, false)
	if err != nil {
		return nil, fmt.Errorf("completion: %w", err)
	}
	if len(d.Row) != len(d.Y) || len(d.Col) != len(d.Y) {
		return nil, fmt.Errorf("completion: %d row and %d column indices of %d known entries", len(d.Row), len(d.Col),
			len(d.Y))
	}
	for k := range d.Row {
		if d.Row[k] < 0 || d.Row[k] >= d.M || d.Col[k] < 0 || d.Col[k] >= d.N {
			return nil, fmt.Errorf("completion: known entry %d is (%d, %d), outside of a matrix of %d x %d", k, d.Row[k],
				d.Col[k], d.M, d.N)
		}
	}
	s := &side{row: d.Row, col: d.Col, y: d.Y, x: d.X, norm2: data.Norm2}
	for k := range groups {
		s.lipschitz = append(s.lipschitz, data.LargestEigenvalue(k)*float64(len(d.Y)))
	}
	p := d.X.Columns()
	s.lines = newLines(&d)
	s.grid = newGrid(d.M, d.N, d.Row, d.Col)
	if p == 0 {
		s.sort()
	}
	if p <= blockMost {
		columns := append(indices.Range(0, p), design.Ones)
		s.gram = d.X.Gram(context.Background(), columns, slices.Repeat([]float64{1}, len(d.Y)), 1)
	}
	return s, nil
}

// sort brings the entries into the order of the blocks: passes over them are through the memory.
func (s *side) sort() {
	row, col, y := make([]int, len(s.order)), make([]int, len(s.order)), make([]float64, len(s.order))
	for to, e := range s.order {
		row[to], col[to], y[to] = s.row[e], s.col[e], s.y[e]
	}
	s.row, s.col, s.y, s.order = row, col, y, nil
}

// Shape are the lengths of the variables of the point zero, whose factors have no columns.
func (j *Joint) Shape() []int {
	if j.intercept {
		return []int{j.p, 0, 1}
	}
	return []int{j.p, 0}
}

// LambdaMax is the smallest weight that, common to all penalties, makes G and b zero.
func (j *Joint) LambdaMax() float64 {
	f := newFactored(j)
	f.w[training] = 1 / float64(len(f.side(training).y))
	f.refresh()
	f.centreIntercept()
	top, _ := f.lanczos(0, [2]*mat.Dense{})
	for g, group := range j.members {
		if j.sides[training].lipschitz[g] > 0 {
			top = math.Max(top, floats.Norm(f.correlations(group), 2))
		}
	}
	return top
}

// Values are the functions at a point.
func (j *Joint) Values(x [][]float64) bilevel.Values {
	f := newFactored(j)
	f.take(x)
	if f.k == 0 {
		return f.values(0)
	}
	return f.values(floats.Sum(f.decompose().values))
}

// Squared is |x - y|^2 over b, G and b0 of two points.
func (j *Joint) Squared(x, y [][]float64) float64 {
	f := newFactored(j)
	f.take(x)
	f.centre(y)
	return f.apart()
}

// columns is the number of columns of the factors of a point.
func (j *Joint) columns(x [][]float64) int { return len(x[1]) / (j.m + j.n) }

// Balanced returns L and R with L R' = A B' for factors of k columns by rows, in the form U S^(1/2) and V S^(1/2) of
// the singular value decomposition, without singular values up to the share of the largest; nil for zero.
func Balanced(a, b []float64, k int, share float64) (left, right *mat.Dense) {
	if k == 0 {
		return nil, nil
	}
	f := &factored{j: &Joint{m: len(a) / k, n: len(b) / k}, k: k, a: a, b: b}
	of := f.decompose().above(share).factors()
	return of[0], of[1]
}

// join is A followed by B, with a column of zeros more where that would be as long as G.
func (j *Joint) join(k int, a, b []float64) []float64 {
	if k*(j.m+j.n) != j.m*j.n || k == 0 {
		return slices.Concat(a, b)
	}
	out := make([]float64, 0, (k+1)*(j.m+j.n))
	for _, factor := range [][]float64{a, b} {
		for i := 0; i < len(factor); i += k {
			out = append(append(out, factor[i:i+k]...), 0)
		}
	}
	return out
}

// Point is the point of a solution.
func (j *Joint) Point(s *Solution) [][]float64 { return j.at(s).point() }

// at is at the point of a solution, zero for nil.
func (j *Joint) at(s *Solution) *factored {
	f := newFactored(j)
	if s == nil {
		return f
	}
	copy(f.x, s.B)
	f.b0 = s.B0
	if s.Left != nil {
		_, k := s.Left.Dims()
		f.setFactors(k, slices.Concat(columnsOf(s.Left, k), columnsOf(s.Right, k)))
	}
	return f
}

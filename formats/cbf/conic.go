package cbf

import (
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/tower"
)

// MaxSize is the largest number of rows and of columns of a conic program, those of
// a matrix of order n being n(n+1)/2.
const MaxSize = 1 << 28

// longPower is the number of rows up to which a generalized power cone is one. For that the native solver has a dense
// block, which costs less than the many small cones of a tower up to about here (measured on means of nonnegative
// variables).
const longPower = 64

// Program is a model in the form of package backends, and the way back.
//
// Its columns are x, then the matrix variables as their lower triangles by columns,
// off the diagonal times sqrt 2. Its rows are cone by cone those of VAR and CON that are
// not free, sorted into zero, nonnegative, second-order, positive semidefinite, exponential,
// power, generalized power cones and duals of the last three, within each of them in the order
// of the file. Generalized power cones with more than 64 rows stand there as towers of power
// cones (see package internal/tower), with auxiliary columns after the others.
type Program struct {
	// Problem minimises the objective, or its negative where the model maximises.
	Problem *backends.Problem

	model       *Model
	sign        float64 // -1 where the model maximises
	variables   int
	constraints int
	uses        []use // of the variables and the constraints, in this order
	at          places
	tower       *tower.Tower // nil without long power cones
}

// row is a row of the problem without the tower, s = c1 e1 + c2 e2, in terms of entries: of the variables and the
// constraints, in this order. Entry -1 means none.
type row struct {
	e1, e2 int32
	c1, c2 float64
}

// use is the rows that have an entry, at most two, and its factors there.
type use struct {
	n      int
	row    [2]int
	factor [2]float64
}

func (u *use) add(row int, factor float64) {
	u.row[u.n], u.factor[u.n] = row, factor
	u.n++
}

// each calls f with the rows and factors.
func (u *use) each(f func(k int, c float64)) {
	for i := range u.n {
		f(u.row[i], u.factor[i])
	}
}

// The order in which the cones stand in the problem.
const (
	zeroPart = iota
	nonnegativePart
	secondOrderPart
	psdPart
	exponentialPart
	dualExponentialPart
	powerPart
	dualPowerPart
	generalizedPowerPart
	dualGeneralizedPowerPart
	parts
)

// builder collects the rows.
type builder struct {
	m                      *Model
	variables, constraints int
	part                   [parts]struct {
		rows  []row
		cones []backends.Cone
	}
}

// Conic makes the conic program. It fails when the problem is too large.
func (m *Model) Conic() (*Program, error) {
	b := &builder{m: m}
	b.variables, b.constraints = m.Dims()
	columns, rows := min(b.variables, 2*MaxSize), min(b.variables, MaxSize)+min(b.constraints, MaxSize+1)
	for _, n := range m.PSDVar {
		columns, rows = min(columns+triangle(n), 2*MaxSize), min(rows+triangle(n), 2*MaxSize)
	}
	for _, n := range m.PSDCon {
		rows = min(rows+triangle(n), 2*MaxSize)
	}
	if columns > MaxSize || rows > MaxSize {
		return nil, fmt.Errorf("cbf: the problem is too large: more than %d columns or rows (n(n+1)/2 for a matrix of order n)", MaxSize)
	}
	b.scalarCones(m.Var, 0)
	b.scalarCones(m.Con, b.variables)
	if n := len(b.part[zeroPart].rows); n > 0 {
		b.cone(zeroPart, backends.Zero(n))
	}
	if n := len(b.part[nonnegativePart].rows); n > 0 {
		b.cone(nonnegativePart, backends.Nonnegative(n))
	}
	return b.program()
}

// triangle is n(n+1)/2, or something too large where that overflows 32 bits.
func triangle(n int) int {
	if n > 1<<15 {
		return 2 * MaxSize
	}
	return n * (n + 1) / 2
}

// scalarCones adds the rows of VAR or CON, whose entries start at first.
func (b *builder) scalarCones(cones []Cone, first int) {
	for _, c := range cones {
		switch c.Kind {
		case Zero:
			b.plain(zeroPart, first, c.Dim, 1)
		case Nonnegative:
			b.plain(nonnegativePart, first, c.Dim, 1)
		case Nonpositive:
			b.plain(nonnegativePart, first, c.Dim, -1)
		case SecondOrder:
			b.cone(secondOrderPart, backends.SecondOrder(c.Dim))
			b.plain(secondOrderPart, first, c.Dim, 1)
		case RotatedSecond:
			// t = (x1 + x2)/sqrt 2 and w = (x1 - x2)/sqrt 2 have t^2 - w^2 = 2 x1 x2.
			b.cone(secondOrderPart, backends.SecondOrder(c.Dim))
			half, x1, x2 := math.Sqrt2/2, int32(first), int32(first+1)
			b.add(secondOrderPart, row{x1, x2, half, half})
			b.add(secondOrderPart, row{x1, x2, half, -half})
			b.plain(secondOrderPart, first+2, c.Dim-2, 1)
		case PSDVector:
			b.cone(psdPart, backends.PSD(backends.PSDOrder(c.Dim)))
			b.plain(psdPart, first, c.Dim, 1)
		case Exponential: // ours is (u, v, w) with v exp(u/v) <= w
			b.cone(exponentialPart, backends.Exponential())
			b.entries(exponentialPart, first+2, first+1, first)
		case DualExponential:
			b.cone(dualExponentialPart, backends.DualExponential())
			b.entries(dualExponentialPart, first+2, first+1, first)
		case Power, DualPower:
			b.power(first, c.Dim, c.Powers, c.Kind == DualPower)
		case GeometricMean, DualGeometricMean:
			b.power(first, c.Dim, slices.Repeat([]float64{1}, c.Dim-1), c.Kind == DualGeometricMean)
		}
		first += c.Dim
	}
}

func (b *builder) add(part int, r row) { b.part[part].rows = append(b.part[part].rows, r) }

func (b *builder) cone(part int, c backends.Cone) {
	b.part[part].cones = append(b.part[part].cones, c)
}

// plain adds one row for each of n entries.
func (b *builder) plain(part, first, n int, c float64) {
	b.part[part].rows = slices.Grow(b.part[part].rows, n)
	for e := range n {
		b.add(part, row{int32(first + e), -1, c, 0})
	}
}

// entries adds a row for each entry.
func (b *builder) entries(part int, entries ...int) {
	for _, e := range entries {
		b.plain(part, e, 1, 1)
	}
}

// power adds a power cone, l powers a with sum 1 on the first l of dim entries:
//
//	x1^a1 .. xl^al >= |(x(l+1), ..)|, and for the dual (x1/a1)^a1 .. (xl/al)^al >= |(x(l+1), ..)|
func (b *builder) power(first, dim int, powers []float64, dual bool) {
	weights, sum := make([]float64, len(powers)), 0.0
	for _, a := range powers {
		sum += a
	}
	for k, a := range powers {
		weights[k] = a / sum
	}
	part, cone := generalizedPowerPart, backends.GeneralizedPower(weights, dim-len(weights))
	switch l := len(weights); {
	case dim == l:
		b.plain(nonnegativePart, first, dim, 1)
		return
	case l == 1:
		part, cone = secondOrderPart, backends.SecondOrder(dim)
	case dim == 3 && dual:
		part, cone = dualPowerPart, backends.DualPower(weights[0])
	case dim == 3:
		part, cone = powerPart, backends.Power(weights[0])
	case dual:
		part, cone.Kind = dualGeneralizedPowerPart, backends.DualGeneralizedPowerCone
	}
	b.cone(part, cone)
	b.plain(part, first, dim, 1)
}

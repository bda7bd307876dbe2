package cbf

import (
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/internal/program"
	"github.com/conetune/conetune/internal/tower"
)

// MaxSize is the largest number of rows and of columns of a conic program, those of
// a matrix of order n being n(n+1)/2.
const MaxSize = 1 << 28

// longPower is the number of rows up to which a generalized power cone is one. For that the native solver has a dense
// block, which costs less than the many small cones of a tower up to about here (measured on means of nonnegative
// variables).
const longPower = 64

// conic is the way back from the form of package backends. The columns there are x, then the matrix variables as their
// lower triangles by columns, off the diagonal times sqrt 2. The rows are cone by cone those of VAR and CON that are
// not free, sorted into zero, nonnegative, second-order, positive semidefinite, exponential,
// power, generalized power cones and duals of the last three, within each of them in the order
// of the file, the matrices after the vectors that are some. Generalized power cones with more than 64 rows stand there
// as towers of power cones (see package internal/tower), with auxiliary columns after the others.
type conic struct {
	entries
	sign  float64      // -1 where the model maximises
	uses  *sparse.CSC  // rows by entries
	tower *tower.Tower // nil without long power cones
}

// entries are what cones are of, in this order: x and the triangles of the matrix variables, which are the columns, the
// scalar constraints, and the triangles of the matrix constraints.
type entries struct {
	model                              *Model
	variables, columns                 int
	matrixVariables, matrixConstraints []int // the first entry of each
	constraints, all                   int
}

// each calls f with the rows that have an entry, at most two, and its factors there.
func (p *conic) each(entry int, f func(k int, c float64)) { program.Column(p.uses, entry, f) }

// builder collects the rows of the problem without the tower, sums of entries, by the cones they are in: the kinds have
// the order in which they stand in the problem.
type builder struct {
	entries
	part [backends.DualGeneralizedPowerCone + 1]struct {
		rows  int
		uses  program.Entries // rows by entries
		cones []backends.Cone
	}
}

// Conic makes the conic program. It fails when the problem is too large. Y and MatrixY of a solution are multipliers in
// the dual cones of CON, for the minimised objective: the derivative of its optimal value with respect to b is -Y.
func (m *Model) Conic() (*formats.Program, error) {
	b := &builder{entries: entries{model: m}}
	b.variables, b.constraints = m.Dims()
	columns, rows := min(b.variables, 2*MaxSize), min(b.variables, MaxSize)+min(b.constraints, MaxSize+1)
	for _, n := range m.PSDVar {
		columns, rows = min(columns+triangle(n), 2*MaxSize), min(rows+triangle(n), 2*MaxSize)
	}
	for _, n := range m.PSDCon {
		rows = min(rows+triangle(n), 2*MaxSize)
	}
	if columns > MaxSize || rows > MaxSize {
		return nil, fmt.Errorf(
			"cbf: the problem is too large: more than %d columns or rows (n(n+1)/2 for a matrix of order n)", MaxSize)
	}
	b.scalarCones(m.Var, 0)
	b.scalarCones(m.Con, columns)
	b.columns, b.matrixVariables = columns, b.matrices(m.PSDVar, b.variables)
	b.matrixConstraints = b.matrices(m.PSDCon, columns+b.constraints)
	for _, of := range []func(int) backends.Cone{backends.Zero, backends.Nonnegative} {
		c := of(0)
		if part := &b.part[c.Kind]; part.rows > 0 {
			part.cones = []backends.Cone{of(part.rows)}
		}
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

// matrices adds the rows of PSDVAR or PSDCON, whose entries start at first, and returns where each does.
func (b *builder) matrices(orders []int, first int) (starts []int) {
	for _, n := range orders {
		starts = append(starts, first)
		b.cone(backends.PSD(n))
		b.plain(backends.PSDCone, first, triangle(n), 1)
		first += triangle(n)
	}
	b.all = first
	return starts
}

// scalarCones adds the rows of VAR or CON, whose entries start at first.
func (b *builder) scalarCones(cones []Cone, first int) {
	for _, c := range cones {
		switch c.Kind {
		case Zero:
			b.plain(backends.ZeroCone, first, c.Dim, 1)
		case Nonnegative:
			b.plain(backends.NonnegativeCone, first, c.Dim, 1)
		case Nonpositive:
			b.plain(backends.NonnegativeCone, first, c.Dim, -1)
		case SecondOrder:
			b.cone(backends.SecondOrder(c.Dim))
			b.plain(backends.SecondOrderCone, first, c.Dim, 1)
		case RotatedSecond:
			// t = (x1 + x2)/sqrt 2 and w = (x1 - x2)/sqrt 2 have t^2 - w^2 = 2 x1 x2.
			b.cone(backends.SecondOrder(c.Dim))
			const half = math.Sqrt2 / 2
			part := &b.part[backends.SecondOrderCone]
			for _, second := range [...]float64{half, -half} {
				part.uses.Add(part.rows, first, half)
				part.uses.Add(part.rows, first+1, second)
				part.rows++
			}
			b.plain(backends.SecondOrderCone, first+2, c.Dim-2, 1)
		case PSDVector:
			b.cone(backends.PSD(backends.PSDOrder(c.Dim)))
			b.plain(backends.PSDCone, first, c.Dim, 1)
		case Exponential, DualExponential: // ours is (u, v, w) with v exp(u/v) <= w
			cone := backends.Exponential()
			if c.Kind == DualExponential {
				cone = backends.DualExponential()
			}
			b.cone(cone)
			for _, e := range [...]int{2, 1, 0} {
				b.plain(cone.Kind, first+e, 1, 1)
			}
		case Power, DualPower:
			b.power(first, c.Dim, c.Powers, c.Kind == DualPower)
		case GeometricMean, DualGeometricMean:
			b.power(first, c.Dim, slices.Repeat([]float64{1}, c.Dim-1), c.Kind == DualGeometricMean)
		}
		first += c.Dim
	}
}

func (b *builder) cone(c backends.Cone) { b.part[c.Kind].cones = append(b.part[c.Kind].cones, c) }

// plain adds one row for each of n entries.
func (b *builder) plain(kind backends.ConeKind, first, n int, c float64) {
	part := &b.part[kind]
	for e := range n {
		part.uses.Add(part.rows, first+e, c)
		part.rows++
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
	cone := backends.GeneralizedPower(weights, dim-len(weights))
	switch l := len(weights); {
	case dim == l:
		b.plain(backends.NonnegativeCone, first, dim, 1)
		return
	case l == 1:
		cone = backends.SecondOrder(dim)
	case dim == 3 && dual:
		cone = backends.DualPower(weights[0])
	case dim == 3:
		cone = backends.Power(weights[0])
	case dual:
		cone.Kind = backends.DualGeneralizedPowerCone
	}
	b.cone(cone)
	b.plain(cone.Kind, first, dim, 1)
}

package native

import (
	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
)

// A cone takes part in the iteration through these few operations, each on its
// own rows of s and z. A new cone is a new file with this interface, and a row of
// kinds. What only some cones have is in the small interfaces after it.
//
// With the scaling of the current point, H maps dual directions to primal
// ones, H z = s for symmetric cones, and the linearised complementarity is
//
//	H dz + ds = -d,
//
// where d comes from affine or from combined.
type cone interface {
	// degree is the barrier parameter.
	degree() int
	// smooth moves a pair to the one with the same difference s - z on the central path of mu, see smoothing. Of a
	// nonsymmetric one it computes the scaling there, too.
	smooth(s, z []float64, mu float64)
	// shift returns the smallest a such that v + a e is in the cone.
	shift(v []float64) float64
	// addUnit adds a e to v.
	addUnit(v []float64, a float64)
	// scale computes the scaling at (s, z); false when the point is not inside.
	scale(s, z []float64) bool
	// mulH writes H v into out.
	mulH(out, v []float64)
	// affine writes the d of the pure Newton direction.
	affine(d, s []float64)
	// combined writes d with the second-order correction of the step (ds, dz)
	// and the target sigma mu.
	combined(d, s, z, ds, dz []float64, target float64)
	// step returns the largest a <= limit with s + a ds and z + a dz in the cone.
	step(s, z, ds, dz []float64, limit float64) float64
	// block says how H stands in the KKT matrix.
	block() block
}

// unit writes the central pair of mu = 1, s = z = e.
func unit(c cone, s, z []float64) {
	for _, v := range [2][]float64{s, z} {
		clear(v)
		c.addUnit(v, 1)
	}
}

// block is the form of a cone's part of the KKT matrix.
type block int

const (
	diagonalBlock   block = iota // H is diagonal: nonnegative
	rankTwoBlock                 // eta^2 (D + uu' - vv'), with two more rows and columns: secondOrder
	basisBlock                   // diagonal in another basis, see inBasis: a basisCone
	productBlock                 // H is dense, and made from products: semidefinite
	eliminatedBlock              // the rows are not in the matrix: semidefinite
)

// basisCone is a cone that stands in the matrix in another basis, see inBasis.
type basisCone interface {
	cone
	// basis writes u by rows, and values, so that u H u' = diag(values), rows and columns of H being in the given order,
	// and returns the regularisation of the rows. Of a nonsymmetric cone u is lower triangular, and what is above is left
	// as it is.
	basis(order []int32, u, values []float64) (shift float64)
}

// inverseCone is a cone with a scaling that multipliers can be estimated with, see iterate.multipliers.
type inverseCone interface {
	// invert moves s inside, if it is not, and writes its inverse, -grad F*(z) = s, into z.
	invert(s, z []float64)
}

// nonnegative is the orthant, all its rows at once. H = diag(s/z). Its rows with one entry in A are not in the matrix.
type nonnegative struct{ h []float64 }

var _ inverseCone = (*nonnegative)(nil)

func newNonnegative(n int) *nonnegative { return &nonnegative{h: make([]float64, n)} }

func (c *nonnegative) degree() int { return len(c.h) }

func (c *nonnegative) smooth(s, z []float64, mu float64) {
	for i, v := range s {
		s[i], z[i] = smoothing(v-z[i], mu)
	}
}

func (c *nonnegative) shift(v []float64) float64 {
	a := -v[0]
	for _, x := range v {
		a = max(a, -x)
	}
	return a
}

func (c *nonnegative) addUnit(v []float64, a float64) {
	for i := range v {
		v[i] += a
	}
}

func (c *nonnegative) scale(s, z []float64) bool {
	ok := true
	z = z[:len(s)]
	h := c.h[:len(s)]
	for i, v := range s {
		ok = ok && v > 0 && z[i] > 0
		h[i] = v / z[i]
	}
	return ok
}

func (c *nonnegative) mulH(out, v []float64) {
	for i, h := range c.h {
		out[i] = h * v[i]
	}
}

func (c *nonnegative) affine(d, s []float64) { copy(d, s) }

func (c *nonnegative) combined(d, s, z, ds, dz []float64, target float64) {
	n := len(d)
	s, z, ds, dz = s[:n], z[:n], ds[:n], dz[:n]
	for i := range d {
		d[i] = s[i] + (ds[i]*dz[i]-target)/z[i]
	}
}

func (c *nonnegative) step(s, z, ds, dz []float64, limit float64) float64 {
	n := len(s)
	z, ds, dz = z[:n], ds[:n], dz[:n]
	a := limit
	for i := range s {
		if s[i]+a*ds[i] < 0 {
			a = -s[i] / ds[i]
		}
		if z[i]+a*dz[i] < 0 {
			a = -z[i] / dz[i]
		}
	}
	return a
}

func (c *nonnegative) block() block { return diagonalBlock }

func (c *nonnegative) invert(s, z []float64) {
	for i, v := range s {
		s[i] = max(v, multiplierFloor)
		z[i] = 1 / s[i]
	}
}

// kind is what the solver knows of one kind of cone before there are any points. A new
// cone is a file with a cone, see the interface, and a row of kinds.
type kind struct {
	kind  backends.ConeKind
	place place
	// ray says that a cone with one row is the ray of the nonnegative numbers.
	ray bool
	// maker makes one. It is nil where the rows become equations and inequalities.
	maker func(c backends.Cone, work *matrixWork) cone
	// bytes is what a cone takes beyond its rows, for itself and of the work space; nil for nothing.
	bytes func(c backends.Cone) (own, shared int64)
	// examples are what the tests of all cones run on.
	examples []backends.Cone
}

// place is where the rows of a cone stand in the form, see sortRows; within a part they are in the order of the caller.
type place int

const (
	equationRows   place = iota
	inequalityRows       // one cone, the orthant
	normRows             // second-order cones
	otherRows            // semidefinite and nonsymmetric cones
	places               // their number
	boundRows            // equations and inequalities, by the bounds of each row
)

var kinds = []kind{
	{kind: backends.ZeroCone, place: equationRows},
	{kind: backends.NonnegativeCone, place: inequalityRows,
		examples: []backends.Cone{backends.Nonnegative(1), backends.Nonnegative(2), backends.Nonnegative(3),
			backends.Nonnegative(4), backends.Nonnegative(5), backends.Nonnegative(9), backends.Nonnegative(40)}},
	{kind: backends.BoxCone, place: boundRows},
	{kind: backends.SecondOrderCone, place: normRows, ray: true,
		maker: func(c backends.Cone, _ *matrixWork) cone { return newSecondOrder(c.Dim) },
		examples: []backends.Cone{
			backends.SecondOrder(2), backends.SecondOrder(3), backends.SecondOrder(4), backends.SecondOrder(5),
			backends.SecondOrder(9), backends.SecondOrder(40),
		}},
	{kind: backends.PSDCone, place: otherRows, ray: true, maker: semidefiniteOf, bytes: bytesOfMatrices,
		examples: []backends.Cone{backends.PSD(2), backends.PSD(3), backends.PSD(6)}},
	{kind: backends.ExponentialCone, place: otherRows,
		maker: nonsymmetrics(exponentials(false)), bytes: bytesOfPath,
		examples: []backends.Cone{backends.Exponential()}},
	{kind: backends.DualExponentialCone, place: otherRows,
		maker: nonsymmetrics(exponentials(true)), bytes: bytesOfPath,
		examples: []backends.Cone{backends.DualExponential()}},
	{kind: backends.PowerCone, place: otherRows, bytes: bytesOfPath, maker: nonsymmetrics(powers(false)),
		examples: []backends.Cone{backends.Power(0.3), backends.Power(0.5)}},
	{kind: backends.DualPowerCone, place: otherRows, bytes: bytesOfPath, maker: nonsymmetrics(powers(true)),
		examples: []backends.Cone{backends.DualPower(0.3)}},
	{kind: backends.GeneralizedPowerCone, place: otherRows, bytes: bytesOfPath,
		maker: nonsymmetrics(powers(false)),
		examples: []backends.Cone{
			backends.GeneralizedPower([]float64{0.3, 0.7}, 1), backends.GeneralizedPower([]float64{0.2, 0.5, 0.3}, 3),
			backends.GeneralizedPower([]float64{1}, 2),
		}},
	{kind: backends.DualGeneralizedPowerCone, place: otherRows, bytes: bytesOfPath,
		maker:    nonsymmetrics(powers(true)),
		examples: []backends.Cone{backends.DualGeneralizedPower([]float64{0.2, 0.1, 0.3, 0.4}, 2)}},
}

// kindOf returns the row of a kind, nil for one that the solver does not take.
func kindOf(k backends.ConeKind) *kind {
	for i := range kinds {
		if kinds[i].kind == k {
			return &kinds[i]
		}
	}
	return nil
}

// coneKinds returns the kinds of cones that the solver takes.
func coneKinds() []backends.ConeKind {
	out := make([]backends.ConeKind, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].kind
	}
	return out
}

// placeOf returns where the rows of c stand.
func placeOf(c backends.Cone) place {
	k := kindOf(c.Kind)
	if k.ray && c.Dim == 1 {
		return inequalityRows
	}
	return k.place
}

// workOf makes the work space of the given cones.
func workOf(cones []backends.Cone, within dense.Within) *matrixWork {
	largest := 0
	for _, c := range cones {
		if c.Kind == backends.PSDCone {
			largest = max(largest, backends.PSDOrder(c.Dim))
		}
	}
	return newMatrixWork(largest, within)
}

// bytesOf is what the cones take beyond their rows.
func bytesOf(cones []backends.Cone) int64 {
	sum, most := int64(0), int64(0)
	for _, c := range cones {
		if k := kindOf(c.Kind); k.bytes != nil {
			own, shared := k.bytes(c)
			sum, most = sum+own, max(most, shared)
		}
	}
	return sum + most
}

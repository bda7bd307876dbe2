package backends

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// CheckPrimalInfeasible measures how well z proves that no x satisfies the
// constraints. With z moved into K* first, every feasible x and s have
//
//	0 <= s'z - beta(z) = V - r'x,    V = b'z - beta(z),    r = A'z,
//
// which no x within |x_j| <= R satisfies where V < 0 and R |r|_1 < -V. A
// variable that single rows bound needs no R: what r_j x_j can be at most within its
// bounds counts in V. The error says that V is not negative beyond rounding. Otherwise the residual is
//
//	sum_j |r_j| X_j / -V
//
// where X_j is the size that the data give x_j, the largest |b_i| / |a_ij| of the rows in which it has weight, be it
// directly or through the other variables of the row. It does not change when rows, columns or b are multiplied by
// numbers: with a residual of 1e-8 there is no feasible x within 1e8 times the sizes that the data suggest. V and r are
// computed in twice the working precision, and taken with the bounds of their errors. Few certificates are numbers of
// 53 bits: where a vector of 106 bits that differs from z in the last places alone leaves less, the residual is that of
// it. It panics unless p has a shape and z has length m.
func CheckPrimalInfeasible(p *Problem, z []float64) (residual float64, err error) {
	p.mustFit()
	return new(checker).primal(p).check(z)
}

// CheckDualInfeasible measures how well x proves that the objective falls
// without bound from every feasible point. With s in the recession cone of K next to -Ax, every
// dual feasible (u, z), Pu + A'z = -q and z in K*, has
//
//	0 <= s'z = z'(Ax + s) - z'Ax = q'x + u'Px + z'(Ax + s),
//
// which none within |u_j|, |z_i| <= R satisfies where q'x < 0 and R (|Px|_1 + |Ax + s|_1) < -q'x; and by strong
// duality a feasible problem without dual feasible points is unbounded. The error says
// that q'x is not negative beyond rounding. Otherwise the residual is
//
//	(sum_j |(Px)_j| U_j + sum_i |(Ax + s)_i| Z_i) / -q'x
//
// where U_j and Z_i are the sizes that the data give u_j and z_i, the largest |q_j| / |p_ij| and |q_j| / |a_ij|, as in
// CheckPrimalInfeasible, and x may be taken in 106 bits likewise. It panics unless p has a shape and x has length n.
func CheckDualInfeasible(p *Problem, x []float64) (residual float64, err error) {
	p.mustFit()
	return new(checker).dual(p).check(x)
}

// sameButPlaces says whether the entries of a certificate are those of v but for the last places.
func sameButPlaces(v, of []float64) bool {
	for i, x := range v {
		if !(math.Abs(of[i]-x) <= lastPlaces*math.Abs(x)) {
			return false
		}
	}
	return true
}

// lastPlaces is the part of the terms of a sum that rounding of its numbers may make of it.
const lastPlaces = 16 * unitRoundoff

// proof is what a certificate shows.
type proof struct {
	residual float64
	// radius is the R up to which it holds.
	radius float64
	// v is the certificate, with z in K*, to the working precision.
	v []float64
	// value is V or q'x, added up from terms, and negative an upper bound of what is left of it.
	value, terms, negative float64
	// rounded says that last places of v could make up for all that is left over, each sum by itself.
	rounded bool
}

var errNotFinite = errors.New("backends: certificate is not finite")

// primalInfeasible is CheckPrimalInfeasible for z + low, of which low, nil for zero, is below the last places of z.
func (c *checker) primalInfeasible(p *Problem, z, low []float64) (proof, error) {
	_, m := p.Dims()
	mustHave(len(z) == m)
	if !allFinite(z) {
		return proof{}, errNotFinite
	}
	out := proof{v: append([]float64(nil), z...), radius: math.Inf(1)}
	intoDual(p, out.v, Cone.barelyIntoDual)
	rest := c.combination(p, out.v, low)
	if rest == nil {
		return out, c.outweighed(p, &out, low, nil)
	}
	known := c.known.about(p)
	size, bounds := known.ofX(), known.single()
	low = slices.Clone(low)
	if bounds.absorb(rest, size, out.v, low) {
		intoDual(p, out.v, Cone.barelyIntoDual)
		if rest = c.combination(p, out.v, low); rest == nil {
			return out, c.outweighed(p, &out, low, nil)
		}
	}
	// What is left is rounding where a bound has taken in the rest.
	bounded := 0.0    // what comes of the others
	var left weighing // where no bound serves
	for j, r := range rest {
		most := math.Abs(r.value) + r.bound
		if most == 0 {
			continue
		}
		if within := bounds.most(j, r); within < most*size[j]/tightBound {
			bounded += within + 4*unitRoundoff*math.Abs(within)
			continue
		}
		left.add(most, r.terms, size[j])
	}
	if err := c.outweighed(p, &out, low, &bounded); err != nil || left.sum == 0 {
		return out, err
	}
	left.against(&out)
	return out, nil
}

// weighing adds up what is left over, as it is, times sizes, and beyond the last places of the terms.
type weighing struct{ sum, sized, beyond float64 }

func (w *weighing) add(v, terms, size float64) {
	w.sum += v
	w.sized += v * size
	w.beyond += max(0, v-lastPlaces*terms) * size
}

// against completes a proof that has a value. Last places of the numbers of the problem, which make up for no more than
// mostPlaces, do not count, unless the value is but a small part of its terms: then they may be what it is made of.
func (w *weighing) against(p *proof) {
	p.residual, p.radius, p.rounded = w.sized/-p.negative, -p.negative/w.sum, w.beyond == 0
	if p.residual <= mostPlaces && -p.negative >= cancelled*p.terms {
		p.residual = w.beyond / -p.negative
	}
}

const (
	// The residual up to which last places do not count: solutions so much nearer than its reciprocal are denied in truth.
	mostPlaces = 2e-9
	// The part of its terms that a value is at least where they do not cancel.
	cancelled = 1e-4
)

// intoDual moves z into K*, cone by cone.
func intoDual(p *Problem, z []float64, move func(k Cone, z []float64)) {
	for row, k := range Rows(p.Cones) {
		move(k, z[row:row+k.Dim])
	}
}

// combination returns A'(z + low) with bounds of its rounding, nil if it is exactly zero.
func (c *checker) combination(p *Problem, z, low []float64) []rounded {
	if p.A == nil {
		return nil
	}
	out := make([]rounded, len(p.Q))
	exact := true
	for j := range out {
		dot := timesColumn(p, j, z, low)
		out[j] = rounded{dot.value(), dot.bound(), dot.size}
		exact = exact && out[j].value == 0 && out[j].bound == 0
	}
	if exact {
		return nil
	}
	return out
}

// outweighed sets value and negative of a proof, to which bounded is added, and returns an error unless they are
// negative.
func (c *checker) outweighed(p *Problem, out *proof, low []float64, bounded *float64) (err error) {
	var sum exactSum
	add := func(by float64, i int) {
		if sum.addProduct(by, out.v[i]); low != nil {
			sum.addProduct(by, low[i])
		}
	}
	for row, k := range Rows(p.Cones) {
		if k.Kind == BoxCone {
			for i, v := range out.v[row : row+k.Dim] {
				if v != 0 {
					add(-k.boundOf(i, v), row+i)
				}
			}
		}
	}
	for i, b := range p.B {
		add(b, i)
	}
	out.terms = sum.size
	if out.value, out.negative, err = fallsBelowZero("b'z - beta(z)", &sum); err != nil || bounded == nil {
		return err
	}
	if out.negative += *bounded; !(-out.negative > lostInRounding*out.terms) {
		return fmt.Errorf("backends: certificate has b'z - beta(z) = %g, which A'z outweighs within the bounds of x",
			out.value)
	}
	return nil
}

// absorb moves what is left of A'z into the multipliers of rows that bound a variable, where their bounds are
// near, and says whether there were any: z_i += -r_j / a_ij makes column j zero, and is in K*.
func (b *singleBounds) absorb(rest []rounded, size, z, low []float64) bool {
	some := false
	for j, r := range rest {
		if r.value == 0 || !(b.most(j, r) < (math.Abs(r.value)+r.bound)*size[j]/tightBound) {
			continue
		}
		row, a := b.lowerRow[j], b.lowerEntry[j]
		if r.value < 0 {
			row, a = b.upperRow[j], b.upperEntry[j]
		}
		if row >= 0 {
			sum, lost := twoSum(z[row], -r.value/a)
			if z[row] = sum; low != nil {
				z[row], low[row] = twoSum(sum, lost+low[row])
			}
			some = true
		}
	}
	return some
}

// most is the largest value of -r_j x_j within the bounds of x_j.
func (b *singleBounds) most(j int, r rounded) float64 {
	l, u := b.lower[j], b.upper[j]
	switch {
	case math.Abs(r.value) <= r.bound: // the sign is not known
		return (math.Abs(r.value) + r.bound) * max(math.Abs(l), math.Abs(u))
	case r.value > 0:
		return max(-(r.value-r.bound)*l, -(r.value+r.bound)*l)
	}
	return max(-(r.value-r.bound)*u, -(r.value+r.bound)*u)
}

// A bound of a variable is used where it is nearer than the reciprocal of this times the size that the data suggest.
const tightBound = 1e-10

// dualInfeasible is CheckDualInfeasible for x + low, of which low, nil for zero, is below the last places of x.
func (c *checker) dualInfeasible(p *Problem, x, low []float64) (proof, error) {
	n, m := p.Dims()
	mustHave(len(x) == n)
	if !allFinite(x) {
		return proof{}, errNotFinite
	}
	out := proof{v: slices.Clone(x), radius: math.Inf(1)}
	var sum exactSum
	for j, q := range p.Q {
		if sum.addProduct(q, x[j]); low != nil {
			sum.addProduct(q, low[j])
		}
	}
	var err error
	out.terms = sum.size
	if out.value, out.negative, err = fallsBelowZero("q'x", &sum); err != nil {
		return out, err
	}
	known := c.known.about(p)
	curved, at := timesP(nil, p, x, low), known.along(x, low) // nil adds nothing
	moved := at.moved
	bend, exact := make([]float64, n), true
	for j := range curved {
		bend[j] = curved[j].most()
		exact = exact && bend[j] == 0
	}
	direction, rounding, left := make([]float64, m), make([]float64, m), make([]float64, m) // -Ax, its error, |Ax + s|
	for i := range moved {
		direction[i] = -moved[i].value()
		rounding[i] = moved[i].most() - math.Abs(direction[i])
	}
	for row, k := range Rows(p.Cones) {
		to := row + k.Dim
		k.awayFromRecession(direction[row:to], at.s[row:to], rounding[row:to], left[row:to])
	}
	for _, v := range left {
		exact = exact && v == 0
	}
	if exact {
		return out, nil
	}
	sizeU, sizeZ := known.ofDual()
	var over weighing
	for j, v := range bend {
		if v != 0 {
			over.add(v, curved[j].size, sizeU[j])
		}
	}
	terms := make([]float64, m)
	for i := range moved {
		terms[i] = moved[i].size
	}
	Blocks(p.Cones, func(first, dim int) { fillMax(terms[first : first+dim]) })
	for i, v := range left {
		if v != 0 {
			over.add(v, terms[i], sizeZ[i])
		}
	}
	over.against(&out)
	return out, nil
}

// lostInRounding is the part of the sum of absolute terms below which the sign of a sum is not
// trusted: with data that are rounded themselves, even one that was computed exactly means nothing.
const lostInRounding = 1e-12

// fallsBelowZero returns a sum and an upper bound of it, and an error unless that is negative.
func fallsBelowZero(name string, sum *exactSum) (value, most float64, err error) {
	value = sum.value()
	most = value + sum.bound()
	switch {
	case !(most <= math.MaxFloat64):
		return 0, 0, errNotFinite
	case !(value < 0):
		return 0, 0, fmt.Errorf("backends: certificate has %s = %g, which is not negative", name, value)
	case !(most < 0) || -value <= lostInRounding*sum.size:
		return 0, 0, fmt.Errorf("backends: certificate has %s = %g, which is within the rounding of terms of size %g", name,
			value, sum.size)
	}
	return value, most, nil
}

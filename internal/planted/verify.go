package planted

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/conetune/conetune/backends"
)

// rounding is the error that planted points may have, relative to the terms that they
// are added up from.
const rounding = 1e-14

// Verify checks all that is known about the case, without any solver: feasible points
// and their complementarity to rounding, certificates and rays beyond it (sums are
// added up in twice the precision).
func (c *Case) Verify() error {
	n, m := c.Dims()
	for k, v := range c.vectors() {
		length := n
		if k > 2 {
			length = m
		}
		if *v != nil && len(*v) != length {
			return fmt.Errorf("planted vector %d has length %d, expected %d", k, len(*v), length)
		}
	}
	for _, check := range []func() error{c.verifyPrimal, c.verifyDual, c.verifyFarkas, c.verifyRay, c.verifyConvexity} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Case) verifyPrimal() error {
	if c.X == nil {
		return nil
	}
	for i, b := range c.B {
		if off, size := residual(-b, c.S[i], c.A[i], c.X); !(off <= rounding*size) {
			return fmt.Errorf("row %d of Ax + s = b is off by %g", i, off)
		}
	}
	return c.inCones("s", c.S, backends.Cone.Distance)
}

func (c *Case) verifyDual() error {
	if c.DualX == nil {
		return nil
	}
	point := slices.Concat(c.Z, c.DualX)
	for j, q := range c.Q {
		terms := column(c.A, j)
		if c.P != nil {
			terms = append(terms, c.P[j]...)
		}
		if off, size := residual(q, 0, terms, point); !(off <= rounding*size) {
			return fmt.Errorf("column %d of Px + A'z = -q is off by %g", j, off)
		}
	}
	if err := c.inCones("z", c.Z, backends.Cone.DualDistance); err != nil {
		return err
	}
	if c.Class != Optimal {
		return nil
	}
	gap, size := residual(-c.beta(c.Z), 0, c.S, c.Z)
	if !(gap <= 1e3*rounding*max(size, c.Unit)) {
		return fmt.Errorf("s'z - beta(z) = %g from terms of size %g", gap, size)
	}
	return nil
}

// verifyFarkas wants A'z = 0 and b'z - beta(z) < 0.
func (c *Case) verifyFarkas() error {
	if c.Farkas == nil {
		return nil
	}
	for j := range c.Q {
		if off, _ := residual(0, 0, column(c.A, j), c.Farkas); off != 0 {
			return fmt.Errorf("column %d of A'z = 0 is off by %g", j, off)
		}
	}
	if value := dot(c.B, c.Farkas) - c.beta(c.Farkas); !(value < 0) {
		return fmt.Errorf("the certificate has b'z - beta(z) = %g", value)
	}
	return c.inCones("the certificate", c.Farkas, backends.Cone.DualDistance)
}

// verifyRay wants Px = 0, -Ax in the recession cone and q'x < 0.
func (c *Case) verifyRay() error {
	if c.Ray == nil {
		return nil
	}
	for i, row := range c.P {
		if off, _ := residual(0, 0, row, c.Ray); off != 0 {
			return fmt.Errorf("row %d of Px = 0 is off by %g", i, off)
		}
	}
	if value := dot(c.Q, c.Ray); !(value < 0) {
		return fmt.Errorf("the ray has q'x = %g", value)
	}
	r := c.timesA(c.Ray)
	scaleBy(r, -1)
	return c.inCones("-A times the ray", r, func(k backends.Cone, r []float64) float64 {
		if k.Kind != backends.BoxCone {
			return k.Distance(r)
		}
		d := 0.0
		for i, v := range r {
			if !math.IsInf(k.Lower[i], -1) {
				d = max(d, -v)
			}
			if !math.IsInf(k.Upper[i], 1) {
				d = max(d, v)
			}
		}
		return d
	})
}

// verifyConvexity wants P positive semidefinite but in the class Nonconvex.
func (c *Case) verifyConvexity() error {
	if convex := semidefinite(c.P); convex == (c.Class == Nonconvex) {
		return fmt.Errorf("a program of the class %v has a convex P: %v", c.Class, convex)
	}
	return nil
}

// semidefinite eliminates in rational numbers, without any rounding.
func semidefinite(p [][]float64) bool {
	a := make([][]*big.Rat, len(p))
	for i, row := range p {
		for _, v := range row {
			a[i] = append(a[i], new(big.Rat).SetFloat64(v))
		}
	}
	for k, own := range a {
		if own[k].Sign() < 0 {
			return false
		}
		for i := k + 1; i < len(a); i++ {
			switch {
			case own[i].Sign() == 0:
			case own[k].Sign() == 0:
				return false
			default:
				factor := new(big.Rat).Quo(own[i], own[k])
				for j := k + 1; j < len(a); j++ {
					a[i][j].Sub(a[i][j], new(big.Rat).Mul(factor, own[j]))
				}
			}
		}
	}
	return true
}

// inCones wants the parts of v in their cones to rounding.
func (c *Case) inCones(name string, v []float64, distance func(backends.Cone, []float64) float64) error {
	var err error
	c.each(func(k backends.Cone, from, to int) {
		if d := distance(k, v[from:to]); !(d <= rounding*maxAbs(v[from:to])) && err == nil {
			err = fmt.Errorf("%s of rows %d to %d is outside the %v cone by %g", name, from, to, k.Kind, d)
		}
	})
	return err
}

// residual returns |a + b + u'v| and the size of its terms.
func residual(a, b float64, u, v []float64) (off, size float64) {
	s := sum{}
	s.add(a)
	s.add(b)
	size = max(math.Abs(a), math.Abs(b))
	for i, x := range u {
		s.addProduct(x, v[i])
		size = max(size, math.Abs(x*v[i]))
	}
	return math.Abs(s.value()), size
}

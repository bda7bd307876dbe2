package planted

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
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
		if length := []int{n, m}[k/3]; *v != nil && len(*v) != length {
			return fmt.Errorf("planted vector %d has length %d, expected %d", k, len(*v), length)
		}
	}
	return cmp.Or(c.verifyPoints(), c.verifyFarkas(), c.verifyRay(), c.verifyConvexity())
}

// verifyPoints wants Ax + s = b, s in K, and Pu + A'z = -q, z in K*.
func (c *Case) verifyPoints() error {
	for i := range c.B {
		if c.X == nil {
			break
		}
		if off, size := residual(-c.B[i], c.S[i], c.A[i], c.X); !(off <= rounding*size) {
			return fmt.Errorf("row %d of Ax + s = b is off by %g", i, off)
		}
	}
	point := slices.Concat(c.Z, c.DualX)
	for j := range c.Q {
		if c.DualX == nil {
			break
		}
		if off, size := residual(c.Q[j], 0, append(column(c.A, j), c.rowOfP(j)...), point); !(off <= rounding*size) {
			return fmt.Errorf("column %d of Px + A'z = -q is off by %g", j, off)
		}
	}
	if c.Class == Optimal {
		if gap, size := residual(-c.beta(c.Z), 0, c.S, c.Z); !(gap <= 1e3*rounding*max(size, c.Unit)) {
			return fmt.Errorf("s'z - beta(z) = %g from terms of size %g", gap, size)
		}
	}
	return cmp.Or(c.inCones("s", c.S, backends.Cone.Distance), c.inCones("z", c.Z, backends.Cone.DualDistance))
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
	if value := dot(c.Farkas, c.B) - c.beta(c.Farkas); !(value < 0) {
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
		far := 0.0
		for i, v := range r {
			if v < 0 && !math.IsInf(k.Lower[i], -1) || v > 0 && !math.IsInf(k.Upper[i], 1) {
				far = max(far, math.Abs(v))
			}
		}
		return far
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
		if v == nil {
			return
		}
		if d := distance(k, v[from:to]); !(d <= rounding*maxAbs(v[from:to])) && err == nil {
			err = fmt.Errorf("%s of rows %d to %d is outside the %v cone by %g", name, from, to, k.Kind, d)
		}
	})
	return err
}

// residual returns |a + b + u'v| and the size of its terms.
func residual(a, b float64, u, v []float64) (off, size float64) {
	var s dense.Sum
	s.Add(a)
	s.Add(b)
	size = max(math.Abs(a), math.Abs(b))
	for i := range min(len(u), len(v)) { // what is nil is zero
		s.AddProduct(u[i], v[i])
		size = max(size, math.Abs(u[i]*v[i]))
	}
	return math.Abs(s.Value()), size
}

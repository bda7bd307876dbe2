package exact

import (
	"fmt"
	"math"
	"math/big"

	"github.com/conetune/conetune/backends"
)

// program is min 1/2 x'Px + q'x with Gx <= h, whose x is free. An equation is two rows.
type program struct {
	p    [][]*big.Rat
	q    []*big.Rat
	rows []row
}

// row is g'x <= h. Its multiplier counts with the sign in the multiplier of the row of
// the problem that it comes from.
type row struct {
	g    []*big.Rat
	h    *big.Rat
	of   int
	sign int64
}

// newProgram translates the problem.
func newProgram(p *backends.Problem) (*program, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n, m := p.Dims()
	out := &program{p: square(n), q: Rationals(p.Q)}
	if p.P != nil {
		p.P.DoNonZero(func(i, j int, v float64) {
			out.p[i][j].SetFloat64(v)
			out.p[j][i].SetFloat64(v)
		})
	}
	if !Semidefinite(out.p) {
		return nil, fmt.Errorf("exact: P is not positive semidefinite")
	}
	a := make([][]*big.Rat, m)
	for i := range a {
		a[i] = zeros(n)
	}
	if p.A != nil {
		p.A.DoNonZero(func(i, j int, v float64) { a[i][j].SetFloat64(v) })
	}
	row := 0
	for _, c := range p.Cones {
		for i := range c.Dim {
			lower, upper := 0.0, 0.0 // an equation
			switch c.Kind {
			case backends.ZeroCone:
			case backends.NonnegativeCone:
				upper = math.Inf(1)
			case backends.BoxCone:
				lower, upper = c.Lower[i], c.Upper[i]
			default:
				return nil, fmt.Errorf("exact: no %v cones", c.Kind)
			}
			out.bound(row, a[row], p.B[row], lower, upper)
			row++
		}
	}
	return out, nil
}

// bound adds lower <= b - ax <= upper.
func (p *program) bound(of int, a []*big.Rat, b, lower, upper float64) {
	if !math.IsInf(lower, -1) { // ax <= b - lower
		p.rows = append(p.rows, row{a, difference(b, lower), of, 1})
	}
	if !math.IsInf(upper, 1) { // -ax <= upper - b
		minus := zeros(len(a))
		for j, v := range a {
			minus[j].Neg(v)
		}
		p.rows = append(p.rows, row{minus, difference(upper, b), of, -1})
	}
}

func difference(a, b float64) *big.Rat {
	return new(big.Rat).Sub(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
}

// complementarity returns M and the right-hand side of the conditions of optimality for
// (x+, x-, y) with x = x+ - x-:
//
//	Px + q + G'y = 0,  h - Gx >= 0,  y >= 0,  y'(h - Gx) = 0.
func (p *program) complementarity() ([][]*big.Rat, []*big.Rat) {
	n, m := len(p.q), len(p.rows)
	out, rhs := square(2*n+m), zeros(2*n+m)
	for i := range n {
		rhs[i].Set(p.q[i])
		rhs[n+i].Neg(p.q[i])
		for j, v := range p.p[i] {
			out[i][j].Set(v)
			out[n+i][n+j].Set(v)
			out[i][n+j].Neg(v)
			out[n+i][j].Neg(v)
		}
	}
	for k, r := range p.rows {
		rhs[2*n+k].Set(r.h)
		for j, v := range r.g {
			out[j][2*n+k].Set(v)
			out[n+j][2*n+k].Neg(v)
			out[2*n+k][j].Neg(v)
			out[2*n+k][n+j].Set(v)
		}
	}
	return out, rhs
}

// find returns x and y that satisfy the conditions of optimality, or a direction d of x
// and multipliers y with Pd = 0, Gd <= 0, G'y = 0, y >= 0 and q'd + h'y < 0.
func (p *program) find() (x, y []*big.Rat, solved bool) {
	m, rhs := p.complementarity()
	v, ray := lemke(m, rhs)
	if solved = ray == nil; !solved {
		v = ray
	}
	n := len(p.q)
	x = zeros(n)
	for j := range x {
		x[j].Sub(v[j], v[n+j])
	}
	return x, v[2*n:], solved
}

// feasibility returns the program with P = 0 and q = 0, which has a solution where the
// program is feasible.
func (p *program) feasibility() *program {
	return &program{p: square(len(p.q)), q: zeros(len(p.q)), rows: p.rows}
}

// homogeneous returns the program with h = 0, which has a solution where the dual of the
// program is feasible.
func (p *program) homogeneous() *program {
	out := &program{p: p.p, q: p.q}
	for _, r := range p.rows {
		out.rows = append(out.rows, row{r.g, new(big.Rat), r.of, r.sign})
	}
	return out
}

// Semidefinite decides by elimination whether a symmetric matrix is positive semidefinite.
func Semidefinite(p [][]*big.Rat) bool {
	n := len(p)
	a := square(n)
	for i := range n {
		for j := range n {
			a[i][j].Set(p[i][j])
		}
	}
	for k := range n {
		switch a[k][k].Sign() {
		case -1:
			return false
		case 0:
			for j := k + 1; j < n; j++ {
				if a[k][j].Sign() != 0 {
					return false
				}
			}
			continue
		}
		for i := k + 1; i < n; i++ {
			factor := new(big.Rat).Quo(a[i][k], a[k][k])
			for j := k + 1; j < n; j++ {
				a[i][j].Sub(a[i][j], new(big.Rat).Mul(factor, a[k][j]))
			}
		}
	}
	return true
}

func square(n int) [][]*big.Rat {
	out := make([][]*big.Rat, n)
	for i := range out {
		out[i] = zeros(n)
	}
	return out
}

// Rationals returns finite numbers as they are.
func Rationals(v []float64) []*big.Rat {
	out := zeros(len(v))
	for i, x := range v {
		out[i].SetFloat64(x)
	}
	return out
}

func dot(a, b []*big.Rat) *big.Rat {
	sum, product := new(big.Rat), new(big.Rat)
	for i := range a {
		sum.Add(sum, product.Mul(a[i], b[i]))
	}
	return sum
}

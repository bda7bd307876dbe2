package exact

import (
	"errors"
	"math/big"

	"github.com/conetune/conetune/backends"
)

// Answer is the truth about a program: a feasible point or a proof that there is none, and the same of its dual.
type Answer struct {
	// X, of length n, is feasible, or nil. Farkas, of length m, is nil then, and else has A'z = 0, z in K* and
	// b'z - beta(z) < 0: no x is feasible.
	X, Farkas []*big.Rat
	// DualX and Z, of lengths n and m, have P DualX + q + A'Z = 0 and Z in K*, or are nil. Ray, of length n, is nil then,
	// and else has Px = 0, -Ax in the recession cone of K and q'x < 0.
	DualX, Z, Ray []*big.Rat
	// Value is the optimal value where both X and Z are there: X is a solution then, DualX the same and Z its multipliers.
	Value *big.Rat
}

var errUnproved = errors.New("exact: the proof of an answer does not hold")

// Solve decides the program. The error is for problems that are not valid, not convex,
// or have other cones.
func Solve(problem *backends.Problem) (*Answer, error) {
	p, err := newProgram(problem)
	if err != nil {
		return nil, err
	}
	_, m := problem.Dims()
	if x, y, solved := p.find(); solved {
		if !p.optimal(x, y) {
			return nil, errUnproved
		}
		return &Answer{X: x, DualX: x, Z: p.multipliers(y, m), Value: p.value(x)}, nil
	}
	out := &Answer{}
	feasibility, homogeneous := p.feasibility(), p.homogeneous()
	x, y, feasible := feasibility.find()
	proved := false
	if feasible {
		out.X, proved = x, feasibility.optimal(x, y)
	} else {
		out.Farkas, proved = p.multipliers(y, m), p.infeasible(y)
	}
	x, y, bounded := homogeneous.find()
	if bounded {
		out.DualX, out.Z = x, p.multipliers(y, m)
		proved = proved && homogeneous.optimal(x, y)
	} else {
		out.Ray = x
		proved = proved && p.falls(x)
	}
	if !proved || feasible && bounded { // which is solvable
		return nil, errUnproved
	}
	return out, nil
}

// optimal checks the conditions of optimality.
func (p *program) optimal(x, y []*big.Rat) bool {
	for j := range x {
		if sum := p.stationary(j, x, y); sum.Add(sum, p.q[j]).Sign() != 0 {
			return false
		}
	}
	for k, r := range p.rows {
		slack := new(big.Rat).Sub(r.h, dot(r.g, x))
		if slack.Sign() < 0 || y[k].Sign() < 0 || slack.Sign() > 0 && y[k].Sign() > 0 {
			return false
		}
	}
	return true
}

// stationary returns entry j of Px + G'y.
func (p *program) stationary(j int, x, y []*big.Rat) *big.Rat {
	sum := dot(p.p[j], x)
	for k, r := range p.rows {
		sum.Add(sum, new(big.Rat).Mul(r.g[j], y[k]))
	}
	return sum
}

// infeasible checks G'y = 0, y >= 0 and h'y < 0.
func (p *program) infeasible(y []*big.Rat) bool {
	zero, sum := zeros(len(p.q)), new(big.Rat)
	for j := range p.q {
		if p.stationary(j, zero, y).Sign() != 0 {
			return false
		}
	}
	for k, r := range p.rows {
		if y[k].Sign() < 0 {
			return false
		}
		sum.Add(sum, new(big.Rat).Mul(r.h, y[k]))
	}
	return sum.Sign() < 0
}

// falls checks Pd = 0, Gd <= 0 and q'd < 0.
func (p *program) falls(d []*big.Rat) bool {
	for j := range d {
		if dot(p.p[j], d).Sign() != 0 {
			return false
		}
	}
	for _, r := range p.rows {
		if dot(r.g, d).Sign() > 0 {
			return false
		}
	}
	return dot(p.q, d).Sign() < 0
}

// multipliers returns z for the m rows of the problem.
func (p *program) multipliers(y []*big.Rat, m int) []*big.Rat {
	z := zeros(m)
	for k, r := range p.rows {
		z[r.of].Add(z[r.of], new(big.Rat).Mul(big.NewRat(r.sign, 1), y[k]))
	}
	return z
}

// value returns the objective.
func (p *program) value(x []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i := range x {
		sum.Add(sum, new(big.Rat).Mul(x[i], dot(p.p[i], x)))
	}
	return sum.Add(sum.Mul(sum, big.NewRat(1, 2)), dot(p.q, x))
}

package main

import (
	"math"
	"math/rand/v2"

	"github.com/conetune/conetune/backends"
	"gonum.org/v1/gonum/floats"
)

// program is a conic program with a planted solution, which is the point that its right-hand side and objective are
// made of: s = b - Ax in K, z in K*, s'z = 0 and Px + q + A'z = 0.
type program struct {
	*backends.Problem
	x, s, z []float64
	value   float64 // of the objective
}

// family makes programs of about n variables.
type family struct {
	name string
	make func(n int, rng *rand.Rand) program
}

var families = []family{{"transport", transport}, {"flow", flow}, {"lasso", lasso}, {"power", power}}

// build is a program that grows row by row. It has P = diag(p).
type build struct {
	a     *backends.Triplets
	x, p  []float64
	s, z  []float64
	cones []backends.Cone
}

func begin(n, entries int) *build {
	return &build{a: backends.NewTriplets(entries), x: make([]float64, n), p: make([]float64, n)}
}

// rows adds rows of one cone with the slack s and the multipliers z, and returns the first.
func (b *build) rows(c backends.Cone, s, z []float64) int {
	first := len(b.s)
	b.s, b.z, b.cones = append(b.s, s...), append(b.z, z...), append(b.cones, c)
	return first
}

// bounds adds x_j >= 0, with the multipliers r, for the first variables.
func (b *build) bounds(r []float64) {
	first := b.rows(backends.Nonnegative(len(r)), b.x[:len(r)], r)
	for j := range r {
		b.a.Add(first+j, j, -1)
	}
}

// plant makes q and b.
func (b *build) plant() program {
	n, m := len(b.x), len(b.s)
	a, err := b.a.CSC(m, n)
	if err != nil {
		panic(err) // an index is wrong
	}
	p := &backends.Problem{Q: make([]float64, n), A: a, B: append([]float64(nil), b.s...), Cones: b.cones}
	raw, value := a.RawMatrix(), 0.0
	for j, x := range b.x {
		p.Q[j] = -b.p[j] * x
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			p.B[raw.Ind[k]] += raw.Data[k] * x
			p.Q[j] -= raw.Data[k] * b.z[raw.Ind[k]]
		}
		value += b.p[j]*x*x/2 + p.Q[j]*x
	}
	if floats.Max(b.p) > 0 {
		d := backends.NewTriplets(n)
		for j, v := range b.p {
			d.Add(j, j, v)
		}
		if p.P, err = d.CSC(n, n); err != nil {
			panic(err)
		}
	}
	return program{p, b.x, b.s, b.z, value}
}

// pairs returns n complementary pairs of numbers, of which the first is positive in the given share.
func pairs(n int, share float64, rng *rand.Rand) (s, z []float64) {
	s, z = make([]float64, n), make([]float64, n)
	for i := range s {
		if rng.Float64() < share {
			s[i] = rng.ExpFloat64()
		} else {
			z[i] = rng.ExpFloat64()
		}
	}
	return s, z
}

func normal(n int, rng *rand.Rand) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// transport ships what k places have to k others, at a cost for each pair: k^2 variables.
func transport(n int, rng *rand.Rand) program {
	k := max(2, int(math.Round(math.Sqrt(float64(n)))))
	b := begin(k*k, 3*k*k)
	x, r := pairs(k*k, 2/float64(k), rng)
	b.x = x
	first := b.rows(backends.Zero(2*k), make([]float64, 2*k), normal(2*k, rng))
	for i := range k {
		for j := range k {
			b.a.Add(first+i, i*k+j, 1)
			b.a.Add(first+k+j, i*k+j, 1)
		}
	}
	b.bounds(r)
	return b.plant()
}

// flow is a flow of least cost through a network of random arcs with capacities, five for each node.
func flow(n int, rng *rand.Rand) program {
	nodes := max(3, n/5)
	b := begin(n, 3*n)
	b.rows(backends.Zero(nodes), make([]float64, nodes), normal(nodes, rng))
	lower, upper, s, z := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range n {
		from := rng.IntN(nodes)
		b.a.Add(from, j, 1)
		b.a.Add((from+1+rng.IntN(nodes-1))%nodes, j, -1)
		upper[j] = 1 + rng.Float64()
		switch rng.IntN(5) {
		case 0:
			s[j] = upper[j] * rng.Float64()
		case 1:
			s[j], z[j] = upper[j], -rng.ExpFloat64()
		default:
			z[j] = rng.ExpFloat64()
		}
		b.x[j] = s[j]
	}
	first := b.rows(backends.Box(lower, upper), s, z)
	for j := range n {
		b.a.Add(first+j, j, -1)
	}
	return b.plant()
}

// lasso is a sparse least squares problem with the 1-norm, |Xw - y|^2/2 + |w|_1, as a quadratic program: ten entries in
// each of n/3 columns and a quarter as many rows, w = u - v, u, v >= 0, and the residuals are variables, too.
func lasso(n int, rng *rand.Rand) program {
	p := max(8, 4*n/9)
	rows := p / 4
	const entries = 10
	b := begin(2*p+rows, 2*p*(entries+1)+rows)
	residual := normal(rows, rng)
	r := make([]float64, 2*p) // multipliers of u and v
	b.rows(backends.Zero(rows), make([]float64, rows), residual)
	at, value := make([]int, entries), make([]float64, entries)
	for j := range p {
		g := 0.0
		for e := range at {
			at[e], value[e] = rng.IntN(rows), rng.NormFloat64()/math.Sqrt(entries)
			g += value[e] * residual[at[e]]
		}
		by := 1.0 // the gradient of w_j is by g, between -1 and 1, and one of them where w_j is not zero
		if active := rng.IntN(20) == 0; active && math.Abs(g) > 0.1 {
			by = 1 / math.Abs(g)
			if g > 0 {
				b.x[j] = rng.ExpFloat64()
			} else {
				b.x[p+j] = rng.ExpFloat64()
			}
		} else {
			by = min(1, 0.9/math.Abs(g))
		}
		r[j], r[p+j] = 1-by*g, 1+by*g
		for e, i := range at {
			b.a.Add(i, j, by*value[e])
			b.a.Add(i, p+j, -by*value[e])
		}
	}
	for i, v := range residual { // X w + residual = y, and the residual is also its multiplier, with the other sign
		b.a.Add(i, 2*p+i, 1)
		b.x[2*p+i], b.p[2*p+i], b.z[i] = v, 1, -v
	}
	for j := range r {
		if b.x[j] > 0 {
			r[j] = 0
		}
	}
	b.bounds(r)
	return b.plant()
}

// power has the shape of optimal power flow on the branches of a network (the relaxation of Farivar and Low 2013): each
// branch has flows P and Q and a squared current l, each node a squared voltage v, with P^2 + Q^2 <= l v of the node it
// starts from, balances at the nodes and a drop of the voltage along the branch. The network is a grid.
func power(n int, rng *rand.Rand) program {
	side := max(2, int(math.Sqrt(float64(n)/7)))
	nodes := side * side
	type branch struct{ from, to int }
	var list []branch
	for i := range side {
		for j := range side {
			k := i*side + j
			if j+1 < side {
				list = append(list, branch{k, k + 1})
			}
			if i+1 < side {
				list = append(list, branch{k, k + side})
			}
		}
	}
	b := begin(nodes+3*len(list), 0)
	for k := range nodes {
		b.x[k] = 0.9 + 0.2*rng.Float64()
	}
	balance := b.rows(backends.Zero(2*nodes), make([]float64, 2*nodes), normal(2*nodes, rng))
	drop := b.rows(backends.Zero(len(list)), make([]float64, len(list)), normal(len(list), rng))
	for e, l := range list {
		p, q, c := nodes+3*e, nodes+3*e+1, nodes+3*e+2
		resistance, reactance := 0.01+0.1*rng.Float64(), 0.01+0.1*rng.Float64()
		b.x[p], b.x[q] = rng.NormFloat64(), rng.NormFloat64()
		v := b.x[l.from]
		b.x[c] = (b.x[p]*b.x[p] + b.x[q]*b.x[q]) / v
		tight := rng.IntN(3) > 0
		if !tight {
			b.x[c] += rng.ExpFloat64()
		}
		for k, by := range []float64{resistance, reactance} {
			b.a.Add(balance+k*nodes+l.from, p+k, 1)
			b.a.Add(balance+k*nodes+l.to, p+k, -1)
			b.a.Add(balance+k*nodes+l.to, c, by)
		}
		b.a.Add(drop+e, l.from, 1)
		b.a.Add(drop+e, l.to, -1)
		b.a.Add(drop+e, p, -2*resistance)
		b.a.Add(drop+e, q, -2*reactance)
		b.a.Add(drop+e, c, resistance*resistance+reactance*reactance)
		// (l + v, l - v, 2 P, 2 Q) in a second-order cone, and a multiple of its reflection as the multipliers
		s := []float64{b.x[c] + v, b.x[c] - v, 2 * b.x[p], 2 * b.x[q]}
		z := make([]float64, 4)
		if tight {
			by := rng.ExpFloat64() / s[0]
			for k, v := range s {
				z[k] = -by * v
			}
			z[0] = floats.Norm(z[1:], 2)
		}
		first := b.rows(backends.SecondOrder(4), s, z)
		for k, entry := range [][3]float64{{float64(c), -1, -1}, {float64(c), -1, 1}, {float64(p), -2}, {float64(q), -2}} {
			b.a.Add(first+k, int(entry[0]), entry[1])
			if k < 2 {
				b.a.Add(first+k, l.from, entry[2])
			}
		}
	}
	lower, upper, s, z := make([]float64, nodes), make([]float64, nodes), make([]float64, nodes), make([]float64, nodes)
	for k := range nodes {
		lower[k], upper[k] = 0.81, 1.21
		s[k] = b.x[k]
	}
	first := b.rows(backends.Box(lower, upper), s, z)
	for k := range nodes {
		b.a.Add(first+k, k, -1)
	}
	return b.plant()
}

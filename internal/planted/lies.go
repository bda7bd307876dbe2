package planted

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
)

// liesPerCase is the number of claims about each case.
const liesPerCase = 24

func (r Run) lies(id ID, d *draw, t *Tally) {
	c := d.generate(id)
	if c.Class == Nonconvex {
		return
	}
	worst := Verdict{Outcome: Right}
	for range liesPerCase {
		lie := d.lie(c)
		if v := c.Run(backends.Checked(liar{claim: lie}), r.Options); v.Outcome.Wrong() && v.Outcome > worst.Outcome {
			v.Detail += " (claimed " + lie.Status.String() + " with " + fmt.Sprint(lie.X, lie.Z) + ")"
			worst = v
		}
	}
	t.record(c, "liar", worst)
}

// liar is a backend that says the same to every problem.
type liar struct {
	backends.Solver
	claim backends.Solution
}

func (liar) Name() string { return "liar" }

func (liar) Capabilities() backends.Capabilities {
	c := backends.Capabilities{Quadratic: true, Certificates: true}
	for k := backends.ZeroCone; k <= backends.DualGeneralizedPowerCone; k++ {
		c.Cones = append(c.Cones, k)
	}
	return c
}

func (l liar) Setup(*backends.Problem, backends.Options) (backends.Solver, error) { return l, nil }

func (l liar) Solve(context.Context) (*backends.Solution, error) {
	out := l.claim
	out.X, out.S, out.Z = slices.Clone(out.X), slices.Clone(out.S), slices.Clone(out.Z)
	return &out, nil
}

func (liar) Close() error { return nil }

// lie claims what is false with a vector that may look like a certificate or a ray, or claims any point.
func (d *draw) lie(c *Case) backends.Solution {
	p := c.Problem()
	switch k := d.IntN(5); {
	case k < 2 && c.X != nil && len(c.B) > 0:
		var z []float64
		c.each(func(k backends.Cone, _, _ int) { _, part := d.directions(k); z = append(z, part...) })
		across, base := make([][]float64, len(c.Q)), make([]float64, len(z))
		for j := range across {
			across[j] = column(c.A, j)
		}
		for i, row := range c.A { // large where A has nothing
			if maxAbs(row) == 0 {
				base[i] = d.sign() * d.magnitude(10)
			}
		}
		return backends.Solution{Status: backends.PrimalInfeasible, Z: d.falsify(z, across, base,
			func(z []float64) float64 { return dot(c.B, z) - c.beta(z) },
			func(z []float64) (float64, error) { return backends.CheckPrimalInfeasible(p, z) })}
	case k < 4 && c.DualX != nil:
		base := c.X
		if base == nil {
			base = make([]float64, len(c.Q))
		}
		return backends.Solution{Status: backends.DualInfeasible, X: d.falsify(d.entries(len(c.Q)), slices.Concat(c.A, c.P),
			base, func(x []float64) float64 { return dot(c.Q, x) },
			func(x []float64) (float64, error) { return backends.CheckDualInfeasible(p, x) })}
	}
	return d.falsePoint(c)
}

// falsify takes v nearly into the null space of the vectors across, lets entries cancel, puts weight on a base, and
// leads it uphill from there, with a negative value in the end.
func (d *draw) falsify(v []float64, across [][]float64, base []float64, value func([]float64) float64,
	residual func([]float64) (float64, error)) []float64 {
	switch d.IntN(6) {
	case 0: // one entry alone, a little of others
		e := make([]float64, len(v))
		e[d.IntN(len(v))] = d.sign()
		v = combine(e, d.magnitude(12), v)
	case 1:
		v = outside(across, v)
	case 2: // huge, and cancelling
		v = combine(v, d.magnitude(15), outside(across, d.entries(len(v))))
	case 3:
		v = combine(base, d.magnitude(10), v)
	case 4: // each entry of another size
		for i := range v {
			v[i] *= d.magnitude(10)
		}
	}
	if value(v) > 0 {
		scaleBy(v, -1)
	}
	if d.chance(3) {
		v = d.climb(v, residual)
	}
	return d.infinite(v)
}

// falsePoint draws a point near the planted one, or far along directions that cost
// nothing, with s and z moved into their cones or not.
func (d *draw) falsePoint(c *Case) backends.Solution {
	n, m := c.Dims()
	start := func(v []float64, length int) []float64 {
		if v == nil || d.chance(4) {
			return d.entries(length)
		}
		return v
	}
	x, s, z := start(c.X, n), start(c.S, m), start(c.Z, m)
	if c.Ray != nil && d.chance(2) {
		x = combine(x, d.magnitude(15), c.Ray)
	}
	if c.Farkas != nil && d.chance(2) {
		z = combine(z, d.magnitude(15), c.Farkas)
	}
	if d.chance(2) {
		x, z = combine(x, d.magnitude(12), d.entries(n)), combine(z, d.magnitude(12), d.entries(m))
	}
	if d.chance(2) {
		s = combine(c.B, -1, c.timesA(x))
	}
	return backends.Solution{Status: backends.Optimal, X: d.infinite(x), S: s, Z: d.infinite(z)}
}

// infinite puts in something that is not finite, now and then.
func (d *draw) infinite(v []float64) []float64 {
	if len(v) > 0 && d.chance(100) {
		v = slices.Clone(v)
		v[d.IntN(len(v))] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308}[d.IntN(4)]
	}
	return v
}

// climb changes entries as long as the residual falls.
func (d *draw) climb(v []float64, residual func([]float64) (float64, error)) []float64 {
	best, err := residual(v)
	if err != nil {
		best = math.Inf(1)
	}
	for range 60 {
		w := slices.Clone(v)
		i := d.IntN(len(w))
		switch d.IntN(4) {
		case 0:
			w[i] = 0
		case 1:
			w[i] *= d.magnitude(3)
		case 2:
			w[i] += d.NormFloat64() * d.magnitude(8) * max(maxAbs(v), 1)
		default:
			w[i] *= 1 + d.NormFloat64()*d.magnitude(10)
		}
		if r, err := residual(w); err == nil && r <= best {
			v, best = w, r
		}
	}
	return v
}

// outside takes from v what lies in the span of the vectors, but for its weakest direction where that is all.
func outside(span [][]float64, v []float64) []float64 {
	a, out := mat.NewDense(len(span)+1, len(v), nil), make([]float64, len(v))
	for i, u := range span {
		a.SetRow(i, u)
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDFullV) {
		return out
	}
	var w mat.Dense
	svd.VTo(&w)
	for k := min(svd.Rank(1e-9), len(v)-1); k < len(v); k++ {
		u := mat.Col(nil, k, &w)
		out = combine(out, dot(u, v), u)
	}
	return out
}

package planted

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
)

// Lies is the mode that fuzzes the checks of [backends.Open] without a solver: a backend
// claims what is false, with vectors that come close, and none of it may be passed on.
// A case counts once, with the worst of what was passed on; the backends of the run are
// not asked.
const Lies = "judge"

// liesPerCase is the number of claims about each case.
const liesPerCase = 24

func (r Run) lies(id ID, t *Tally) {
	c := Generate(id)
	if c.Class == Nonconvex {
		return
	}
	d := newDraw(id.Seed, 0x6c696573)
	var list []backends.Solution
	for range liesPerCase {
		switch k := d.IntN(5); {
		case k < 2 && c.X != nil && len(c.B) > 0:
			list = append(list, backends.Solution{Status: backends.PrimalInfeasible, Z: d.falseFarkas(c)})
		case k < 4 && c.DualX != nil:
			list = append(list, backends.Solution{Status: backends.DualInfeasible, X: d.falseRay(c)})
		default:
			list = append(list, d.falsePoint(c))
		}
	}
	worst := Verdict{Outcome: Right}
	for _, lie := range list {
		if v := c.believed(lie, r.Options); v.Outcome > worst.Outcome {
			v.Detail += " (claimed " + lie.Status.String() + " with " + numbers(lie.X) + " | " + numbers(lie.Z) + ")"
			worst = v
		}
	}
	t.record(c, "liar", worst)
}

// believed judges what the checks make of a claim. Nothing is undecided here: what is not
// claimed any more is right.
func (c *Case) believed(lie backends.Solution, o backends.Options) Verdict {
	v := c.Run(backends.Checked(liar{lie}), o)
	if v.Outcome == Undecided {
		v.Outcome = Right
	}
	return v
}

// liar is a backend that says the same to every problem.
type liar struct{ claim backends.Solution }

func (liar) Name() string { return "liar" }

func (liar) Capabilities() backends.Capabilities {
	c := backends.Capabilities{Quadratic: true, UpdateVectors: true, UpdateMatrices: true, WarmStart: true,
		Certificates: true}
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

func (liar) Update(backends.Update) error   { return errors.New("not asked for") }
func (liar) WarmStart(backends.Point) error { return nil }
func (liar) Close() error                   { return nil }

// falseFarkas draws a z that may look like a certificate.
func (d *draw) falseFarkas(c *Case) []float64 {
	var z []float64
	c.each(func(k backends.Cone, _, _ int) { z = append(z, d.multiplier(k)...) })
	columns := make([][]float64, len(c.Q))
	for j := range columns {
		columns[j] = column(c.A, j)
	}
	return d.falsify(z, columns, func(z []float64) []float64 { // large where A has nothing
		for i, row := range c.A {
			if !nonzero(row) {
				z[i] += d.sign() * d.magnitude(10)
			}
		}
		return z
	}, func(z []float64) float64 { return dot(c.B, z) - c.beta(z) }, func(z []float64) (float64, error) {
		return backends.CheckPrimalInfeasible(c.Problem(), z)
	})
}

// falseRay does the same for a direction.
func (d *draw) falseRay(c *Case) []float64 {
	return d.falsify(d.entries(len(c.Q)), slices.Concat(c.A, c.P), func(x []float64) []float64 { // from the planted point
		if c.X == nil {
			return x
		}
		return combine(c.X, d.magnitude(10), x)
	}, func(x []float64) float64 { return dot(c.Q, x) }, func(x []float64) (float64, error) {
		return backends.CheckDualInfeasible(c.Problem(), x)
	})
}

// falsify takes v nearly into the null space of the vectors across, lets entries cancel, puts weight where own does,
// and leads it uphill from there, with a negative value in the end.
func (d *draw) falsify(
	v []float64, across [][]float64, own func([]float64) []float64, value func([]float64) float64,
	residual func([]float64) (float64, error),
) []float64 {
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
		v = own(v)
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
	return d.spoil(v)
}

// falsePoint draws a point near the planted one, or far along directions that cost
// nothing, with s and z moved into their cones or not.
func (d *draw) falsePoint(c *Case) backends.Solution {
	n, m := c.Dims()
	start := func(v []float64, length int) []float64 {
		if v == nil || d.chance(4) {
			return d.entries(length)
		}
		return slices.Clone(v)
	}
	x, z := start(c.X, n), start(c.Z, m)
	if c.Ray != nil && d.chance(2) {
		x = combine(x, d.magnitude(15), c.Ray)
	}
	if c.Farkas != nil && d.chance(2) {
		z = combine(z, d.magnitude(15), c.Farkas)
	}
	if d.chance(2) {
		k := d.magnitude(12)
		x, z = combine(x, k, d.entries(n)), combine(z, d.magnitude(12), d.entries(m))
	}
	s := start(c.S, m)
	if d.chance(2) {
		for i, v := range c.timesA(x) {
			s[i] = c.B[i] - v
		}
	}
	return backends.Solution{Status: backends.Optimal, X: d.spoil(x), S: s, Z: d.spoil(z)}
}

// spoil puts in something that is not finite, now and then.
func (d *draw) spoil(v []float64) []float64 {
	if len(v) > 0 && d.chance(100) {
		v[d.IntN(len(v))] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308}[d.IntN(4)]
	}
	return v
}

// climb changes entries as long as the residual falls.
func (d *draw) climb(v []float64, residual func([]float64) (float64, error)) []float64 {
	measure := func(v []float64) float64 {
		r, err := residual(v)
		if err != nil || math.IsNaN(r) {
			return math.Inf(1)
		}
		return r
	}
	best := measure(v)
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
		if r := measure(w); r <= best {
			v, best = w, r
		}
	}
	return v
}

// combine returns u + k v.
func combine(u []float64, k float64, v []float64) []float64 {
	out := make([]float64, len(u))
	for i := range u {
		out[i] = u[i] + k*v[i]
	}
	return out
}

// outside takes from v what lies in the span of the vectors.
func outside(span [][]float64, v []float64) []float64 {
	var basis [][]float64
	project := func(v []float64) []float64 {
		for range 2 {
			for _, b := range basis {
				v = combine(v, -dot(v, b), b)
			}
		}
		return v
	}
	for _, u := range span {
		size := norm(u)
		if size == 0 || math.IsInf(size, 0) {
			continue
		}
		w := project(combine(make([]float64, len(u)), 1/size, u))
		if size := norm(w); size > 1e-9 {
			basis = append(basis, combine(make([]float64, len(w)), 1/size, w))
		}
	}
	return project(v)
}

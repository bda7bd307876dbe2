package planted

import (
	"slices"

	"github.com/conetune/conetune/backends"
)

// weakCases have no attained solution, no certificate, or a duality gap.
func weakCases() (list []*Case) {
	soc, psd, exp, power := backends.SecondOrder(3), backends.PSD(2), backends.Exponential(), backends.Power(0.5)
	mean := backends.GeneralizedPower([]float64{0.25, 0.25, 0.5}, 1)
	zero := func(n int) []float64 { return make([]float64, n) }
	for _, w := range []struct {
		cone    backends.Cone
		q, a, b []float64 // -A by rows
		x, s, z []float64
	}{
		// min t with tu >= 1: 0 is not attained.
		{soc, []float64{1, 0}, []float64{1, 1, 1, -1, 0, 0}, []float64{0, 0, 2}, []float64{1, 1}, []float64{2, 0, 2},
			[]float64{0.5, 0.5, 0}},
		// 0 t >= 1, as the limit of ut >= 1 for small u: infeasible without a certificate.
		{soc, []float64{0}, []float64{1, 1, 0}, []float64{0, 0, 2}, nil, nil, zero(3)},
		{soc, []float64{1}, []float64{1, 1, 0}, []float64{0, 0, 2}, nil, nil, []float64{0.5, 0.5, 0}},
		// |(x, y)| <= x is y = 0: the value 0 of min y has no multiplier.
		{soc, []float64{0, 1}, []float64{1, 0, 1, 0, 0, 1}, zero(3), zero(2), zero(3), nil},
		// min t with [t 1; 1 u] semidefinite, up to a factor; and with t = 0.
		{psd, []float64{1, 0}, []float64{1, 0, 0, 0, 0, 1}, []float64{0, 2, 0}, []float64{2, 2}, []float64{2, 2, 2},
			[]float64{1, 0, 0}},
		{psd, []float64{0}, []float64{0, 0, 1}, []float64{0, 2, 0}, nil, nil, zero(3)},
		// [0 x 0; x y 0; 0 0 x+1] semidefinite needs x = 0, the dual has the value -1.
		{backends.PSD(3), []float64{1, 0}, []float64{0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0}, []float64{0, 0, 0, 0, 0, 1},
			zero(2), []float64{0, 0, 0, 0, 0, 1}, []float64{0, 0, 0, 0, 0, 1}},
		// min exp(x), exp(x) <= 0, and min -x with exp(x) <= w, which has no ray.
		{exp, []float64{0, 1}, []float64{1, 0, 0, 0, 0, 1}, []float64{0, 1, 0}, []float64{0, 1}, []float64{0, 1, 1},
			[]float64{0, 0, 1}},
		{exp, []float64{0}, []float64{1, 0, 0}, []float64{0, 1, 0}, nil, nil, zero(3)},
		{exp, []float64{-1, 0}, []float64{1, 0, 0, 0, 0, 1}, []float64{0, 1, 0}, []float64{0, 1}, []float64{0, 1, 1}, nil},
		// min u with sqrt(uv) >= 1, and with u = 0.
		{power, []float64{1, 0}, []float64{1, 0, 0, 1, 0, 0}, []float64{0, 0, 1}, []float64{1, 1}, []float64{1, 1, 1},
			[]float64{1, 0, 0}},
		{power, []float64{0}, []float64{0, 1, 0}, []float64{0, 0, 1}, nil, nil, zero(3)},
		// min u with (uvw^2)^(1/4) >= 1, and with u = 0.
		{mean, []float64{1, 0, 0}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, []float64{0, 0, 0, 1}, []float64{1, 1, 1},
			[]float64{1, 1, 1, 1}, []float64{1, 0, 0, 0}},
		{mean, zero(2), []float64{0, 0, 1, 0, 0, 1, 0, 0}, []float64{0, 0, 0, 1}, nil, nil, zero(4)},
	} {
		scaleBy(w.a, -1)
		c := &Case{
			Instance: Instance{Q: w.q, A: slices.Collect(slices.Chunk(w.a, len(w.q))), B: w.b, Cones: []backends.Cone{w.cone}},
			Truth:    Truth{Class: Weak, X: w.x, S: w.s, Z: w.z},
		}
		if w.z != nil {
			c.DualX = make([]float64, len(w.q))
		}
		list = append(list, c)
	}
	return list
}

// join puts two programs side by side. What is known of both is known of the whole.
func join(a, b *Case) *Case {
	n, bn := len(a.Q), len(b.Q)
	block := func(x, y [][]float64) (out [][]float64) {
		for _, row := range x {
			out = append(out, slices.Concat(row, make([]float64, bn)))
		}
		for _, row := range y {
			out = append(out, slices.Concat(make([]float64, n), row))
		}
		return out
	}
	c := &Case{Truth: Truth{Class: Weak}, Instance: Instance{
		Q: slices.Concat(a.Q, b.Q), A: block(a.A, b.A), B: slices.Concat(a.B, b.B), Cones: slices.Concat(a.Cones, b.Cones),
	}}
	if a.P != nil || b.P != nil {
		fill := func(p [][]float64, n int) [][]float64 {
			if p == nil {
				return zeroRows(n, n)
			}
			return p
		}
		c.P = block(fill(a.P, n), fill(b.P, bn))
	}
	av, bv := a.vectors(), b.vectors()
	for k, v := range c.vectors() {
		if *av[k] != nil && *bv[k] != nil {
			*v = slices.Concat(*av[k], *bv[k])
		}
	}
	return c
}

package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/factor"
)

// kinks are the rows at their kinks and the factor of
//
//	G = A A' + tau y y' + delta,
//
// with A their rows in the features inside the box and y their labels. G does not depend on lambda. The term with tau
// changes nothing where y'beta is given, and makes G regular as long as the rows (a_i, y_i) are independent; the small
// delta, a proximal term for the multipliers, makes it so where they are not: then of all multipliers the nearest ones
// are taken.
type kinks struct {
	held []int
	chol factor.Cholesky
	tau  float64 // the largest squared length of the rows in the features inside the box when the factor was made
}

// kinkDelta is delta as a share of tau: above rounding, and as small as that, because the path's error at rows that
// determine little is delta over what they determine. (Of 1e-8, 1e-10, 1e-12 and 1e-13 each left fewer fits unsolved
// than the one before.)
const kinkDelta = 1e-13

func (k *kinks) clone() kinks {
	return kinks{held: slices.Clone(k.held), chol: k.chol.Clone(), tau: k.tau}
}

// scale sets tau for the rows to be held.
func (k *kinks) scale(g *Problem, box []int8, rows []int) {
	k.tau = 0
	for _, i := range rows {
		sum := 0.0
		index, value := g.rows.stored(i)
		for q, v := range value {
			if box[index[q]] == 0 {
				sum += v * v
			}
		}
		k.tau = math.Max(k.tau, sum)
	}
	if k.tau == 0 {
		k.tau = g.tau
	}
}

// hold adds row i; false where rounding does not allow it.
func (k *kinks) hold(g *Problem, box []int8, i int) bool {
	r := g.rows
	a := make([]float64, r.p)
	r.add(i, 1, a)
	for j, b := range box {
		if b != 0 {
			a[j] = 0
		}
	}
	row := make([]float64, 0, len(k.held))
	for _, h := range k.held {
		row = append(row, r.dot(h, a)+k.tau*r.y[h]*r.y[i])
	}
	k.held = append(k.held, i)
	return k.chol.Add(row, r.dot(i, a)+k.tau*(1+kinkDelta))
}

// release takes number at out of those held.
func (k *kinks) release(at int) {
	k.chol.Remove(at)
	k.held = append(k.held[:at], k.held[at+1:]...)
}

// feature adds (sign 1) or takes out (sign -1) a feature; false where rounding does not allow it.
func (k *kinks) feature(g *Problem, j int, sign float64) bool {
	v, any := make([]float64, len(k.held)), false
	for q, i := range k.held {
		v[q] = g.rows.at(i, j)
		any = any || v[q] != 0
	}
	switch {
	case !any:
	case sign > 0:
		k.chol.Grow(v)
	default:
		k.chol.Forward(v)
		rest := 1 - floats.Dot(v, v)
		if !(rest > 0) {
			return false
		}
		k.chol.Shrink(v, rest)
	}
	return true
}

// solve returns the beta and dc of A A'beta - y dc = right (but for delta) and y'beta = sum. It spends right and y.
func (k *kinks) solve(g *Problem, right, y []float64, sum float64) (beta []float64, dc float64, ok bool) {
	if k.chol.Order() != len(k.held) {
		return nil, 0, false
	}
	if len(k.held) == 0 {
		return nil, 0, true
	}
	// With G = L L', x = L^-1 right, z = L^-1 y and dc' = dc + tau sum:  beta = L^-T (x + dc' z).
	k.chol.Forward(right)
	k.chol.Forward(y)
	dc = (sum - floats.Dot(y, right)) / floats.Dot(y, y)
	floats.AddScaled(right, dc, y)
	k.chol.Backward(right)
	dc -= k.tau * sum
	return right, dc, !math.IsNaN(dc) && !math.IsInf(dc, 0)
}

package sparse

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// dual returns the largest value of D(t u) over the t >= 0 for which t u is
// feasible for the features cols, whose X'u / n is c[j], and that t. The mean of u is 0
// if there is an intercept.
func (s *solve) dual(cols []int, u, c []float64) (value, t float64) {
	yu, uu := floats.Dot(s.Y, u)/s.N, floats.Dot(u, u)/s.N
	if !(uu > 0) || !(yu > 0) {
		return 0, 0
	}
	t = yu / uu // the maximum without penalties
	var soft []int
	for _, j := range cols {
		a := math.Abs(c[j])
		switch {
		case s.w2[j] > 0:
			if t*a > s.w1[j] {
				soft = append(soft, j)
			}
		case s.w1[j] == 0: // u is orthogonal to its column
		case t*a > s.w1[j]:
			t = s.w1[j] / a
		}
	}
	// D'(t) is concave, piecewise linear and falling: Newton's method from the right
	// of its zero stays there, and ends.
	slope := func() (d, curvature float64) {
		d, curvature = yu-t*uu, uu
		for _, j := range soft {
			if a := math.Abs(c[j]); t*a > s.w1[j] {
				d -= (t*a - s.w1[j]) * a / s.w2[j]
				curvature += a * a / s.w2[j]
			}
		}
		return d, curvature
	}
	for range 100 {
		d, curvature := slope()
		if d >= 0 || -d <= 1e-15*curvature*t {
			break
		}
		t = math.Max(0, t+d/curvature)
	}
	value = t*yu - t*t*uu/2
	for _, j := range soft {
		if over := t*math.Abs(c[j]) - s.w1[j]; over > 0 {
			value -= over * over / (2 * s.w2[j])
		}
	}
	return value, t
}

// basis is an orthonormal basis of the (centred) columns without a penalty.
type basis struct{ q [][]float64 }

func newBasis(g *leastsquares.Data, cols []int) *basis {
	var q basis
	for _, j := range cols {
		v := make([]float64, g.X.Rows())
		g.X.Axpy(1, j, v)
		if g.Mean != nil {
			floats.AddConst(-g.Mean[j], v)
		}
		before := floats.Norm(v, 2)
		for range 2 { // twice is enough (Kahan, Parlett)
			q.remove(v)
		}
		if after := floats.Norm(v, 2); after > 1e-10*before {
			floats.Scale(1/after, v)
			q.q = append(q.q, v)
		}
	}
	return &q
}

// remove takes the part in the span of the basis out of v.
func (q *basis) remove(v []float64) {
	for _, e := range q.q {
		floats.AddScaled(v, -floats.Dot(e, v), e)
	}
}

// length is the largest |e'v| over the basis.
func (q *basis) length(v []float64) float64 {
	most := 0.0
	for _, e := range q.q {
		most = math.Max(most, math.Abs(floats.Dot(e, v)))
	}
	return most
}

// spanned is the share of a vector below which what the projection leaves of it is rounding, and no direction.
const spanned = 1e-10

// project returns the part of v that is orthogonal to the basis, 0 where rounding is all that is left.
func (q *basis) project(v []float64) []float64 {
	u := append([]float64(nil), v...)
	q.remove(u)
	if floats.Norm(u, 2) <= spanned*floats.Norm(v, 2) {
		clear(u)
		return u
	}
	q.remove(u) // twice is enough, as in newBasis
	return u
}

package sparse

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/lower/internal/leastsquares"
)

// ray is the way from a point along a direction d of the coefficients S, none of them zero. At b + t d the residual is
// R - t image + Off - t off.
type ray struct {
	s         *leastsquares.Point
	set       []int
	d         []float64
	image     []float64
	off       float64
	old, oldR []float64
	oldOff    float64
}

func newRay(s *leastsquares.Point, set []int, d []float64) *ray {
	y := &ray{
		s: s, set: set, d: d, image: make([]float64, len(s.R)),
		old: make([]float64, len(set)), oldR: append([]float64(nil), s.R...), oldOff: s.Off,
	}
	for i, j := range set {
		y.old[i] = s.B[j]
		s.X.Axpy(d[i], j, y.image)
		if s.Mean != nil {
			y.off -= d[i] * s.Mean[j]
		}
	}
	return y
}

// scale makes the direction t times as long.
func (y *ray) scale(t float64) {
	floats.Scale(t, y.d)
	floats.Scale(t, y.image)
	y.off *= t
}

// to goes to b + t d, with the coefficients that change their sign up to there set to zero. full says that there are none.
func (y *ray) to(t float64) (full bool) {
	s := y.s
	floats.AddScaledTo(s.R, y.oldR, -t, y.image)
	s.Off = y.oldOff - t*y.off
	full = true
	for i, j := range y.set {
		b := y.old[i] + t*y.d[i]
		if b*y.old[i] <= 0 || math.Abs(b) <= 1e-15*math.Abs(y.old[i]) {
			s.Move(j, b)
			b, full = 0, false
		}
		s.B[j] = b
	}
	return full
}

// back goes to where the ray begins.
func (y *ray) back() {
	copy(y.s.R, y.oldR)
	y.s.Off = y.oldOff
	for i, j := range y.set {
		y.s.B[j] = y.old[i]
	}
}

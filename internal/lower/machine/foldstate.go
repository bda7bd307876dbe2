package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// fold is the machine of one fold in a [Subproblem]: z = (w, c) with its rows b_i = (a_i, -y_i) and margins s_i = 1 - b_i'z. Its rows are treated as [augmented] treats them.
type fold struct {
	number  int
	rows    *signedRows
	part    [2][]float64 // the weights of the rows in the validation and in the training loss, over the number of folds
	end     stop.Stop
	z       []float64
	margins []float64
	shares  []float64 // t_i
	prox    []float64 // beta_i
	banded  []bool
	sums    [2][]float64 // of weight t_i b_i, of each loss
	total   [2]float64   // of weight t_i
	work    []int        // the working rows
	radius  float64
	moved   float64
	rest    [2][]float64 // sums and totals of the others
	others  [2]float64

	over, under       []float64 // multipliers of w_j - h_j <= t and -w_j - h_j <= t
	overNow, underNow []float64 // with the constraints as they are
	ball, ballNow     float64   // multipliers of |w|^2/2 - r <= t
	boxed             []int8    // which of over and under are positive now: bits 1 and 2
	balled            bool      // whether ball is between its limits now
	half              float64   // |w|^2/2

	loss, smooth [2]float64 // the losses, and those that are smoothed

	curve       curvature
	gradient, d []float64
	rate        []float64 // of the margins along d
	along       [2]float64
	most        float64
}

func newFold(g *Problem, number, folds int) *fold {
	n, p := g.rows.n, g.rows.p
	f := &fold{rows: g.rows, number: number}
	f.part = [2][]float64{make([]float64, n), make([]float64, n)}
	share := 1 / float64(folds)
	floats.AddScaled(f.part[0], share, g.parts.validation)
	floats.AddScaled(f.part[1], share, g.parts.train)
	for _, v := range []*[]float64{&f.margins, &f.shares, &f.prox, &f.rate} {
		*v = make([]float64, n)
	}
	f.banded = make([]bool, n)
	for _, v := range []*[]float64{&f.z, &f.sums[0], &f.sums[1], &f.rest[0], &f.rest[1], &f.gradient, &f.d} {
		*v = make([]float64, p+1)
	}
	for _, v := range []*[]float64{&f.over, &f.under, &f.overNow, &f.underNow} {
		*v = make([]float64, p)
	}
	f.boxed = make([]int8, p)
	f.curve = curvature{rows: g.rows, end: &f.end, curve: make([]float64, p+1)}
	return f
}

// measure computes all margins.
func (f *fold) measure() bool {
	p := f.rows.p
	return f.rows.margins(f.margins, f.z[:p], f.z[p], &f.end)
}

// put gives row i a share.
func (f *fold) put(i int, share float64) bool {
	d := share - f.shares[i]
	f.shares[i] = share
	if d == 0 {
		return true
	}
	p := f.rows.p
	for k, part := range f.part {
		if u := d * part[i]; u != 0 {
			f.rows.add(i, u, f.sums[k][:p])
			f.sums[k][p] -= u * f.rows.y[i]
			f.total[k] += u
		}
	}
	return !f.end.Reached(f.rows.length(i))
}

// sum computes the sums of the shares anew.
func (f *fold) sum() bool {
	shares := slices.Clone(f.shares)
	clear(f.shares)
	f.total = [2]float64{}
	clear(f.sums[0])
	clear(f.sums[1])
	for i, t := range shares {
		if !f.put(i, t) {
			return false
		}
	}
	return true
}

// kinks is the number of rows at their kinks.
func (f *fold) kinks() (n int) {
	for _, b := range f.shares {
		if inside(b) {
			n++
		}
	}
	return n
}

// band is the size of margins in a first band.
func (f *fold) band() float64 {
	return quantile(f.margins, f.kinks()+min(bandShare*(f.rows.p+1), f.rows.n/8))
}

// choose puts the rows near their kinks to work, and the others on the sides where their margins are.
func (f *fold) choose() bool {
	n := f.rows.n
	f.radius, f.moved = quantile(f.margins, f.kinks()+min(jointShare*(f.rows.p+1), n/2)), 0
	f.work = f.work[:0]
	for i, s := range f.margins {
		if math.Abs(s) <= f.radius || inside(f.shares[i]) {
			f.work = append(f.work, i)
			continue
		}
		f.prox[i] = 0
		if s > 0 {
			f.prox[i] = 1
		}
		if !f.put(i, f.prox[i]) {
			return false
		}
	}
	p := f.rows.p
	f.others = f.total
	for k, part := range f.part {
		copy(f.rest[k], f.sums[k])
		for _, i := range f.work {
			if u := part[i] * f.shares[i]; u != 0 {
				f.others[k] -= u
				f.rows.add(i, -u, f.rest[k][:p])
				f.rest[k][p] += u * f.rows.y[i]
			}
		}
	}
	return true
}

// classify sets the shares of the working rows to their t_i and computes the losses: exactly, with all rows, if they are measured.
func (f *fold) classify(width float64, measured bool) bool {
	f.loss, f.smooth = [2]float64{}, [2]float64{}
	for _, i := range f.work {
		s := f.margins[i]
		t := f.prox[i] + s/width
		f.banded[i] = t > 0 && t < 1
		t = max(0, min(1, t))
		away := t - f.prox[i]
		smooth := t*s - width/2*away*away
		for k, part := range f.part {
			f.smooth[k] += part[i] * smooth
			if s > 0 {
				f.loss[k] += part[i] * s
			}
		}
		if t != f.shares[i] && !f.put(i, t) {
			return false
		}
	}
	for k, part := range f.part {
		rest := f.others[k] - floats.Dot(f.rest[k], f.z)
		f.smooth[k] += rest
		f.loss[k] += rest
		if measured {
			f.loss[k] = 0
			for i, s := range f.margins {
				if s > 0 {
					f.loss[k] += part[i] * s
				}
			}
		}
	}
	return true
}

// multipliers are those of the bounds and of the ball with the constraints as they are at h and t, for stiffnesses of both.
func (f *fold) multipliers(h []float64, t, box, ball, most float64) (sum float64) {
	p := f.rows.p
	for j, w := range f.z[:p] {
		f.boxed[j] = 0
		a := f.over[j] + box*(w-h[1+j]-t)
		b := f.under[j] + box*(-w-h[1+j]-t)
		if a > 0 && a < most {
			f.boxed[j] |= 1
		}
		if b > 0 && b < most {
			f.boxed[j] |= 2
		}
		f.overNow[j], f.underNow[j] = math.Max(0, math.Min(most, a)), math.Max(0, math.Min(most, b))
		sum += f.overNow[j] + f.underNow[j]
	}
	f.half = floats.Dot(f.z[:p], f.z[:p]) / 2
	f.ballNow = math.Max(0, math.Min(most, f.ball+ball*(f.half-h[0]-t)))
	f.balled = f.ballNow > 0 && f.ballNow < most
	return sum + f.ballNow
}

// sign is the derivative of the bounds of feature j that hold in w_j, and count is their number.
func (f *fold) sign(j int) (sign, count float64) {
	switch f.boxed[j] {
	case 1:
		return 1, 1
	case 2:
		return -1, 1
	case 3:
		return 0, 2
	}
	return 0, 0
}

// bands finds the rows in the band, with their weights in the curvature.
func (f *fold) bands(m0, width float64) {
	f.curve.band, f.curve.weight = f.curve.band[:0], f.curve.weight[:0]
	for _, i := range f.work {
		if u := f.part[0][i] + m0*f.part[1][i]; f.banded[i] && u > 0 {
			f.curve.band, f.curve.weight = append(f.curve.band, i), append(f.curve.weight, u/width)
		}
	}
}

// rates are those of the margins along d.
func (f *fold) rates() bool {
	p := f.rows.p
	f.most = 0
	for _, i := range f.work {
		f.rate[i] = f.rows.y[i]*f.d[p] - f.rows.product(i, f.d[:p])
		f.most = math.Max(f.most, math.Abs(f.rate[i]))
		if f.end.Reached(f.rows.length(i)) {
			return false
		}
	}
	for k := range f.along {
		f.along[k] = floats.Dot(f.rest[k], f.d)
	}
	return true
}

// smoothed are the smoothed training loss t along d, and the rates of both losses.
func (f *fold) smoothed(t, width float64) (value float64, rate [2]float64) {
	value = f.others[1] - floats.Dot(f.rest[1], f.z) - t*f.along[1]
	rate[0], rate[1] = -f.along[0], -f.along[1]
	for _, i := range f.work {
		s := f.margins[i] + t*f.rate[i]
		x := max(0, min(1, f.prox[i]+s/width))
		away, r := x-f.prox[i], x*f.rate[i]
		value += f.part[1][i] * (x*s - width/2*away*away)
		rate[0] += f.part[0][i] * r
		rate[1] += f.part[1][i] * r
	}
	return value, rate
}

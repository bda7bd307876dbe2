package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/stop"
)

// hinges are two weighted losses of the rows b_i = (a_i, -y_i) in z = (w, c), with the margins s_i = 1 - b_i'z, and
// these losses with the hinges of the method of multipliers, see [augmented]: of the rows of each label, or of the
// validation and the training rows.
//
// Only the rows whose margins are near 0 take part, the working rows. The others keep their sides, and add a linear
// function. As soon as margins have gone half as far as those of the other rows were away from 0 at least, all margins
// are computed anew, and the working rows chosen anew; the same before the end, so that the gap is one of all rows.
//
// The squared hinge is the largest t s_i - t^2/4 over t >= 0: the function of the method of multipliers as it is, with
// shares of any size, beta_i = 0, and the width 1/2. All rows are then working rows.
type hinges struct {
	rows    *signedRows
	part    [2][]float64 // the weights of the rows in both losses
	end     stop.Stop
	z       []float64
	margins []float64
	shares  []float64    // t_i
	top     float64      // the largest share, 1, or +Inf of the squared hinge
	prox    []float64    // beta_i
	banded  []bool       // whether t_i is between 0 and 1
	sums    [2][]float64 // of weight t_i b_i, of each loss
	total   [2]float64   // of weight t_i
	work    []int        // the working rows
	radius  float64      // about the largest size of their margins
	moved   float64      // how far a margin of them has gone since all were computed
	rest    [2][]float64 // sums and totals of the others
	others  [2]float64

	loss, smooth [2]float64 // the losses, and those that are smoothed
	apart        [2]float64
	same         bool

	curve       curvature
	gradient, d []float64
	rate        []float64 // of the margins along d
	along       [2]float64
	most        float64
}

// newHinges begins at z = 0, with all shares 0.
func newHinges(rows *signedRows, part [2][]float64) *hinges {
	n, p := rows.n, rows.p
	f := &hinges{rows: rows, part: part, margins: slices.Repeat([]float64{1}, n), banded: make([]bool, n), top: 1}
	for _, v := range []*[]float64{&f.shares, &f.prox, &f.rate} {
		*v = make([]float64, n)
	}
	for _, v := range []*[]float64{&f.z, &f.sums[0], &f.sums[1], &f.rest[0], &f.rest[1], &f.gradient, &f.d} {
		*v = make([]float64, p+1)
	}
	f.curve = curvature{rows: rows, end: &f.end, curve: make([]float64, p+1)}
	return f
}

// measure computes all margins.
func (f *hinges) measure() bool {
	p := f.rows.p
	return f.rows.margins(f.margins, f.z[:p], f.z[p], &f.end)
}

// put gives row i a share.
func (f *hinges) put(i int, share float64) bool {
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
func (f *hinges) sum() bool {
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
func (f *hinges) kinks() (n int) {
	for _, b := range f.shares {
		if inside(b) {
			n++
		}
	}
	return n
}

// band is the size of margins in a first band.
func (f *hinges) band() float64 {
	return quantile(f.margins, f.kinks()+min(bandShare*(f.rows.p+1), f.rows.n/8))
}

// choose puts the rows near their kinks to work, so many for each unknown beside those at them, and the others on the
// sides where their margins are.
func (f *hinges) choose(share int) bool {
	n := f.rows.n
	if f.radius, f.moved = math.Inf(1), 0; !f.squared() {
		f.radius = quantile(f.margins, f.kinks()+min(share*(f.rows.p+1), n/2))
	}
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

// classify sets the shares of the working rows to their t_i and computes the losses, with the others on their sides. It
// says in same whether the band is, and in apart what the regularisation of both losses is.
func (f *hinges) classify(width float64) bool {
	f.loss, f.smooth, f.apart, f.same = [2]float64{}, [2]float64{}, [2]float64{}, true
	for _, i := range f.work {
		s := f.margins[i]
		t := f.prox[i] + s/width
		banded := t > 0 && t < f.top
		f.same, f.banded[i] = f.same && banded == f.banded[i], banded
		t = max(0, min(f.top, t))
		away := t - f.prox[i]
		apart := width / 2 * away * away
		for k, part := range f.part {
			f.apart[k] += part[i] * apart
			f.smooth[k] += part[i] * (t*s - apart)
			if s > 0 {
				f.loss[k] += part[i] * lossOf(s, f.squared())
			}
		}
		if t != f.shares[i] && !f.put(i, t) {
			return false
		}
	}
	for k := range f.part {
		rest := f.others[k] - floats.Dot(f.rest[k], f.z)
		f.smooth[k] += rest
		f.loss[k] += rest
	}
	return true
}

// losses computes the losses of all rows, if their margins are measured.
func (f *hinges) losses() {
	f.loss = [2]float64{}
	for i, s := range f.margins {
		if s > 0 {
			for k, part := range f.part {
				f.loss[k] += part[i] * lossOf(s, f.squared())
			}
		}
	}
}

// squared says whether the losses are squares of hinges.
func (f *hinges) squared() bool { return f.top > 1 }

// renew makes the shares of the working rows those that they are held at.
func (f *hinges) renew() {
	for _, i := range f.work {
		f.prox[i] = f.shares[i]
	}
}

// far says whether margins have gone so far that all are to be measured.
func (f *hinges) far() bool { return f.moved > farMove*f.radius && len(f.work) < f.rows.n }

// reach is how far along d a step may go, up to 1, for the margins of the other rows.
func (f *hinges) reach() float64 {
	if len(f.work) == f.rows.n || f.most == 0 {
		return 1
	}
	return math.Min(1, math.Max(farthest*f.radius-f.moved, 0.1*f.radius)/f.most)
}

// advance moves the margins of the working rows t along d.
func (f *hinges) advance(t float64) {
	for _, i := range f.work {
		f.margins[i] += t * f.rate[i]
	}
	f.moved += t * f.most
}

// bands finds the rows in the band, with their weights in the curvature of the first loss and m times the second.
func (f *hinges) bands(m, width float64) {
	f.curve.band, f.curve.weight = f.curve.band[:0], f.curve.weight[:0]
	for _, i := range f.work {
		if u := f.part[0][i] + m*f.part[1][i]; f.banded[i] && u > 0 {
			f.curve.band, f.curve.weight = append(f.curve.band, i), append(f.curve.weight, u/width)
		}
	}
}

// rates are those of the margins along d.
func (f *hinges) rates() bool {
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

// smoothed are the second loss, smoothed, t along d, and the rates of both.
func (f *hinges) smoothed(t, width float64) (value float64, rate [2]float64) {
	value = f.others[1] - floats.Dot(f.rest[1], f.z) - t*f.along[1]
	rate[0], rate[1] = -f.along[0], -f.along[1]
	first, second := f.part[0], f.part[1]
	for _, i := range f.work {
		s, prox := f.margins[i]+t*f.rate[i], f.prox[i]
		x := prox + s/width
		if x <= 0 && prox == 0 {
			continue
		}
		x = max(0, min(f.top, x))
		away, r := x-prox, x*f.rate[i]
		value += second[i] * (x*s - width/2*away*away)
		rate[0] += first[i] * r
		rate[1] += second[i] * r
	}
	return value, rate
}

package pdhg

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/crew"
)

// state is where the iterations are, in the scale of the form.
type state struct {
	*form
	threads    int
	x, z       []float64
	x0, z0     []float64 // where the Halpern steps began
	nextX      []float64 // x of the next iteration
	twice      []float64 // 2x+ - x
	newX, newZ []float64 // x+ and z+, where looked
	work       []float64 // of a row of a block
	looked     bool      // newX and newZ are wanted
	near       float64   // see nearRay

	weight        float64 // the step of z over that of x, as |A| = 1 has them
	stepX, stepZ  float64
	reflect       float64
	total, inside int     // iterations, and those since the Halpern steps began
	length        float64 // of the last step
	first, before float64 // of the first step since, and of the one before

	ofColumns, ofRows []int     // the parts that threads take
	sums              []float64 // of each part
}

const (
	// Halpern steps begin anew where the step is enough of the first one, or littleOf it and growing, or so many of all
	// iterations are theirs, see PDLP.
	enough, littleOf, mostInside = 0.2, 0.8, 0.36
	fewInside                    = 10
	// What goes through the numbers of this many entries is a part.
	partWork = 1 << 14
	// The logarithm of the weight goes this part of the way.
	smoothing = 0.5
)

func newState(f *form, threads int) *state {
	n, m := len(f.q), len(f.b)
	v := &state{form: f, threads: threads, weight: 1, reflect: 1, near: nearRay}
	for _, x := range []*[]float64{&v.x, &v.x0, &v.nextX, &v.twice, &v.newX} {
		*x = make([]float64, n)
	}
	for _, z := range []*[]float64{&v.z, &v.z0, &v.newZ, &v.work} {
		*z = make([]float64, m)
	}
	for j := range v.x {
		v.x[j] = clamp(0, f.lower[j], f.upper[j])
	}
	copy(v.x0, v.x)
	if f.normP > 0 {
		v.reflect = 0.5 // Condat 2013: the step is averaged by 2/3 and not by 1/2
	}
	v.ofColumns = parts(n, func(j int) int { return f.columns.ptr[j] + f.p.ptr[j] + 4*j })
	v.ofRows = parts(m, func(i int) int { return f.rows.ptr[i] + 4*i })
	v.ofRows = f.whole(v.ofRows)
	v.sums = make([]float64, max(len(v.ofColumns), len(v.ofRows)))
	v.steps()
	return v
}

// parts are where the parts of n lines begin, with n at the end; work is that of the lines before one.
func parts(n int, work func(i int) int) []int {
	out, last := []int{0}, 0
	for i := 1; i < n; i++ {
		if w := work(i); w-last >= partWork {
			out, last = append(out, i), w
		}
	}
	return append(out, n)
}

// whole moves the ends of parts to those of blocks.
func (f *form) whole(parts []int) []int {
	out, at := parts[:1], 0
	for _, end := range parts[1:] {
		for at < len(f.blocks) && f.blocks[at].end <= end {
			at++
		}
		if at < len(f.blocks) && f.blocks[at].first < end {
			end = f.blocks[at].end
		}
		if end > out[len(out)-1] || len(out) == 1 {
			out = append(out, end)
		}
	}
	return out
}

// steps sets the step sizes of the weight.
func (v *state) steps() {
	a := v.normA
	if a == 0 { // there are no rows
		a = 1
	}
	v.stepX, v.stepZ = 1/(v.weight*a+v.normP), v.weight/a
}

// start puts the iterations at a point, whose parts may be nil.
func (v *state) start(p backends.Point) {
	if p.X != nil {
		for j := range v.x {
			v.x[j] = clamp(p.X[j]/(v.d[j]*v.right), v.lower[j], v.upper[j])
		}
	}
	if p.Z != nil {
		for i, r := range v.row {
			v.z[i] = p.Z[r] * v.cost / v.e[i]
		}
	}
	copy(v.x0, v.x)
	copy(v.z0, v.z)
}

func clamp(v, low, high float64) float64 {
	if v < low {
		return low
	}
	if v > high {
		return high
	}
	return v
}

// each calls f for all parts and adds up what it returns, in their order whatever the threads.
func (v *state) each(parts []int, f func(from, to int) float64) (sum float64) {
	crew.Each(len(parts)-1, v.threads, func(k int) { v.sums[k] = f(parts[k], parts[k+1]) })
	for _, s := range v.sums[:len(parts)-1] {
		sum += s
	}
	return sum
}

// step makes a step, and finds the next point.
func (v *state) step() {
	share := float64(v.inside+1) / float64(v.inside+2)
	keep, add, anchor := share, share*(1+v.reflect), 1-share
	x := v.each(v.ofColumns, func(from, to int) (sum float64) {
		for j := from; j < to; j++ {
			x := v.x[j]
			g := v.q[j] + v.columns.times(j, v.z) + v.p.times(j, v.x)
			d := clamp(x-v.stepX*g, v.lower[j], v.upper[j]) - x
			sum += d * d
			v.twice[j] = x + 2*d
			v.nextX[j] = keep*x + add*d + anchor*v.x0[j]
			if v.looked {
				v.newX[j] = x + d
			}
		}
		return sum
	})
	z := v.each(v.ofRows, func(from, to int) (sum float64) {
		at := sort.Search(len(v.blocks), func(k int) bool { return v.blocks[k].first >= from })
		for i := from; i < to; {
			end := i + 1
			if v.inBlock(i) {
				end = v.blocks[at].end
				at++
			}
			w := v.work[i:end]
			for k := range w {
				w[k] = v.b[i+k] - v.rows.times(i+k, v.twice) - v.z[i+k]/v.stepZ
			}
			if v.inBlock(i) {
				outsideSecondOrder(w)
			} else {
				w[0] = clamp(w[0], v.low[i], v.high[i]) - w[0]
			}
			for k, w := range w {
				z, to := v.z[i+k], v.stepZ*w
				d := to - z
				sum += d * d
				if v.looked {
					v.newZ[i+k] = to
				}
				v.z[i+k] = keep*z + add*d + anchor*v.z0[i+k]
			}
			i = end
		}
		return sum
	})
	v.length = math.Sqrt(x/v.stepX + z/v.stepZ)
}

// outsideSecondOrder puts the point of the second-order cone next to w, less w, in the place of w.
func outsideSecondOrder(w []float64) {
	size := 0.0
	for _, v := range w[1:] {
		size += v * v
	}
	size = math.Sqrt(size)
	switch t := w[0]; {
	case size <= t:
		clear(w)
	case size <= -t:
		for k := range w {
			w[k] = -w[k]
		}
	default:
		to := (t + size) / 2
		by := to/size - 1
		w[0] = to - t
		for k := range w[1:] {
			w[k+1] *= by
		}
	}
}

// next goes to the next point, and lets the Halpern steps begin anew there where it is time.
func (v *state) next() {
	v.x, v.nextX = v.nextX, v.x
	v.total++
	if v.inside == 0 {
		v.first, v.before = v.length, v.length
	}
	v.inside++
	anew := v.length <= enough*v.first || v.length <= littleOf*v.first && v.length > v.before ||
		v.inside >= fewInside && float64(v.inside) >= mostInside*float64(v.total)
	v.before = v.length
	if !anew || v.inside < 2 {
		return
	}
	ofX, ofZ := floats.Distance(v.x, v.x0, 2), floats.Distance(v.z, v.z0, 2)
	if ofX > 0 && ofZ > 0 {
		v.weight *= math.Pow(ofZ/ofX/v.weight, smoothing)
		v.steps()
	}
	copy(v.x0, v.x)
	copy(v.z0, v.z)
	v.inside = 0
}

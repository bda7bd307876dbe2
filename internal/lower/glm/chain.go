package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// chain are the coefficients of a fold whose features stand in an order, with the penalty of the fused lasso,
//
//	w sum_j |b_j| + fusion sum_j |b_j+1 - b_j|.
//
// The fold itself is of the differences u_j = b_j - b_j-1 (b_-1 being 0) and of the features' sums x_j + .. + x_p-1:
// what is in use there are the ends of pieces, runs of equal coefficients, and its products and its working set are
// those of any lasso.
//
// A proximal gradient step, which is closed (see taut; Friedman and others, Pathwise coordinate optimization, Ann.
// Appl. Stat. 1, 2007), says which pieces there are, and Newton steps move their values as far as the objective falls
// along them (Bareilles, Iutzeler, Malick, Newton acceleration on manifolds identified by proximal gradient methods,
// Math. Program. 200, 2023).
type chain struct {
	b     []float64
	step  float64 // of proximal steps
	still bool    // the last round has not moved
}

// chainRounds bounds the proximal steps of a solve, chainSteps the Newton steps after each.
const chainRounds, chainSteps = 300, 50

// sumsAfter are the sums of each feature and all after it.
func sumsAfter(x mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(x)
	n, p := out.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j := p - 2; j >= 0; j-- {
			row[j] += row[j+1]
		}
	}
	return out
}

// differences are u.
func differences(b []float64) []float64 {
	u := slices.Clone(b)
	for j := len(b) - 1; j > 0; j-- {
		u[j] -= b[j-1]
	}
	return u
}

// slopes are the gradients of the features as they are, less their signs.
func (c *chain) slopes(f *fold) []float64 {
	g := slices.Clone(f.gradient)
	for j := range len(g) - 1 {
		g[j] -= g[j+1]
	}
	return g
}

// solveChains is [Path.SolveEach] of chains.
func (p *Path) solveChains(ctx context.Context, tol float64) {
	for _, f := range p.folds {
		f.leave()
		f.joins = nil
	}
	p.rounds(ctx, chainRounds, p.d.products.gradients, func(f *fold) {
		f.chain.round(ctx, f, f.weights)
	}, func(f *fold) {
		f.chain.measure(f, f.weights, tol)
		f.ended = f.chain.still
	})
	for _, f := range p.folds {
		f.solved = f.solved || !f.ended && f.gap <= roundingGap*f.null()
	}
}

// round takes a proximal step and Newton steps after it.
func (c *chain) round(ctx context.Context, f *fold, w *Weights) {
	if c.still { // of rounding, perhaps
		c.step = 1
	}
	before, g := c.b, c.slopes(f)
	to, from := make([]float64, len(g)), make([]float64, len(g))
	for {
		for j, v := range g {
			from[j] = before[j] + c.step*v
		}
		taut(from, c.step*w.Fusion, to)
		for j, v := range to {
			to[j] = numerics.Soft(v, c.step*w.Norm[0])
		}
		length, u := 0.0, differences(to)
		var ends []int
		for j, v := range u {
			length += (to[j] - before[j]) * (to[j] - before[j])
			if v != 0 && !f.inWork[j] {
				ends = append(ends, j)
			}
		}
		f.join(ends)
		f.products.begin(f)
		bend := c.move(f, to)
		if !(bend > length/c.step) {
			if bend < length/c.step/4 {
				c.step *= 2
			}
			break
		}
		c.move(f, before)
		c.step = min(c.step/2, 0.9*length/bend)
	}
	for range chainSteps {
		if cut := c.newton(f, w); !cut || ctx.Err() != nil {
			break
		}
	}
	c.still = slices.Equal(c.b, before)
}

// move sets the coefficients, whose ends of pieces are in the working set, and returns the curvature of the loss along
// the way.
func (c *chain) move(f *fold, to []float64) (bend float64) {
	u := differences(to)
	var moved []int
	var steps, pull []float64
	for _, j := range f.working {
		if u[j] != f.b[j] {
			moved, steps, pull = append(moved, j), append(steps, u[j]-f.b[j]), append(pull, f.work.at(j, 0))
		}
	}
	for _, j := range moved {
		f.shift(j, u[j])
	}
	for i, j := range moved {
		bend += steps[i] * (pull[i] - f.work.at(j, 0))
	}
	c.b = slices.Clone(to)
	return bend
}

// piece is a run of equal coefficients, of features from and up to to; of zeros only where w is zero.
type piece struct{ from, to int }

// pieces are those of the coefficients.
func (c *chain) pieces(w *Weights) (list []piece) {
	for from, to := 0, 0; from < len(c.b); from = to {
		for to = from; to < len(c.b) && c.b[to] == c.b[from]; to++ {
		}
		if c.b[from] != 0 || w.Norm[0] == 0 {
			list = append(list, piece{from, to})
		}
	}
	return list
}

// newton goes along Newton's direction for the values of the pieces, see follow, and says whether any stopped.
func (c *chain) newton(f *fold, w *Weights) (cut bool) {
	list := c.pieces(w)
	k, p := len(list), len(c.b)
	if k == 0 || k > mostOrder {
		return false
	}
	// The ends, and the differences of pieces in them: +1 where one begins and -1 after it.
	var ends []int
	begin, end := make([]int, k), make([]int, k)
	place := func(j int) int {
		if n := len(ends); n == 0 || ends[n-1] != j {
			ends = append(ends, j)
		}
		return len(ends) - 1
	}
	for i, s := range list {
		begin[i], end[i] = place(s.from), -1
		if s.to < p {
			end[i] = place(s.to)
		}
	}
	h := f.work.block(ends)
	at := func(a, b int) float64 {
		if a < 0 || b < 0 {
			return 0
		}
		return h[min(a, b)*len(ends)+max(a, b)]
	}
	system := make([]float64, k*k)
	for i := range k {
		for l := i; l < k; l++ {
			system[i*k+l] = at(begin[i], begin[l]) - at(begin[i], end[l]) - at(end[i], begin[l]) + at(end[i], end[l])
		}
	}
	// How the objective falls in each value.
	fall := make([]float64, k)
	for i, s := range list {
		v := c.b[s.from]
		fall[i] = f.work.at(s.from, 0) - math.Copysign(w.Norm[0]*float64(s.to-s.from), v)
		if s.from > 0 {
			fall[i] -= math.Copysign(w.Fusion, v-c.b[s.from-1])
		}
		if s.to < p {
			fall[i] -= f.work.at(s.to, 0) + math.Copysign(w.Fusion, v-c.b[s.to])
		}
	}
	step, full := slices.Clone(fall), slices.Clone(system)
	dense.Mirror(full, k)
	factorise(k, system, slight).solve(step)
	values, cut := c.follow(list, full, fall, step, w)
	to := slices.Clone(c.b)
	for i, s := range list {
		for j := s.from; j < s.to; j++ {
			to[j] = values[i]
		}
	}
	c.move(f, to)
	return cut
}

// follow goes along a step of the pieces' values to the first minimum, and returns them: where one becomes zero it
// stays, and where one meets the next they go on together. It says whether any did.
func (c *chain) follow(list []piece, system, fall, step []float64, w *Weights) (values []float64, cut bool) {
	k := len(list)
	values = make([]float64, k)
	first := make([]int, k) // of the pieces that go together
	for i, s := range list {
		values[i], first[i] = c.b[s.from], i
	}
	image, diagonal := make([]float64, k), make([]float64, k)
	for i, v := range step {
		dense.Axpy(v, system[i*k:(i+1)*k], image)
		diagonal[i] = system[i*k+i]
	}
	turn := func(i int, to float64) {
		dense.Axpy(to-step[i], system[i*k:(i+1)*k], image)
		step[i] = to
	}
	for {
		slope, bend := dense.Dot(fall, step), dense.Dot(image, step)
		if !(slope > 0) {
			return values, cut
		}
		by, at, joins := math.Inf(1), -1, false
		if bend > 0 {
			by = slope / bend
		}
		for i, s := range list {
			v := values[i]
			if w.Norm[0] > 0 && v*step[i] < 0 && -v/step[i] < by {
				by, at, joins = -v/step[i], i, false
			}
			if i+1 < k && list[i+1].from == s.to && w.Fusion > 0 && (v*values[i+1] != 0 || w.Norm[0] == 0) {
				if gap, closing := values[i+1]-v, step[i+1]-step[i]; gap*closing < 0 && -gap/closing < by {
					by, at, joins = -gap/closing, i, true
				}
			}
		}
		if math.IsInf(by, 1) {
			return values, cut
		}
		dense.Axpy(by, step, values)
		dense.Axpy(-by, image, fall)
		if at < 0 {
			return values, cut
		}
		cut = true
		last, mean, weight := at, 0.0, 0.0
		if joins {
			for last = at + 1; last+1 < k && first[last+1] == first[at+1]; last++ {
			}
		}
		for ; last+1 < k && first[last+1] == first[at]; last++ { // of a run that is zero now
		}
		from := first[at]
		for i := from; i <= last; i++ {
			mean, weight = mean+diagonal[i]*step[i], weight+diagonal[i]
		}
		if mean /= weight; !joins || !(weight > 0) {
			mean = 0
		}
		for i := from; i <= last; i++ {
			first[i] = from
			if values[i] = values[at]; !joins {
				values[i] = 0
			}
			turn(i, mean)
		}
	}
}

// measure computes the duality gap, with the residuals scaled until their products g with the features are in the dual
// ball: s + D'v with |s_j| <= w and |v_j| <= fusion, D being the differences, of which taut's s is the least.
func (c *chain) measure(f *fold, w *Weights, tol float64) {
	bc, br, sizes, jumps := 0.0, 0.0, 0.0, 0.0
	for _, j := range f.working {
		bc, br = bc+f.b[j]*f.part.c[j], br+f.b[j]*f.gradient[j]
		if j > 0 {
			jumps += math.Abs(f.b[j])
		}
	}
	for _, v := range c.b {
		sizes += math.Abs(v)
	}
	g := c.slopes(f)
	scaled, left := make([]float64, len(g)), make([]float64, len(g))
	rounding := roundedGradient * f.noise * float64(len(g)) // of sums of so many features
	excess := func(scale float64) (most float64) {
		for j, v := range g {
			scaled[j] = scale * v
		}
		taut(scaled, w.Fusion, left)
		for _, v := range left {
			most = max(most, math.Abs(v))
		}
		return most - w.Norm[0]
	}
	// Factors 1 - 4^-k are enough to tell the gap.
	scale, beyond := 1.0, excess(1)
	if beyond > rounding {
		const digits = 24
		lo, hi := 0, digits
		for lo < hi {
			if mid := (lo + hi + 1) / 2; excess(1-math.Pow(4, -float64(mid))) > rounding {
				hi = mid - 1
			} else {
				lo = mid
			}
		}
		scale = 1 - math.Pow(4, -float64(lo))
		beyond = excess(scale)
	}
	rr, yr := max(f.part.yy-bc-br, 0), f.part.yy-bc
	f.objective = rr/2 + w.Norm[0]*sizes + w.Fusion*jumps
	f.gap = max(f.objective-(scale*yr-scale*scale*rr/2-max(beyond, 0)*sizes), 0)
	f.solved = f.gap <= tol*f.null() || c.still && f.gap <= roundingGap*f.null()
}

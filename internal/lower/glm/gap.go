package glm

import "math"

// measure computes the duality gap, by the best bound so far. With q the
// gradients of the loss, less their signs, w the weights of norms and m of half squares, and the multipliers of the
// training rows times a factor s, a value of the dual problem is
//
//	s linear - s^2 square - sum_j max(s |q_j| - w_j, 0)^2 / (2 m_j),
//
// where m_j is zero s so that s |q_j| is at most w_j; a bound of a coefficient limits its term. Of squares with
// residuals r, linear is y'r and square |r|^2/2. Other losses are convex and not negative: the conjugate at derivatives
// times s is at most s times that at these, which is known at the predictions: linear is the loss and b'q. Half squares
// of units of several coefficients, and all beside a loss of squares, are rows of their own.
func (f *fold) measure(w *Weights) {
	d, pt := f.d, f.point
	bc, bq, squares := 0.0, 0.0, 0.0
	for _, u := range f.working {
		for _, j := range d.units[u] {
			for a := j * d.q; a < (j+1)*d.q; a++ {
				bq += f.b[a] * f.gradient[a]
				if pt == nil {
					bc += f.b[a] * f.part.c[a]
				}
				if pt == nil || !f.alone(u) {
					squares += w.second(j) * f.b[a] * f.b[a] / 2
				}
			}
		}
	}
	var loss, linear, square, beyond float64
	if pt == nil {
		loss = max(f.part.yy-bc-bq, 0) / 2
		linear, square = f.part.yy-bc, loss+squares
	} else {
		loss, beyond = pt.value, math.Abs(pt.slant)*(1+math.Abs(pt.b0)) // of the constant
		linear = loss
		if e := pt.envelope; e != nil { // whose conjugate is linear
			loss = e.loss / pt.total
			linear = (e.loss - e.loose) / pt.total
		}
		linear += bq - squares
	}
	scale := 1.0
	var smooth []int // units that half squares hold
	for u := range d.units {
		if j := d.units[u][0]; pt != nil && f.alone(u) && w.second(j) > 0 {
			if math.Abs(f.gradient[j]) > w.Norm[u]+w.absolute(j) {
				smooth = append(smooth, u)
			}
			continue
		}
		if e := f.excess(u, w, 1); e > w.Norm[u] {
			if more, ok := f.unbound(u, e, w); ok {
				beyond += more
			} else {
				scale = min(scale, f.feasible(u, w, 1))
			}
		}
	}
	at := func(s float64) (value, slope float64) {
		value, slope = s*linear-s*s*square, linear-2*s*square
		for _, u := range smooth {
			j := d.units[u][0]
			q, m := math.Abs(f.gradient[j]), w.second(j)
			if e := s*q - w.Norm[u] - w.absolute(j); e > 0 {
				b := e / m // the coefficient of that gradient
				if lo, hi := d.bounds(j); f.gradient[j] > 0 {
					b = min(b, hi)
				} else {
					b = min(b, -lo)
				}
				value, slope = value-b*(e-m*b/2), slope-q*b
			}
		}
		return value, slope
	}
	best, slope := at(scale)
	for lo, k := 0.0, 0; slope < 0 && k < 40; k++ { // the value is concave in s
		mid := (lo + scale) / 2
		value, rises := at(mid)
		if best = max(best, value); rises > 0 {
			lo = mid
		} else {
			scale = mid
		}
	}
	bound := max(best, 0) - beyond
	f.objective = loss + f.penalties(f.working, w)
	f.inner = f.objective - bound
	f.bound = max(f.bound, bound) // those of all rounds hold
	f.gap = max(f.objective-f.bound, 0)
}

// unbound is what the gap grows by as the gradient of unit u has the norm e, above its weight, and says whether no
// scaling is called for.
func (f *fold) unbound(u int, e float64, w *Weights) (more float64, ok bool) {
	d, q, list := f.d, f.d.q, f.d.units[u]
	j := list[0]
	lo, bound := d.bounds(j)
	if f.gradient[j] < w.second(j)*f.b[j] {
		bound = -lo
	}
	if !math.IsInf(bound, 0) {
		return bound * (e - w.Norm[u]), true // the bound is one of the penalties
	}
	free := w.Norm[u] == 0 && w.absolute(j) == 0
	if free || e <= roundedGradient*f.noise {
		// Not penalised, or next to it: the gradient vanishes but for rounding, and the gap grows by what it leaves on the
		// way to the optimum.
		size := 0.0
		for _, j := range list {
			far := 0.0
			if free && w.second(j) == 0 {
				far = f.far(j)
			}
			for k := range q {
				size = max(size, math.Abs(f.b[j*q+k])+far)
			}
		}
		return e * size, true
	}
	return 0, false
}

// farthest times what changes the loss by its value without coefficients, as if it were squares, is how far the optimum
// may be.
const farthest = 10

// far is that of feature j.
func (f *fold) far(j int) float64 {
	x := f.d.entries()
	squares, err := x.Squares(j)
	if err != nil || squares == 0 {
		return 0
	}
	return farthest * math.Sqrt(2*f.null()*float64(x.X.Rows())/squares)
}

// roundedGradient times the noise of a gradient is what sums of products may leave of it.
const roundedGradient = 100

// feasible is the largest factor, at most hi, at which a gradient leaves unit u at zero.
func (f *fold) feasible(u int, w *Weights, hi float64) float64 {
	if w.L1 == nil {
		return w.Norm[u] / f.excess(u, w, 1)
	}
	lo := 0.0
	for range 53 { // digits of a number
		if mid := (lo + hi) / 2; f.excess(u, w, mid) > w.Norm[u] {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

package sparse

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/factor"
)

// homotopy solves the problem over a working set by following its exact solution as the linear term changes (a
// parametric active-set method: Best 1996; with one weight and b = 0 at the start, the steps of LARS). Any b solves
// the problem whose X'y / n is moved by -D, where with g = X'u / n - w2 b
//
//	D_j = g_j - w1_j sign(b_j)   where b_j is not zero,
//	D_j = g_j - w1_j^2 / g_j     where it is and |g_j| > w1_j, and 0 elsewhere
//
// (any D_j that brings g_j within its bounds would do; this one lets features enter one after the other, those first that
// violate their condition most).
// With X'y / n - (1-t) D the solution is piecewise linear in t, and the solution for t = 1 is ours. On a piece the features in use, A,
// move along d = H_A^-1 D_A, H = X'X / n + diag(w2); the piece ends where a coefficient reaches zero and leaves A,
// or the g_j of another feature reaches +-w1_j and j enters. Each end changes the Cholesky factor of H_A by a row, so
// that a solve costs what the two solutions differ by, however ill-conditioned the problem is.
type homotopy struct {
	s    *solve
	cols []int

	set    []int           // the positions in cols of the features in use, in the order of the factor
	at     []int           // of each position: its place in set, or -1
	sign   []float64       // of each position in set: the sign of its coefficient, 0 where w1 is 0
	factor factor.Cholesky // of H_A

	g, d, dg []float64 // by position: g; D; the derivative of g
	step     []float64 // the direction of the coefficients of set
	image    []float64 // X_A step, centred
	sums     []float64 // X'X_A step / n
	spent    float64   // multiplications
	idle     int       // ends of pieces of no length that may follow
}

const (
	// leastPivot is the least square of a pivot, relative to the diagonal, with which a column enters.
	leastPivot = 1e-10
	// mostIdle bounds the pieces of no length, at ties, in a row.
	mostIdle = 20
	// refinements bounds how often the path is followed again, to take back rounding errors.
	refinements = 3
)

// homotopy moves the iterate to the solution of the problem over cols, or on the way to it until the multiplications
// exceed the budget. It says whether the solution was reached; where it was not, the iterate is the better of
// where the path was left and where it began.
func (s *solve) homotopy(cols []int, budget float64) (solved bool) {
	h := &homotopy{s: s, cols: cols, factor: factor.Cholesky{Wide: true}, at: make([]int, len(cols)), sign: make([]float64, len(cols)), image: make([]float64, len(s.R))}
	h.g, h.d, h.dg = make([]float64, len(cols)), make([]float64, len(cols)), make([]float64, len(cols))
	for i, j := range cols {
		h.at[i] = -1
		if s.B[j] != 0 || s.w1[j] == 0 {
			h.at[i] = len(h.set)
			h.set = append(h.set, i)
			if s.w1[j] != 0 {
				h.sign[i] = math.Copysign(1, s.B[j])
			}
		}
	}
	if len(h.set) > newtonMost {
		return false
	}
	s.newtons++
	for k := range h.set {
		if s.Stop.Look() || !h.enlarge(k) {
			return false
		}
	}
	h.idle = mostIdle
	before := s.Loss(s.R, s.Off) + s.penalty(cols, s.B)
	old := make([]float64, len(cols))
	for i, j := range cols {
		old[i] = s.B[j]
	}
	for range refinements {
		if h.begin() <= 1 {
			return true
		}
		if !h.follow(budget) {
			s.Residual()
			if !(s.Loss(s.R, s.Off)+s.penalty(cols, s.B) < before) {
				for i, j := range cols {
					s.B[j] = old[i]
				}
				s.Residual()
			}
			return false
		}
		s.Residual()
	}
	return true
}

// begin sets g and D for the iterate, and returns the largest |D_j| in units of its rounding error.
func (h *homotopy) begin() (far float64) {
	s := h.s
	s.Fold()
	unit := rounding * math.Sqrt(s.Scale*2*s.N) / s.N
	for i, j := range h.cols {
		g := s.X.Dot(j, s.R)/s.N - s.w2[j]*s.B[j]
		to := g
		if h.at[i] >= 0 {
			to = h.sign[i] * s.w1[j]
		} else if math.Abs(g) > s.w1[j] {
			to = s.w1[j] * s.w1[j] / g
		}
		h.g[i], h.d[i] = to, g-to
		far = math.Max(far, math.Abs(h.d[i])/(unit*math.Sqrt(s.Norm2[j])))
	}
	h.spent += s.work(h.cols)
	return far
}

// follow goes from t = 0 to 1. It says whether it arrived.
func (h *homotopy) follow(budget float64) bool {
	s := h.s
	for t := 0.0; ; {
		if h.spent > budget || s.Stop.Look() {
			return false
		}
		h.derive()
		left := 1 - t
		size, end := left, -1
		for i, j := range h.cols {
			reach := math.Inf(1)
			if k := h.at[i]; k >= 0 {
				if h.sign[i]*h.step[k] < 0 {
					reach = math.Max(0, -s.B[j]/h.step[k])
				}
			} else if v := h.dg[i]; v > 0 {
				reach = math.Max(0, (s.w1[j]-h.g[i])/v)
			} else if v < 0 {
				reach = math.Max(0, (-s.w1[j]-h.g[i])/v)
			}
			if reach < size {
				size, end = reach, i
			}
		}
		for k, i := range h.set {
			s.B[h.cols[i]] += size * h.step[k]
		}
		for i := range h.g {
			h.g[i] += size * h.dg[i]
		}
		if end < 0 {
			return true
		}
		t += size
		if h.idle--; size > 0 {
			h.idle = mostIdle
		}
		if h.idle < 0 || !h.change(end) {
			return false
		}
	}
}

// derive sets the direction of the coefficients and of g: with the image X_A step, for the features that are not in use
//
//	dg_j = D_j - x_j'X_A step / n.
func (h *homotopy) derive() {
	s := h.s
	h.step = h.step[:0]
	for _, i := range h.set {
		h.step = append(h.step, h.d[i])
	}
	h.factor.Solve(h.step)
	k := float64(len(h.set))
	h.spent += k * k
	if s.Prepared() && k*float64(s.X.Columns()) < float64(s.X.Rows()*(len(h.set)+len(h.cols))) {
		h.sums = append(h.sums[:0], make([]float64, s.X.Columns())...)
		for k, i := range h.set {
			floats.AddScaled(h.sums, h.step[k], s.GramRow(h.cols[i]))
		}
		for i, j := range h.cols {
			h.dg[i] = 0
			if h.at[i] < 0 {
				h.dg[i] = h.d[i] - h.sums[j]
			}
		}
		h.spent += k * float64(s.X.Columns())
		return
	}
	clear(h.image)
	mean := 0.0
	for k, i := range h.set {
		j := h.cols[i]
		s.X.Axpy(h.step[k], j, h.image)
		mean += h.step[k] * s.Shift(j)
	}
	if mean != 0 {
		floats.AddConst(-mean, h.image)
	}
	entries := 0
	for i, j := range h.cols {
		entries += s.X.Len(j)
		if h.at[i] >= 0 {
			h.dg[i] = 0
			continue
		}
		h.dg[i] = h.d[i] - s.X.Dot(j, h.image)/s.N
	}
	h.spent += 2*float64(entries) + 2*s.N
}

// change takes the feature at a position out of the set, or into it. It says whether that went well.
func (h *homotopy) change(i int) bool {
	j := h.cols[i]
	k := h.at[i]
	if k < 0 {
		h.sign[i] = math.Copysign(1, h.g[i])
		h.g[i] = h.sign[i] * h.s.w1[j]
		h.at[i] = len(h.set)
		h.set = append(h.set, i)
		return len(h.set) <= newtonMost && h.enlarge(len(h.set)-1)
	}
	h.s.B[j] = 0
	h.g[i] = h.sign[i] * h.s.w1[j]
	h.set = append(h.set[:k], h.set[k+1:]...)
	h.at[i] = -1
	for l := k; l < len(h.set); l++ {
		h.at[h.set[l]] = l
	}
	h.factor.Remove(k)
	rest := float64(len(h.set) - k)
	h.spent += 2 * rest * rest
	return true
}

// enlarge adds the row of the k-th feature of the set to the factor. It says whether the feature is independent of
// those before.
func (h *homotopy) enlarge(k int) bool {
	s, j := h.s, h.cols[h.set[k]]
	diagonal := s.Norm2[j]/s.N + s.w2[j]
	row := make([]float64, k)
	h.spent += float64(k*k) / 2
	if s.Prepared() {
		known := s.GramRow(j)
		for l, i := range h.set[:k] {
			row[l] = known[h.cols[i]]
		}
		return h.factor.Add(row, diagonal, leastPivot*diagonal)
	}
	// The column, spread out if it is sparse, serves all products.
	column := h.image
	if s.X.Dense() {
		_, column = s.X.Column(j)
	} else {
		clear(column)
		s.X.Axpy(1, j, column)
	}
	for l, i := range h.set[:k] {
		m := h.cols[i]
		row[l] = s.X.Dot(m, column)/s.N - s.Shift(j)*s.Shift(m)
		h.spent += float64(s.X.Len(m))
	}
	return h.factor.Add(row, diagonal, leastPivot*diagonal)
}

package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// dual is the dual problem of a fit over a working set whose penalties are separable, with squares of every
// coefficient. With the rows B about their means, times the roots of their shares of the weights, the residual u,
// c = B'u and v_j = soft(c_j, w_j) / m_j within the bounds of j,
//
//	D(u) = t'u - |u|^2/2 - sum_j (c_j v_j - w_j |v_j| - m_j v_j^2/2),   grad D = t - u - B v,
//
// is concave and smooth, quadratic as long as the set A of the v_j that are neither zero nor at a bound stays. The
// steps
//
//	d = (I + B_A M_A^-1 B_A')^-1 (t - u - B v)
//
// are followed to the maximum along them (the semismooth Newton method: Li, Sun, Toh, SIAM J. Optim. 28, 2018); their
// systems have the order of the rows, however many features are in use. v is the solution where u is the maximum.
type dual struct {
	d             *Data
	outers        *outers
	s             *residual
	features      []int
	first, second []float64 // weights
	root          []float64 // of the shares of the rows
	in            []bool    // A
	sum           []float64 // of B_A M_A^-1 B_A', its lower triangle by columns
	system        []float64 // to be factorised
}

const (
	// dualSteps bounds the steps and dualLine the points of a line search, which ends at a share flat of the slope.
	dualSteps, dualLine = 60, 30
	flat                = 1e-3
	// nearly is the share of the targets of a gradient from which on steps are taken whole, as long as each halves it.
	nearly = 1e-10
)

// byRows is the work where the dual problem has a smaller order than the systems of active units, nil elsewhere.
func (f *fold) byRows(active []int, w *Weights) *residual {
	s, ok := f.work.(*residual)
	if !ok || s.root != nil || f.primal || f.d.q > 1 || f.d.n > mostOrder || len(active) <= s.count {
		return nil
	}
	for _, u := range f.working {
		for _, j := range f.d.units[u] {
			if !f.alone(u) && w.Norm[u] > 0 || !(w.second(j) > 0) && s.diagonal(j) > 0 {
				return nil
			}
		}
	}
	return s
}

// solveDual solves over the working set by the dual problem. It says whether it came to the end, and whether it moved.
func (f *fold) solveDual(ctx context.Context, s *residual, w *Weights) (solved, moved bool) {
	n := s.x.Rows()
	y := &dual{outers: &f.outers, d: f.d, s: s, root: s.roots(), sum: dense.Zeros(n * n),
		system: make([]float64, n*n)}
	floats.Scale(1/math.Sqrt(s.weight), y.root)
	for _, u := range f.working {
		for _, j := range f.d.units[u] {
			if s.diagonal(j) > 0 {
				y.features = append(y.features, j)
				y.first, y.second = append(y.first, w.Norm[u]+w.absolute(j)), append(y.second, w.second(j))
			}
		}
	}
	k := len(y.features)
	y.in = make([]bool, k)
	u := make([]float64, n)
	for i, r := range s.r[0] {
		if y.root[i] > 0 {
			u[i] = r/(y.root[i]*s.weight) + y.root[i]*s.shift[0]
		}
	}
	v, c, e := make([]float64, k), make([]float64, k), make([]float64, k)
	for i, j := range y.features {
		v[i] = f.b[j]
	}
	value := func(r []float64) float64 {
		sum := dense.Dot(r, r) / 2
		for i, b := range v {
			sum += y.first[i]*math.Abs(b) + y.second[i]*b*b/2
		}
		return sum
	}
	before, target := value(u), y.add(1, v, slices.Clone(u))
	size := floats.Norm(target, 2)
	var rest []float64
	least := math.Inf(1)
	for range dualSteps {
		y.s.products(y.features, u, y.root, c)
		for i := range v {
			v[i], _ = y.at(i, c[i])
		}
		rest = slices.Clone(target)
		floats.Sub(rest, u)
		y.add(-1, v, rest)
		left := floats.Norm(rest, 2)
		near := left <= nearly*size
		if solved = left == 0 || near && left > least/2; solved || ctx.Err() != nil {
			break
		}
		least = min(least, left)
		d := y.direction(ctx, rest, v)
		if d == nil {
			break
		}
		t := 1.0
		if !near {
			y.s.products(y.features, d, y.root, e)
			t = y.line(floats.Dot(target, d)-floats.Dot(u, d), floats.Dot(d, d), c, e)
		}
		if t == 0 || math.IsNaN(t) {
			break
		}
		floats.AddScaled(u, t, d)
	}
	floats.Add(rest, u) // the residual of v
	if !(value(rest) < before) {
		return solved, false
	}
	for i, j := range y.features {
		if v[i] != f.b[j] {
			f.shift(j, v[i])
		}
	}
	return solved, true
}

// at is v_j for c_j, and whether j is in A.
func (y *dual) at(i int, c float64) (v float64, in bool) {
	v = numerics.Soft(c, y.first[i]) / y.second[i]
	lo, hi := y.d.bounds(y.features[i])
	return max(lo, min(hi, v)), v != 0 && lo < v && v < hi
}

// add adds a B v to r.
func (y *dual) add(a float64, v, r []float64) []float64 {
	image := make([]float64, len(r))
	y.s.image(y.features, v, y.root, image)
	dense.Axpy(a, image, r)
	return r
}

// line returns a t > 0 at which the slope of D along d, which falls and is piecewise linear, is small relative to that
// at 0; 0 if there is none. linear and square are (t-u)'d and |d|^2, e is B'd.
func (y *dual) line(linear, square float64, c, e []float64) (t float64) {
	slope := func(t float64) float64 {
		value := linear - t*square
		for i, s := range e {
			v, _ := y.at(i, c[i]+t*s)
			value -= v * s
		}
		return value
	}
	first := slope(0)
	if !(first > 0) {
		return 0
	}
	numerics.Search(first, flat, dualLine, func(step float64) (rise float64, ok, done bool) {
		t = step
		return slope(t), true, false
	})
	return t
}

// direction is d for the gradient rest at v, nil where the context ends.
func (y *dual) direction(ctx context.Context, rest, v []float64) []float64 {
	var enter, leave []int
	count := 0
	for i, b := range v {
		lo, hi := y.d.bounds(y.features[i])
		in := b != 0 && lo < b && b < hi
		if in && !y.in[i] {
			enter = append(enter, i)
		} else if !in && y.in[i] {
			leave = append(leave, i)
		}
		if y.in[i] = in; in {
			count++
		}
	}
	if len(leave) > 0 && len(enter)+len(leave) >= count { // afresh
		clear(y.sum)
		enter, leave = enter[:0], nil
		for i, in := range y.in {
			if in {
				enter = append(enter, i)
			}
		}
	}
	if !y.put(ctx, 1, enter) || !y.put(ctx, -1, leave) {
		return nil
	}
	n := len(rest)
	h, d := y.system, slices.Clone(rest)
	copy(h, y.sum)
	for i := range n {
		h[i*n+i]++
	}
	factorise(n, h, slight).solve(d)
	return d
}

// put adds a times the parts of features to the matrix. It says whether it came to the end.
func (y *dual) put(ctx context.Context, a float64, list []int) bool {
	one := []float64{1}
	return y.outers.add(ctx, len(y.root), len(list), y.sum, func(k int, column []float64) float64 {
		i := list[k]
		y.s.image(y.features[i:i+1], one, y.root, column)
		return a / y.second[i]
	})
}

// outers has room for sums of outer products.
type outers struct{ left, right []float64 }

// add adds to the lower triangle of h, of order n and by columns, as many outer products as are counted, of the columns
// that fill writes into zeros, times what it returns. It says whether it came to the end before the context.
func (o *outers) add(ctx context.Context, n, count int, h []float64, fill func(i int, column []float64) float64) bool {
	const panel = 64 // columns
	for first := 0; first < count; first += panel {
		if ctx.Err() != nil {
			return false
		}
		some := min(count-first, panel)
		o.left, o.right = dense.Cleared(o.left, n*some), slices.Grow(o.right[:0], n*some)[:n*some]
		for i := range some {
			column := o.left[i*n : (i+1)*n]
			by := fill(first+i, column)
			floats.ScaleTo(o.right[i*n:(i+1)*n], -by, column)
		}
		dense.SyrkNT(n, some, o.left, n, o.right, n, h, n)
	}
	return true
}

package glm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
)

// dual is the dual problem of a fit over a working set whose penalties are separable, with squares of every coefficient. With the rows B about their means,
// times the roots of their shares of the weights, the residual u, c = B'u and v_j = soft(c_j, w_j) / m_j within the bounds of j,
//
//	D(u) = t'u - |u|^2/2 - sum_j (c_j v_j - w_j |v_j| - m_j v_j^2/2),   grad D = t - u - B v,
//
// is concave and smooth, quadratic as long as the set A of the v_j that are neither zero nor at a bound stays. The steps
//
//	d = (I + B_A M_A^-1 B_A')^-1 (t - u - B v)
//
// are followed to the maximum along them (the semismooth Newton method: Li, Sun, Toh, SIAM J. Optim. 28, 2018); their systems have the order of the rows,
// however many features are in use. v is the solution where u is the maximum.
type dual struct {
	f             *fold
	g             *rows
	features      []int
	first, second []float64 // weights
	root          []float64 // of the shares of the rows, 0 of those left out
	in            []bool    // A
	sum           *mat.SymDense
	factor        factor.Definite
	end           stop.Stop
}

const (
	// mostRows bounds the order of the systems, dualSteps the steps and dualLine the points of a line search, which ends at a share flat of the slope.
	mostRows, dualSteps, dualLine = 4000, 60, 30
	flat                          = 1e-3
	// nearly is the share of the targets of a gradient from which on steps are taken whole, as long as each halves it.
	nearly = 1e-10
)

// byRows says whether the dual problem has a smaller order than the systems of active units.
func (f *fold) byRows(active []int, w *Weights) bool {
	g, ok := f.products.(*rows)
	if !ok || f.d.q > 1 || f.d.n > mostRows || len(active) <= f.d.n-len(f.part.val) {
		return false
	}
	return !slices.ContainsFunc(f.working, func(u int) bool {
		return !f.alone(u) && w.Norm[u] > 0 || slices.ContainsFunc(f.d.units[u], func(j int) bool { return !(w.second(j) > 0) && g.squares[f.index][j] > 0 })
	})
}

// solveDual solves over the working set by the dual problem, from where work is done with residuals. It says whether it came to the end, and whether it moved.
func (f *fold) solveDual(ctx context.Context, w *Weights) (solved, moved bool) {
	g := f.products.(*rows)
	n := g.d.n
	y := &dual{f: f, g: g, root: make([]float64, n), sum: mat.NewSymDense(n, nil)}
	y.end.Begin(ctx, 0)
	y.factor.End = &y.end
	for _, u := range f.working {
		for _, j := range f.d.units[u] {
			if g.squares[f.index][j] > 0 {
				y.features = append(y.features, j)
				y.first, y.second = append(y.first, w.Norm[u]+w.absolute(j)), append(y.second, w.second(j))
			}
		}
	}
	k := len(y.features)
	y.in = make([]bool, k)
	u := make([]float64, n)
	for i, train := range g.d.train[f.index] {
		if train {
			weight := g.d.weight(i)
			y.root[i] = math.Sqrt(weight / f.part.weight)
			u[i] = y.root[i] * (f.residue.r[0][i]/weight + f.residue.shift[0])
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
		y.products(c, u)
		for i := range v {
			v[i], _ = y.at(i, c[i])
		}
		rest = slices.Clone(target)
		floats.Sub(rest, u)
		y.add(-1, v, rest)
		left := floats.Norm(rest, 2)
		near := left <= nearly*size
		if solved = left == 0 || near && left > least/2; solved || y.end.Look() {
			break
		}
		least = min(least, left)
		d := y.direction(rest, v)
		if d == nil {
			break
		}
		t := 1.0
		if !near {
			y.products(e, d)
			t = y.line(floats.Dot(target, d)-floats.Dot(u, d), floats.Dot(d, d), c, e)
		}
		if t == 0 {
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
	v = soft(c, y.first[i]) / y.second[i]
	lo, hi := y.f.d.bounds(y.features[i])
	return max(lo, min(hi, v)), v != 0 && lo < v && v < hi
}

// products sets c to B'u.
func (y *dual) products(c, u []float64) {
	scaled := slices.Clone(u)
	floats.Mul(scaled, y.root)
	sum := floats.Sum(scaled)
	for i, j := range y.features {
		c[i] = y.g.x.Dot(j, scaled) - y.f.part.mean[j]*sum
	}
}

// add adds a B v to r.
func (y *dual) add(a float64, v, r []float64) []float64 {
	image, mean := make([]float64, len(r)), 0.0
	for i, b := range v {
		if b != 0 {
			y.g.x.Axpy(a*b, y.features[i], image)
			mean += a * b * y.f.part.mean[y.features[i]]
		}
	}
	for i, s := range y.root {
		r[i] += s * (image[i] - mean)
	}
	return r
}

// line returns a t > 0 at which the slope of D along d, which falls and is piecewise linear, is small relative to that at 0; 0 if there is none. linear and
// square are (t-u)'d and |d|^2, e is B'd.
func (y *dual) line(linear, square float64, c, e []float64) float64 {
	slope := func(t float64) (value, change float64) {
		value, change = linear-t*square, -square
		for i, s := range e {
			v, in := y.at(i, c[i]+t*s)
			if value -= v * s; in {
				change -= s * s / y.second[i]
			}
		}
		return value, change
	}
	first, _ := slope(0)
	if !(first > 0) {
		return 0
	}
	lo, hi, t := 0.0, math.Inf(1), 1.0
	for range dualLine {
		value, change := slope(t)
		if math.Abs(value) <= flat*first {
			return t
		}
		if value > 0 {
			lo = t
		} else {
			hi = t
		}
		if next := t - value/change; next > lo && next < hi {
			t = next
		} else {
			t = (lo + hi) / 2
		}
	}
	return lo
}

// direction is d for the gradient rest at v; nil where the matrix could not be factored.
func (y *dual) direction(rest, v []float64) []float64 {
	var enter, leave []int
	count := 0
	for i, b := range v {
		lo, hi := y.f.d.bounds(y.features[i])
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
		y.sum.Zero()
		enter, leave = enter[:0], nil
		for i, in := range y.in {
			if in {
				enter = append(enter, i)
			}
		}
	}
	if !y.outers(1, enter) || !y.outers(-1, leave) || !y.factor.FactorSym(y.sum, 1) {
		return nil
	}
	d := slices.Clone(rest)
	y.factor.Solve(d)
	return d
}

// outers adds a times the parts of features to the matrix. It says whether it came to the end.
func (y *dual) outers(a float64, list []int) bool {
	return factor.AddOuters(y.sum, a, len(list), &y.end, func(k int, column []float64) {
		i := list[k]
		j := y.features[i]
		y.g.x.Axpy(1, j, column)
		by := 1 / math.Sqrt(y.second[i])
		for l, s := range y.root {
			column[l] = by * s * (column[l] - y.f.part.mean[j])
		}
	})
}

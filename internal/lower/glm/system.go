package glm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/numerics"
)

// System is that of a Newton step for the objective of a fold at a point,
//
//	(sum_i c_i (x_i, 1)(x_i, 1)' + D) v = q,
//
// over the coefficients that are free to move and, if there is one, the constant, with the curvatures c of the rows and
// the second derivatives D of the penalties. Where its matrix is singular a solution is one of those that there are, if
// there is one.
type System struct {
	// Features are those of the coefficients, which are not zero and not at a bound.
	Features []int
	newton   *newton
	constant bool
	mean     []float64 // of the features by the curvatures
	curve    float64   // sum of these
	tol      float64
}

// System is that of fold t, of one target, at coefficients b and the constant b0. Iterative solutions are to a relative
// accuracy of tol.
func (d *Data) System(ctx context.Context, t int, b []float64, b0 float64, w *Weights, tol float64) (*System, error) {
	if err := d.check(w); err != nil {
		return nil, err
	}
	f := d.newFold(t)
	s := &System{constant: d.intercept, curve: 1, tol: tol}
	var units, unit []int
	s.Features, unit = d.Free(b)
	copy(f.b, b)
	for u := range d.units {
		if f.inUse(u) {
			units = append(units, u)
		}
	}
	f.join(units)
	curve := d.trainWeights(t)
	if curve == nil {
		curve = slices.Repeat([]float64{1}, d.n)
	}
	total := floats.Sum(curve)
	if pt := f.point; pt != nil {
		for _, j := range f.features() {
			d.entries().Axpy(b[j], j, pt.eta)
		}
		floats.AddConst(b0-pt.b0, pt.eta)
		d.look(pt)
		curve, total = pt.curve, pt.total
		if pt.coupled.Second != nil {
			s.constant = false
			new(whole).begin(f)
		}
	}
	if f.work == nil {
		of := f.scaledBy(curve)
		of.load(f, s.Features)
		s.mean, s.curve = of.mean, of.weight/total
		w = w.scaled(1 / s.curve)
	}
	for _, j := range s.Features {
		if v := f.work.diagonal(j) + w.second(j); !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("glm: the second derivative in feature %d is %g", j, v)
		}
	}
	s.newton = f.system(s.Features, unit, w, mostFactor)
	return s, ctx.Err()
}

// Free are the features whose coefficients are not zero and not at a bound, unit by unit, and these.
func (d *Data) Free(b []float64) (features, unit []int) {
	for u, list := range d.units {
		for _, j := range list {
			if lo, hi := d.bounds(j); b[j] != 0 && b[j] != lo && b[j] != hi {
				features, unit = append(features, j), append(unit, u)
			}
		}
	}
	return features, unit
}

// Has says that features of a unit are in the system, or that there is no such unit.
func (s *System) Has(unit int) bool {
	_, has := slices.BinarySearch(s.newton.unit, unit)
	return has || unit >= len(s.newton.f.d.units)
}

// Slope is the gradient of penalties with some weights in the coefficients, and 0 for the constant.
func (s *System) Slope(w *Weights) []float64 {
	g := s.newton.f.slopes(s.Features, s.newton.unit, w)
	if s.constant {
		g = append(g, 0)
	}
	return g
}

// Solve returns the solution, of the coefficients and then the constant. Truncated, the system of the coefficients
// alone, centred, is solved by as many steps as it has unknowns at most, see [numerics.Truncated].
func (s *System) Solve(ctx context.Context, q []float64, truncated bool) []float64 {
	k := len(s.Features)
	v := slices.Clone(q[:k])
	if s.constant { // whose equation says that the means times v add up to q_0 / curve less v_0
		floats.AddScaled(v, -q[k], s.mean)
	}
	floats.Scale(1/s.curve, v)
	if truncated {
		times := s.newton.times
		if f := s.newton.f; f.coupled(s.newton.unit, s.newton.w) { // whose products cost more
			h, _, _ := s.newton.matrix()
			dense.Mirror(h, k)
			times = func(out, v []float64) {
				clear(out)
				dense.GemvN(k, k, h, k, v, out) // less that
				floats.Scale(-1, out)
			}
		}
		numerics.Truncated(ctx, times, slices.Clone(v), v, k)
	} else {
		v = s.newton.solve(ctx, v, s.tol)
	}
	if s.constant {
		v = append(v, q[k]/s.curve-floats.Dot(s.mean, v))
	}
	return v
}

// newton are the second derivatives of the objective of a fold in some coefficients: by a factor of their matrix, where
// they are few, of one of the order of the rows, where these are, or by their products with directions.
type newton struct {
	f              *fold
	features, unit []int
	w              *Weights
	solver         interface{ solve(x []float64) } // of a factor, nil where there is none yet or solutions are iterative
	rows           bool                            // the factor is of the order of the rows
	diagonal       []float64                       // of conjugate gradients
	product, spent float64                         // multiplications of a product, and of all
}

const (
	// mostFactor bounds the order of factors for derivatives, mostSteps the steps of conjugate gradients.
	mostFactor, mostSteps = 1500, 5000
	// leastSecond is the share of the mean curvature of the loss that all half squares have where the order is that of
	// the rows: what rounding leaves is relative to them.
	leastSecond = 1e-9
)

// system has the second derivatives in coefficients of features, whose units are listed, in the best of the three ways,
// of which factors have the order most at most.
func (f *fold) system(features, unit []int, w *Weights, most int) *newton {
	s := &newton{f: f, features: features, unit: unit, w: w}
	s.rows = f.overRows(slices.Compact(slices.Clone(unit)), w, most)
	if !s.rows && len(features) > most && !f.coupled(unit, w) {
		of, ok := f.work.(*residual)
		for _, j := range features {
			s.diagonal = append(s.diagonal, f.work.diagonal(j)+w.second(j))
			if ok {
				s.product += 2 * float64(of.x.Len(of.place[j]))
			}
		}
	}
	return s
}

// matrix is the lower triangle, by columns, with what a pivot is taken for that is rounding.
func (s *newton) matrix() (h []float64, order int, pivot float64) {
	features, unit := s.features, s.unit
	f, w, n, q := s.f, s.w, len(features), s.f.d.q
	order, pivot = n*q, slight
	h = f.work.block(features)
	if q > 1 {
		block := h
		h = make([]float64, order*order)
		for a := range n {
			for b := a; b < n; b++ {
				for k := range q {
					h[(a*q+k)*order+b*q+k] = block[a*n+b]
				}
			}
		}
	}
	norms := f.norms(features, unit, w)
	for i, j := range features {
		norm, weight := norms[i], w.Norm[unit[i]]
		for k := range q {
			to := h[(i*q+k)*order:]
			to[i*q+k] += w.second(j)
			if f.alone(unit[i]) || norm == 0 || weight == 0 {
				continue
			}
			pivot = 1
			to[i*q+k] += weight / norm
			b := f.b[j*q+k]
			for l := i; l < n && unit[l] == unit[i]; l++ {
				for m := range q {
					if l*q+m >= i*q+k {
						to[l*q+m] -= weight * b * f.b[features[l]*q+m] / (norm * norm * norm)
					}
				}
			}
		}
	}
	return h, order, pivot
}

// times sets out to the matrix times v, of one target and without norms of several coefficients.
func (s *newton) times(out, v []float64) {
	f, w := s.f, s.w
	clear(out)
	f.work.times(s.features, v, out)
	for i, j := range s.features {
		out[i] += w.second(j) * v[i]
	}
}

// solve returns the solution for a right-hand side, to a relative accuracy where it is by conjugate gradients.
func (s *newton) solve(ctx context.Context, right []float64, accuracy float64) []float64 {
	v := slices.Clone(right)
	if s.diagonal == nil {
		if s.solver == nil && s.rows {
			if y := s.wide(ctx); y != nil {
				s.solver = y
			}
		} else if s.solver == nil {
			h, order, pivot := s.matrix()
			s.solver = factorise(order, h, pivot)
		}
		if s.solver != nil {
			s.solver.solve(v)
		}
		return v
	}
	x := make([]float64, len(v))
	system := numerics.System{
		Multiply: func(out, v []float64) bool {
			s.spent += s.product
			s.times(out, v)
			return ctx.Err() == nil
		},
		Divide: func(out, r []float64) {
			for i, v := range s.diagonal {
				if out[i] = 0; v > 0 {
					out[i] = r[i] / v
				}
			}
		},
	}
	system.Solve(x, v, accuracy, mostSteps)
	return x
}

// wide solves (H + D - U C U') v = q for the products H of more features than there are rows, by a system of the order
// of the rows (Woodbury's formula): with H = B'B / W for the rows B about their means, times the roots of the weights,
//
//	M^-1 q = D^-1 (q - B' (W I + B D^-1 B')^-1 B D^-1 q),   v = M^-1 (q + U S^-1 U' M^-1 q),   S = C^-1 - U' M^-1 U.
//
// D has half squares and, for norms of several coefficients b, their weights over |b|, which are C; these do not bend
// along b: U has the columns b / |b|, and S no differences of what is nearly the same.
type wide struct {
	s                   *residual
	features, at        []int // at is the column of U of each
	root, second, along []float64
	factor, rest        *definite
}

// wide is that of the derivatives; nil where the context ends.
func (s *newton) wide(ctx context.Context) *wide {
	f, of := s.f, s.f.work.(*residual)
	n, k := of.x.Rows(), len(s.features)
	y := &wide{s: of, features: s.features, root: of.roots(), at: make([]int, k), along: make([]float64, k)}
	var straight []float64 // the diagonal of C^-1 - U' D^-1 U
	for i, j := range s.features {
		second, u := s.w.second(j), s.unit[i]
		norm, bent := f.bent(u, s.w)
		y.second = append(y.second, second+bent)
		if bent == 0 {
			continue
		}
		if len(straight) == 0 || s.unit[i-1] != u {
			straight = append(straight, 0)
		}
		y.at[i], y.along[i] = len(straight)-1, f.b[j]/norm
		straight[y.at[i]] += y.along[i] * y.along[i] * second / (y.second[i] * bent)
	}
	h, m := dense.Zeros(n*n), len(straight)
	images := make([]float64, n*m) // of D^-1 U, by rows
	if !f.outers.add(ctx, n, len(s.features), h, func(i int, column []float64) float64 {
		of.image(s.features[i:i+1], []float64{1}, y.root, column)
		for l := 0; y.along[i] != 0 && l < n; l++ {
			images[l*m+y.at[i]] += column[l] * y.along[i] / y.second[i]
		}
		return 1 / y.second[i]
	}) {
		return nil
	}
	for i := range n {
		h[i*n+i] += of.weight
	}
	if y.factor = factorise(n, h, slight); m == 0 {
		return y
	}
	for i, root := range y.factor.root {
		floats.Scale(root, images[i*m:(i+1)*m])
	}
	dense.TrsmRightLT(m, n, y.factor.h, n, images, m)
	left := dense.Zeros(m * m)
	for g, v := range straight {
		left[g*m+g] = v
	}
	f.outers.add(ctx, m, n, left, func(i int, column []float64) float64 {
		copy(column, images[i*m:])
		return 1 / y.factor.d[i]
	})
	y.rest = factorise(m, left, slight)
	return y
}

// solve puts the solution in the place of its right-hand side.
func (y *wide) solve(v []float64) {
	if y.divide(v); y.rest == nil {
		return
	}
	along, step := make([]float64, len(y.rest.d)), make([]float64, len(v))
	for i, v := range v {
		along[y.at[i]] += y.along[i] * v
	}
	y.rest.solve(along)
	for i, by := range y.along {
		step[i] = by * along[y.at[i]]
	}
	y.divide(step)
	floats.Add(v, step)
}

// divide multiplies by M^-1.
func (y *wide) divide(v []float64) {
	image, back := make([]float64, y.s.x.Rows()), make([]float64, len(v))
	floats.Div(v, y.second)
	y.s.image(y.features, v, y.root, image)
	y.factor.solve(image)
	y.s.products(y.features, image, y.root, back)
	for i, b := range back {
		v[i] -= b / y.second[i]
	}
}

// definite is the factor of a positive semidefinite matrix, scaled until its diagonal is 1.
type definite struct{ h, d, root []float64 }

// dependent is the share of its diagonal entry up to which a pivot is that of a column that depends on those before it,
// and slight the share that it is taken for: a solution then is long in a direction without curvature.
const dependent, slight = 1e-12, 1e-10

// factorise factors the matrix whose lower triangle is h, by columns, which it keeps.
func factorise(n int, h []float64, pivot float64) *definite {
	f, sign := &definite{h, make([]float64, n), make([]float64, n)}, make([]int8, n)
	for i := range n {
		sign[i], f.root[i] = 1, 1
		if v := h[i*n+i]; v > 0 {
			f.root[i] = 1 / math.Sqrt(v)
		}
	}
	for j := range n {
		for i := j; i < n; i++ {
			h[j*n+i] *= f.root[i] * f.root[j]
		}
	}
	dense.LDL(n, h, n, f.d, sign, dependent, pivot)
	return f
}

// solve puts the solution in the place of its right-hand side.
func (f *definite) solve(x []float64) {
	n := len(f.d)
	floats.Mul(x, f.root)
	dense.TrsvN(n, f.h, n, x)
	floats.Div(x, f.d)
	dense.TrsvT(n, f.h, n, x)
	floats.Mul(x, f.root)
}

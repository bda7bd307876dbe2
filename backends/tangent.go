package backends

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// tangents are the cones of a problem linearised at a solution. With D the derivative of the projection onto the cone
// at s - z, changes of s and z meet (I - D) ds + D dz = 0, which is, with unknowns u of a sign each,
//
//	dz = E'u,  E ds = B u,
//
// for B symmetric, and negative semidefinite where no unknown is positive. In the eigenvectors of D = V diag(d) V' it
// has E = sqrt(I - diag(d)) V' and B = -diag(d), without the rows of d = 1, where dz = 0.
type tangents struct {
	sign  []int8
	of    [][]coupling // for each row of A its column of E
	block *Triplets    // B, the upper triangle
	kinks []int        // the first rows of cones without D
}

type coupling struct {
	unknown int
	factor  float64
}

// unknown adds one, with its entry on the diagonal of B.
func (t *tangents) unknown(sign int8, diagonal float64) int {
	u := len(t.sign)
	t.sign = append(t.sign, sign)
	t.block.Add(u, u, diagonal)
	return u
}

// couple adds an entry of E.
func (t *tangents) couple(row, unknown int, factor float64) {
	if factor != 0 {
		t.of[row] = append(t.of[row], coupling{unknown, factor})
	}
}

// active keeps ds = 0 in a row.
func (t *tangents) active(row int) { t.couple(row, t.unknown(-1, 0), 1) }

// mayKink notes a cone at which s and z, of a size that a solver can tell from zero or not, are not strictly
// complementary: both vanish.
func (t *tangents) mayKink(first int, s, z float64) {
	if n := len(t.kinks); unclear(s, z) && (n == 0 || t.kinks[n-1] != first) {
		t.kinks = append(t.kinks, first)
	}
}

// The larger of two complementary numbers is so many times the other one, and not below what solvers leave of zero.
const clearRatio, clearSize = 10, 1e-7

func unclear(s, z float64) bool {
	s, z = math.Abs(s), math.Abs(z)
	return !(max(s, z) > clearRatio*min(s, z)) || max(s, z) < clearSize
}

// The tangent functions of the cones, for a family each, take s and z in units in which they are comparable.

// tangentInterval has a row for each bound that is met, s being the distances from the nearest bounds.
func tangentInterval(c Cone, t *tangents, first int, s, z []float64) {
	for i := range s {
		low, high := c.interval(i)
		if low < high {
			t.mayKink(first+i, s[i], z[i])
		}
		if math.Abs(z[i]) > s[i] || low == high {
			t.active(first + i)
		}
	}
}

// tangentSecondOrder has D = aI + (1-a)ff' - agg' on the cone's boundary, with the unit vector w along the tail of
// v = s - z, f = (1, w)/sqrt 2, g = (1, -w)/sqrt 2 and a = (1 + v_0/|v_1|)/2. Two further unknowns stand for f and g.
func tangentSecondOrder(_ Cone, t *tangents, first int, s, z []float64) {
	n := len(s)
	v := floats.SubTo(make([]float64, n), s, z)
	size := norm2(v[1:])
	if n > 1 && size > 0 {
		high, low := [2]float64{s[0], z[0]}, [2]float64{s[0], z[0]}
		for i, x := range v[1:] {
			for k, y := range [2]float64{s[i+1], z[i+1]} {
				high[k] += x / size * y
				low[k] -= x / size * y
			}
		}
		t.mayKink(first, high[0], high[1])
		t.mayKink(first, low[0], low[1])
	} else {
		t.mayKink(first, s[0], z[0])
	}
	if v[0] >= size {
		return
	}
	a := 0.0
	if v[0] > -size {
		a = (1 + v[0]/size) / 2
	}
	from := len(t.sign)
	for i := range n {
		t.couple(first+i, t.unknown(-1, -a), math.Sqrt(1-a))
	}
	if a == 0 {
		return
	}
	f, g := t.unknown(1, 0), t.unknown(-1, -1)
	t.block.Add(from, f, math.Sqrt2/2)
	t.block.Add(from, g, math.Sqrt(a/2))
	for i, x := range v[1:] {
		t.block.Add(from+1+i, f, x/size*math.Sqrt2/2)
		t.block.Add(from+1+i, g, -x/size*math.Sqrt(a/2))
	}
}

// tangentPSD has the eigenvectors (q_i q_j' + q_j q_i')/sqrt 2 of D, with q those of S - Z.
func tangentPSD(_ Cone, t *tangents, first int, s, z []float64) {
	n := PSDOrder(len(s))
	t.matrices(first, n, s, z, func(at, unknown int, factor float64) { t.couple(first+at, unknown, factor) })
}

// matrices does that for matrices of order n in svec form, and tells the entries of E.
func (t *tangents) matrices(first, n int, s, z []float64, couple func(at, unknown int, factor float64)) {
	v := floats.SubTo(make([]float64, len(s)), s, z)
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric(v, n, 1), true) {
		t.kinks = append(t.kinks, first)
		return
	}
	values := eigen.Values(nil)
	var q mat.Dense
	eigen.VectorsTo(&q)
	big, small := symmetric(s, n, 1), symmetric(z, n, 1)
	for i := range n {
		t.mayKink(first, mat.Inner(q.ColView(i), big, q.ColView(i)), mat.Inner(q.ColView(i), small, q.ColView(i)))
	}
	for i := range n {
		for j := range i + 1 {
			high, low := max(values[i], values[j]), min(values[i], values[j])
			d := 0.0
			switch {
			case low > 0:
				continue
			case high > 0:
				d = high / (high - low)
			}
			u, at := t.unknown(-1, -d), 0
			for b := range n {
				for a := b; a < n; a++ {
					f := q.At(a, i) * q.At(b, j)
					if i != j {
						f = (f + q.At(a, j)*q.At(b, i)) / math.Sqrt2
					}
					if a != b {
						f *= math.Sqrt2
					}
					couple(at, u, math.Sqrt(1-d)*f)
					at++
				}
			}
		}
	}
}

// tangentNuclear has the matrix [W1 X; X' W2], whose W1 and W2 are unknowns, in the semidefinite cone, and
// t - (tr W1 + tr W2)/2 >= 0. With X = U diag(x) V' these are U diag(x) U' and V diag(x) V', and the multiplier of the
// matrix is half of [g Y; Y' g].
func tangentNuclear(c Cone, t *tangents, first int, s, z []float64) {
	n := c.Rows + c.Cols
	svd, ok := c.decompose(s[1:], 1, mat.SVDThin)
	if !ok {
		t.kinks = append(t.kinks, first)
		return
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	sizes := svd.Values(nil)
	slack := s[0]
	for _, x := range sizes {
		slack -= x
	}
	t.mayKink(first, slack, z[0])
	if slack > z[0] {
		return
	}
	var bigS, bigZ []float64
	head := t.unknown(-1, 0)
	t.couple(first, head, 1)
	var place []int // of an entry: its row, or -1 - the unknown in W
	for b := range n {
		for a := b; a < n; a++ {
			factor := math.Sqrt2
			if a == b {
				factor = 1
			}
			if b < c.Rows && a >= c.Rows {
				at := 1 + (a-c.Rows)*c.Rows + b
				bigS, bigZ = append(bigS, factor*s[at]), append(bigZ, factor*z[at]/2)
				place = append(place, first+at)
				continue
			}
			sum, from, i, j := 0.0, &u, a, b
			if b >= c.Rows {
				from, i, j = &v, a-c.Rows, b-c.Rows
			}
			for k, x := range sizes {
				sum += x * from.At(i, k) * from.At(j, k)
			}
			w := t.unknown(1, 0)
			place = append(place, -1-w)
			if bigS, bigZ = append(bigS, factor*sum), append(bigZ, 0); a == b {
				bigZ[len(bigZ)-1] = z[0] / 2
				t.block.Add(head, w, 0.5)
			}
		}
	}
	t.matrices(first, n, bigS, bigZ, func(at, unknown int, factor float64) {
		if place[at] < 0 {
			t.block.Add(-1-place[at], unknown, -factor)
			return
		}
		t.couple(place[at], unknown, math.Sqrt2*factor)
	})
}

// boundary is what a cone has at a point of its smooth boundary, where z = -nu n with the outer normal n.
type boundary struct {
	// inside is about how far s is from the boundary of the cone, or of its dual.
	inside func(c Cone, s []float64, dual bool) float64
	// curvature returns N with dz = -N ds along the boundary.
	curvature func(c Cone, s, z []float64) *mat.SymDense
}

// tangent linearises the cone or, by Moreau's D = I - D* with s and z exchanged, its dual. A projection ds of dv onto
// the boundary is the solution of ds + N ds + n = dv, z'ds = 0 for a multiple n of z:
//
//	D = G - Gzz'G/z'Gz,  G = (I + N)^-1.
func (k boundary) tangent(dual bool) func(c Cone, t *tangents, first int, s, z []float64) {
	return func(c Cone, t *tangents, first int, s, z []float64) {
		if dual {
			s, z = z, s
		}
		n := len(s)
		d := mat.NewSymDense(n, nil)
		sizeS, sizeZ, insideS, insideZ := norm2(s), norm2(z), k.inside(c, s, false), k.inside(c, z, true)
		t.mayKink(first, insideS, sizeZ)
		t.mayKink(first, sizeS, insideZ)
		switch {
		case insideS > sizeZ:
			for i := range n {
				d.SetSym(i, i, 1)
			}
		case sizeS > insideZ:
			bend := k.curvature(c, s, z)
			for i := range n {
				bend.SetSym(i, i, bend.At(i, i)+1)
			}
			var factor mat.Cholesky
			along := mat.NewVecDense(n, nil)
			if !factor.Factorize(bend) || factor.InverseTo(d) != nil {
				t.kinks = append(t.kinks, first)
				d.Zero()
				break
			}
			normal := mat.NewVecDense(n, append([]float64(nil), z...))
			along.MulVec(d, normal)
			d.SymRankOne(d, -1/mat.Dot(along, normal), along)
		}
		t.dense(first, d, dual)
	}
}

// dense adds D, or I - D, of a few rows.
func (t *tangents) dense(first int, d *mat.SymDense, complement bool) {
	var eigen mat.EigenSym
	if !eigen.Factorize(d, true) {
		t.kinks = append(t.kinks, first)
		return
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	for k, value := range eigen.Values(nil) {
		rest := min(1, max(0, 1-value))
		if complement {
			rest = 1 - rest
		}
		if rest < 1e-12 {
			continue
		}
		u := t.unknown(-1, rest-1)
		for i := range v.RawMatrix().Rows {
			t.couple(first+i, u, math.Sqrt(rest)*v.At(i, k))
		}
	}
}

// nearZero is what stands for entries that are zero or, by rounding, less.
const nearZero = 1e-13

// exponentialBoundary is u + v log(v/w) = 0.
var exponentialBoundary = boundary{
	inside: func(_ Cone, s []float64, dual bool) float64 {
		v, w := max(s[1], nearZero), max(s[2], nearZero)
		if dual { // -v - u (log(-u/w) - 1) = 0
			u := max(-s[0], nearZero)
			log := math.Log(u / w)
			return min(-s[0], (s[1]-u*(log-1))/norm2([]float64{1, log, u / w}))
		}
		log := math.Log(v / w)
		return min(s[1], -(s[0]+v*log)/norm2([]float64{1, 1 + log, v / w}))
	},
	curvature: func(_ Cone, s, z []float64) *mat.SymDense {
		v, w := max(s[1], nearZero), max(s[2], nearZero)
		n := mat.NewSymDense(3, nil)
		if max(v, w) < clearSize*-s[0] { // on the ray (-1, 0, 0), where the cone is v, w >= 0
			return mat.NewSymDense(3, []float64{0, 0, 0, 0, 1 / nearZero, 0, 0, 0, 1 / nearZero})
		}
		n.SymRankOne(n, max(0, -z[0])/v, mat.NewVecDense(3, []float64{0, 1, -v / w}))
		return n
	},
}

// powerBoundary is |y| = prod x_i^w_i, where z_i = |z_y| w_i prod x / x_i.
var powerBoundary = boundary{
	inside: func(c Cone, s []float64, dual bool) float64 {
		weights := c.exponents()
		k := len(weights)
		log := 0.0
		for i, w := range weights {
			if log += w * math.Log(max(s[i], nearZero)); dual {
				log -= w * math.Log(w)
			}
		}
		mean, slope := math.Exp(log), []float64{1}
		for i, w := range weights {
			slope = append(slope, w*mean/max(s[i], nearZero))
		}
		return (mean - norm2(s[k:])) / norm2(slope)
	},
	curvature: func(c Cone, s, z []float64) *mat.SymDense {
		k := len(c.exponents())
		n := mat.NewSymDense(len(s), nil)
		sum := 0.0
		head, tail := mat.NewVecDense(len(s), nil), mat.NewVecDense(len(s), nil)
		for i := range k {
			x := max(s[i], nearZero)
			head.SetVec(i, max(0, z[i]))
			sum += x * head.AtVec(i)
			n.SetSym(i, i, head.AtVec(i)/x)
		}
		if sum > 0 {
			n.SymRankOne(n, -1/sum, head)
		}
		if size := norm2(s[k:]); size > nearZero {
			bend := norm2(z[k:]) / size
			for i := k; i < len(s); i++ {
				n.SetSym(i, i, bend)
				tail.SetVec(i, s[i]/size)
			}
			n.SymRankOne(n, -bend, tail)
		}
		return n
	},
}

// exponents are those of a power cone.
func (c Cone) exponents() []float64 {
	if c.Weights != nil {
		return c.Weights
	}
	return []float64{c.Alpha, 1 - c.Alpha}
}

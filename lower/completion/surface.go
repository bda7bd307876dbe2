package completion

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/lower/design"
)

// tangent is a direction or a gradient in the factors A (m x k) and B (n x k) of a completion, both by rows, and
// in the coefficients of the groups in use, S.
type tangent struct{ A, B, S []float64 }

// dot is the inner product.
func (t tangent) dot(u tangent) float64 {
	return floats.Dot(t.A, u.A) + floats.Dot(t.B, u.B) + floats.Dot(t.S, u.S)
}

func (t tangent) clear() {
	clear(t.A)
	clear(t.B)
	clear(t.S)
}

// add is t += a u.
func (t tangent) add(a float64, u tangent) {
	floats.AddScaled(t.A, a, u.A)
	floats.AddScaled(t.B, a, u.B)
	floats.AddScaled(t.S, a, u.S)
}

func (t tangent) scale(a float64) {
	floats.Scale(a, t.A)
	floats.Scale(a, t.B)
	floats.Scale(a, t.S)
}

func (t tangent) copy() tangent {
	return tangent{slices.Clone(t.A), slices.Clone(t.B), slices.Clone(t.S)}
}

// surface is the smooth objective around a point of a completion, in (A, B, b_S),
//
//	F = |r|^2 / (2N) + w_0 (|A|^2 + |B|^2) / 2 + sum_g w_g |b_g|,   r = y - X b - (A B')_known - b0,
//
// where S are the coefficients of the groups in use. F does not change when A and B are turned by the same rotation, so
// that its Hessian has a kernel; gradients of functions of A B' are orthogonal to it, up to rounding. Where the
// gradient of F is not quite zero, the kernel is not quite one and rounding in it would grow without bound: the
// Hessian gets a term that holds the rotation, see [surface.conjugate].
type surface struct {
	c       *Problem
	nuclear float64
	norm    []float64
	rank    int
	a, b    []float64 // the factors by rows
	x, r    []float64 // coefficients and residual
	set     []int     // S
	active  []int     // its groups

	// The inverses of the diagonal blocks of the Hessian without the residual, for each row of A and of B,
	// by rows, and the factor of the block of S, or its diagonal where S is large: a preconditioner.
	formed           bool
	blocksA, blocksB []float64
	coefficients     factor.Cholesky
	diagonal         []float64
	holds            []float64 // the weights of the term that holds the rotation, one for each pair of columns
}

// newSurface is that around a point with the coefficients x and the residual r.
func (c *Problem) newSurface(nuclear float64, norm []float64, left, right *mat.Dense, x, r []float64) *surface {
	f := &surface{c: c, nuclear: nuclear, norm: norm, x: x, r: r}
	if left != nil {
		_, f.rank = left.Dims()
		f.a, f.b = mat.DenseCopyOf(left).RawMatrix().Data, mat.DenseCopyOf(right).RawMatrix().Data
	}
	for k, group := range c.groups.Members {
		if c.groups.Size(k, x) == 0 {
			continue
		}
		f.active = append(f.active, k)
		for _, j := range group {
			if c.groups.Norm2[j] > 0 {
				f.set = append(f.set, j)
			}
		}
	}
	return f
}

// zero returns a zero tangent.
func (f *surface) zero() tangent {
	return tangent{make([]float64, f.c.m*f.rank), make([]float64, f.c.n*f.rank), make([]float64, len(f.set))}
}

// row is row i of a factor.
func (f *surface) row(a []float64, i int) []float64 { return a[i*f.rank : (i+1)*f.rank] }

// push returns the change of the model X b + (A B')_known along t at other entries: of the rows x of
// features and the places row, col. Without an intercept it is the derivative of the predictions.
func (f *surface) push(t tangent, x *design.Matrix, row, col []int) []float64 {
	out := make([]float64, len(row))
	for i, j := range f.set {
		if t.S[i] != 0 {
			x.Axpy(t.S[i], j, out)
		}
	}
	for k := range out {
		i, j := row[k], col[k]
		ta, b, a, tb := f.row(t.A, i), f.row(f.b, j), f.row(f.a, i), f.row(t.B, j)
		sum := 0.0
		for l, v := range ta { // short: the rank
			sum += v*b[l] + a[l]*tb[l]
		}
		out[k] += sum
	}
	return out
}

// pull is the transpose of [surface.push]: it adds a times the change of <v, X b + (A B')_known> to g.
func (f *surface) pull(g tangent, a float64, v []float64, x *design.Matrix, row, col []int) {
	for k, w := range v {
		f.cross(g, a*w, row[k], col[k], f.a, f.b)
	}
	for i, j := range f.set {
		g.S[i] += a * x.Dot(j, v)
	}
}

// cross adds w times row j of b to row i of A, and w times row i of a to row j of B.
func (f *surface) cross(g tangent, w float64, i, j int, a, b []float64) {
	ga, gb, ra, rb := f.row(g.A, i), f.row(g.B, j), f.row(a, i), f.row(b, j)
	for l := range ga {
		ga[l] += w * rb[l]
		gb[l] += w * ra[l]
	}
}

// centre takes the mean away if there is an intercept.
func (f *surface) centre(v []float64) {
	if f.c.groups.Intercept {
		floats.AddConst(-floats.Sum(v)/float64(len(v)), v)
	}
}

// gradient of F: the residual has mean 0 where there is an intercept.
func (f *surface) gradient() tangent {
	g, c := f.zero(), f.c
	f.pull(g, -1/float64(len(f.r)), f.r, c.groups.X, c.row, c.col)
	floats.AddScaled(g.A, f.nuclear, f.a)
	floats.AddScaled(g.B, f.nuclear, f.b)
	for i, j := range f.set {
		k := c.groups.Of[j]
		g.S[i] += f.norm[k] * f.x[j] / c.groups.Size(k, f.x)
	}
	return g
}

// hessian returns the second derivative of F along t. With dr = -(X t_S + (t_A B' + A t_B')_known),
//
//	dA_i = -1/N sum_{j} (dr_ij B_j + r_ij t_B_j) + w_0 t_A_i,   dB_j likewise,
//	db_S = -1/N X_S'dr + w_g (t_g / |b_g| - b_g b_g't_g / |b_g|^3).
func (f *surface) hessian(t tangent) tangent {
	out, c, n := f.zero(), f.c, float64(len(f.r))
	change := f.push(t, c.groups.X, c.row, c.col)
	f.centre(change)
	f.pull(out, 1/n, change, c.groups.X, c.row, c.col)
	for k, v := range f.r {
		f.cross(out, -v/n, c.row[k], c.col[k], t.A, t.B)
	}
	floats.AddScaled(out.A, f.nuclear, t.A)
	floats.AddScaled(out.B, f.nuclear, t.B)
	at := 0
	for _, k := range f.active {
		size, inner, from := c.groups.Size(k, f.x), 0.0, at
		for ; at < len(f.set) && c.groups.Of[f.set[at]] == k; at++ {
			inner += f.x[f.set[at]] * t.S[at]
		}
		for i := from; i < at; i++ {
			out.S[i] += f.norm[k] * (t.S[i]/size - f.x[f.set[i]]*inner/(size*size*size))
		}
	}
	return out
}

// hold adds the term that holds the rotation to the product of the Hessian with t: for a skew matrix W the direction
// (A W, B W) turns both factors, and t has along it <W, A't_A + B't_B>. The sum over pairs p < q of columns, each with the square
// of its part and the weight w_0 / |(A, B)_p, (A, B)_q|^2, has eigenvalues near w_0 on the rotations if A'A and
// B'B are diagonal, and is zero on what is orthogonal to them.
func (f *surface) hold(out, t tangent) {
	k := f.rank
	if k < 2 {
		return
	}
	if f.holds == nil {
		size := make([]float64, k)
		for i, v := range f.a {
			size[i%k] += v * v
		}
		for i, v := range f.b {
			size[i%k] += v * v
		}
		f.holds = make([]float64, k*k)
		for p := range k {
			for q := range k {
				f.holds[p*k+q] = f.nuclear / (size[p] + size[q])
			}
		}
	}
	turn := make([]float64, k*k)
	gather := func(factor, part []float64) {
		for at := 0; at < len(factor); at += k {
			for p, v := range factor[at : at+k] {
				for q, w := range part[at : at+k] {
					turn[p*k+q] += v * w
				}
			}
		}
	}
	gather(f.a, t.A)
	gather(f.b, t.B)
	for p := range k {
		turn[p*k+p] = 0
		for q := range p {
			w := f.holds[p*k+q] * (turn[p*k+q] - turn[q*k+p])
			turn[p*k+q], turn[q*k+p] = w, -w
		}
	}
	spread := func(to, factor []float64) {
		for at := 0; at < len(factor); at += k {
			for p, v := range factor[at : at+k] {
				for q, w := range turn[p*k : (p+1)*k] {
					to[at+q] += v * w
				}
			}
		}
	}
	spread(out.A, f.a)
	spread(out.B, f.b)
}

// pullMean adds a times the derivative of the mean of X b + (A B')_known over the training entries to g.
func (f *surface) pullMean(g tangent, a float64) {
	ones := make([]float64, len(f.r))
	for i := range ones {
		ones[i] = 1
	}
	f.pull(g, a/float64(len(ones)), ones, f.c.groups.X, f.c.row, f.c.col)
}

// weightDerivatives returns the products of t with the derivatives of the gradient of F in w_0, which is (A, B, 0), and in
// each w_g, which is b_g / |b_g|, zero for groups that are not in use.
func (f *surface) weightDerivatives(t tangent) (nuclear float64, groups []float64) {
	groups = make([]float64, len(f.c.groups.Members))
	for i, j := range f.set {
		k := f.c.groups.Of[j]
		groups[k] += t.S[i] * f.x[j] / f.c.groups.Size(k, f.x)
	}
	return floats.Dot(t.A, f.a) + floats.Dot(t.B, f.b), groups
}

package completion

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/lower"
)

// factored is a point of a [Joint] with the weights of an objective, which on the factors and on the groups in use, S, is smooth:
//
//	F = sum over sets of w/2 |r|^2 + rho/2 (|A B' - C|^2 + |b - c|^2 + (b0 - c0)^2) + m_0 (|A|^2 + |B|^2) / 2 + sum_g m_g |b_g|.
//
// Tangents have b0 as the last entry of S. See [surface] for the kernel of the Hessian.
type factored struct {
	j    *Joint
	end  stop.Stop
	k    int       // columns
	a, b []float64 // m x k and n x k by rows
	x    []float64
	b0   float64
	r    [2][]float64 // y - X b - G - b0 of the sets with a weight

	w       [2]float64 // of an entry
	rho     float64
	nuclear float64
	norm    []float64
	kc      int // columns of C
	ca, cb  []float64
	cx      []float64
	c0      float64

	set    []int // S
	active []int // its groups
	blocks *blocks
	holds  []float64
	work   [2][]float64
}

func newFactored(j *Joint) *factored {
	f := &factored{j: j, x: make([]float64, j.p), cx: make([]float64, j.p), norm: make([]float64, len(j.members))}
	for s, of := range j.sides {
		f.r[s], f.work[s] = make([]float64, len(of.y)), make([]float64, len(of.y))
	}
	return f
}

func (f *factored) side(s int) *side { return f.j.sides[s] }

// take goes to a point.
func (f *factored) take(x [][]float64) {
	at := 0
	for i := range f.j.parts {
		at += copy(f.x[at:], x[i])
	}
	factors := x[len(f.j.parts)]
	f.setFactors(f.j.columns(x), slices.Clone(factors))
	if f.j.intercept {
		f.b0 = x[len(f.j.parts)+1][0]
	}
}

// setFactors takes A and B, one after the other.
func (f *factored) setFactors(k int, both []float64) {
	cut := f.j.m * k
	f.k, f.a, f.b, f.blocks = k, both[:cut:cut], both[cut:], nil
}

// point is the point, in new slices.
func (f *factored) point() [][]float64 {
	var out [][]float64
	at := 0
	for _, n := range f.j.parts {
		out = append(out, slices.Clone(f.x[at:at+n]))
		at += n
	}
	out = append(out, f.j.join(f.k, f.a, f.b))
	if f.j.intercept {
		out = append(out, []float64{f.b0})
	}
	return out
}

// weigh takes the weights of an objective.
func (f *factored) weigh(w *lower.JointWeights) {
	for s, v := range [2]float64{w.Validation, w.Train} {
		f.w[s] = 0
		if n := len(f.side(s).y); n > 0 {
			f.w[s] = v / float64(n)
		}
	}
	f.nuclear, f.rho = w.Penalties[0], w.Rho
	copy(f.norm, w.Penalties[1:])
	f.kc, f.ca, f.cb, f.c0 = 0, nil, nil, 0
	if f.rho > 0 {
		c := w.Centre
		at := 0
		for i := range f.j.parts {
			at += copy(f.cx[at:], c[i])
		}
		f.kc = f.j.columns(c)
		both := c[len(f.j.parts)]
		f.ca, f.cb = both[:f.j.m*f.kc], both[f.j.m*f.kc:]
		if f.j.intercept {
			f.c0 = c[len(f.j.parts)+1][0]
		}
	}
}

// refresh computes the residuals of the sets with a weight.
func (f *factored) refresh() {
	for s := range f.r {
		if f.w[s] > 0 {
			f.residual(s)
		}
	}
}

func (f *factored) residual(s int) {
	of, r := f.side(s), f.r[s]
	copy(r, of.y)
	for l, v := range f.x {
		if v != 0 {
			of.x.Axpy(-v, l, r)
		}
	}
	if f.b0 != 0 {
		floats.AddConst(-f.b0, r)
	}
	if k := f.k; k > 0 {
		for e, i := range of.row {
			c := of.col[e]
			r[e] -= inner(f.a[i*k:(i+1)*k], f.b[c*k:(c+1)*k])
		}
	}
}

// kernelLength is the length from which on the kernels of internal/dense pay for their calls.
const kernelLength = 8

func inner(a, b []float64) float64 {
	if len(a) >= kernelLength {
		return dense.Dot(a, b)
	}
	sum := 0.0
	for l, v := range a {
		sum += v * b[l]
	}
	return sum
}

func addScaled(to []float64, c float64, a []float64) {
	if len(a) >= kernelLength {
		dense.Axpy(c, a, to)
		return
	}
	for l, v := range a {
		to[l] += c * v
	}
}

// loss is half the mean squared residual of a set, whatever its weight.
func (f *factored) loss(s int) float64 {
	n := len(f.r[s])
	if n == 0 {
		return 0
	}
	if f.w[s] == 0 {
		f.residual(s)
	}
	return floats.Dot(f.r[s], f.r[s]) / (2 * float64(n))
}

// size is |b_g|_2.
func (f *factored) size(g int) float64 {
	sum := 0.0
	for _, l := range f.j.members[g] {
		sum += f.x[l] * f.x[l]
	}
	return math.Sqrt(sum)
}

// penalty is the nuclear norm of balanced factors.
func (f *factored) penalty() float64 { return (floats.Dot(f.a, f.a) + floats.Dot(f.b, f.b)) / 2 }

// apart is |G - C|^2 + |b - c|^2 + (b0 - c0)^2.
func (f *factored) apart() float64 {
	d := floats.Distance(f.x, f.cx, 2)
	sum := d*d + (f.b0-f.c0)*(f.b0-f.c0)
	g := func(a []float64, ka int, b []float64, kb int, c []float64, d []float64) float64 {
		return floats.Dot(gram(a, ka, b, kb), gram(c, ka, d, kb))
	}
	sum += g(f.a, f.k, f.a, f.k, f.b, f.b) - 2*g(f.a, f.k, f.ca, f.kc, f.b, f.cb) + g(f.ca, f.kc, f.ca, f.kc, f.cb, f.cb)
	return math.Max(0, sum)
}

// gram is A'B, k x l by rows, of matrices with as many rows.
func gram(a []float64, k int, b []float64, l int) []float64 {
	out := make([]float64, k*l)
	if k == 0 || l == 0 {
		return out
	}
	for i := range len(a) / k {
		row := b[i*l : (i+1)*l]
		for p, v := range a[i*k : (i+1)*k] {
			addScaled(out[p*l:(p+1)*l], v, row)
		}
	}
	return out
}

// addProduct adds c A M to a matrix by rows, with A of k columns and M k x l.
func addProduct(to []float64, c float64, a []float64, k int, m []float64, l int) {
	if k == 0 || l == 0 {
		return
	}
	for i := range len(a) / k {
		row := to[i*l : (i+1)*l]
		for p, v := range a[i*k : (i+1)*k] {
			addScaled(row, c*v, m[p*l:(p+1)*l])
		}
	}
}

// objective is F, of the residuals as they are.
func (f *factored) objective() float64 {
	sum := 0.0
	for s, w := range f.w {
		if w > 0 {
			sum += w / 2 * floats.Dot(f.r[s], f.r[s])
		}
	}
	if f.rho > 0 {
		sum += f.rho / 2 * f.apart()
	}
	sum += f.nuclear * f.penalty()
	for g, m := range f.norm {
		if m > 0 {
			sum += m * f.size(g)
		}
	}
	return sum
}

// use finds S.
func (f *factored) use() {
	f.set, f.active = f.set[:0], f.active[:0]
	for g, group := range f.j.members {
		if f.size(g) == 0 {
			continue
		}
		f.active = append(f.active, g)
		for _, l := range group {
			if f.rho > 0 || f.side(training).norm2[l] > 0 {
				f.set = append(f.set, l)
			}
		}
	}
}

func (f *factored) zero() tangent {
	n := len(f.set)
	if f.j.intercept {
		n++
	}
	return tangent{make([]float64, len(f.a)), make([]float64, len(f.b)), make([]float64, n)}
}

// correlations are w X_g'r - rho (b_g - c_g) over a group.
func (f *factored) correlations(group []int) []float64 {
	out := make([]float64, len(group))
	for i, l := range group {
		for s, w := range f.w {
			if w > 0 {
				out[i] += w * f.side(s).x.Dot(l, f.r[s])
			}
		}
		out[i] -= f.rho * (f.x[l] - f.cx[l])
	}
	return out
}

// gradient of F.
func (f *factored) gradient() tangent {
	g := f.zero()
	for s, w := range f.w {
		if w > 0 {
			f.pullSide(g, -w, s, f.r[s])
		}
	}
	if f.rho > 0 {
		addProduct(g.A, f.rho, f.a, f.k, gram(f.b, f.k, f.b, f.k), f.k)
		addProduct(g.A, -f.rho, f.ca, f.kc, gram(f.cb, f.kc, f.b, f.k), f.k)
		addProduct(g.B, f.rho, f.b, f.k, gram(f.a, f.k, f.a, f.k), f.k)
		addProduct(g.B, -f.rho, f.cb, f.kc, gram(f.ca, f.kc, f.a, f.k), f.k)
	}
	floats.AddScaled(g.A, f.nuclear, f.a)
	floats.AddScaled(g.B, f.nuclear, f.b)
	for i, l := range f.set {
		of := f.j.of[l]
		g.S[i] += f.norm[of]*f.x[l]/f.size(of) + f.rho*(f.x[l]-f.cx[l])
	}
	if f.j.intercept {
		g.S[len(f.set)] += f.rho * (f.b0 - f.c0)
	}
	return g
}

// pullSide adds c times the derivative of <v, X b + G + b0> over a set.
func (f *factored) pullSide(g tangent, c float64, s int, v []float64) {
	of, k := f.side(s), f.k
	if k > 0 {
		for e, i := range of.row {
			l, x := of.col[e], c*v[e]
			addScaled(g.A[i*k:(i+1)*k], x, f.b[l*k:(l+1)*k])
			addScaled(g.B[l*k:(l+1)*k], x, f.a[i*k:(i+1)*k])
		}
	}
	for i, l := range f.set {
		g.S[i] += c * of.x.Dot(l, v)
	}
	if f.j.intercept {
		g.S[len(f.set)] += c * floats.Sum(v)
	}
}

// hessian sets out to the second derivative of F along t.
func (f *factored) hessian(out, t tangent) {
	out.clear()
	k := f.k
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		of, change, r := f.side(s), f.work[s], f.r[s]
		shift := 0.0
		if f.j.intercept {
			shift = t.S[len(f.set)]
		}
		for e := range change {
			change[e] = shift
		}
		for i, l := range f.set {
			if t.S[i] != 0 {
				of.x.Axpy(t.S[i], l, change)
			}
		}
		if k > 0 {
			for e, i := range of.row {
				l := of.col[e]
				a, ta, b, tb := f.a[i*k:(i+1)*k], t.A[i*k:(i+1)*k], f.b[l*k:(l+1)*k], t.B[l*k:(l+1)*k]
				change[e] += inner(ta, b) + inner(a, tb)
				c, bend := w*change[e], -w*r[e]
				oa, ob := out.A[i*k:(i+1)*k], out.B[l*k:(l+1)*k]
				addScaled(oa, c, b)
				addScaled(oa, bend, tb)
				addScaled(ob, c, a)
				addScaled(ob, bend, ta)
			}
		}
		for i, l := range f.set {
			out.S[i] += w * of.x.Dot(l, change)
		}
		if f.j.intercept {
			out.S[len(f.set)] += w * floats.Sum(change)
		}
	}
	if f.rho > 0 && k > 0 {
		half := func(to, ta, a, tb, b, ca, cb []float64) {
			addProduct(to, f.rho, ta, k, gram(b, k, b, k), k)
			addProduct(to, f.rho, a, k, gram(tb, k, b, k), k)
			addProduct(to, f.rho, a, k, gram(b, k, tb, k), k)
			addProduct(to, -f.rho, ca, f.kc, gram(cb, f.kc, tb, k), k)
		}
		half(out.A, t.A, f.a, t.B, f.b, f.ca, f.cb)
		half(out.B, t.B, f.b, t.A, f.a, f.cb, f.ca)
	}
	floats.AddScaled(out.A, f.nuclear, t.A)
	floats.AddScaled(out.B, f.nuclear, t.B)
	at := 0
	for _, g := range f.active {
		size, along, from := f.size(g), 0.0, at
		for ; at < len(f.set) && f.j.of[f.set[at]] == g; at++ {
			along += f.x[f.set[at]] * t.S[at]
		}
		for i := from; i < at; i++ {
			out.S[i] += f.norm[g]*(t.S[i]/size-f.x[f.set[i]]*along/(size*size*size)) + f.rho*t.S[i]
		}
	}
	if f.j.intercept {
		out.S[len(f.set)] += f.rho * t.S[len(f.set)]
	}
	f.hold(out, t)
}

// hold holds the rotation of the factors, see [surface.hold].
func (f *factored) hold(out, t tangent) {
	k := f.k
	if k < 2 || f.nuclear == 0 {
		return
	}
	if len(f.holds) != k*k {
		size := make([]float64, k)
		for _, factor := range [][]float64{f.a, f.b} {
			for i, v := range factor {
				size[i%k] += v * v
			}
		}
		f.holds = make([]float64, k*k)
		for p := range k {
			for q := range k {
				if p != q {
					f.holds[p*k+q] = f.nuclear / math.Max(size[p]+size[q], math.SmallestNonzeroFloat64)
				}
			}
		}
	}
	turn := gram(f.a, k, t.A, k)
	floats.Add(turn, gram(f.b, k, t.B, k))
	for p := range k {
		turn[p*k+p] = 0
		for q := range p {
			w := f.holds[p*k+q] * (turn[p*k+q] - turn[q*k+p])
			turn[p*k+q], turn[q*k+p] = w, -w
		}
	}
	addProduct(out.A, 1, f.a, k, turn, k)
	addProduct(out.B, 1, f.b, k, turn, k)
}

// decompose is the singular value decomposition of G: orthonormal columns Q and P, and the values; scaled are the factors in the form Q S^1/2, P S^1/2.
func (f *factored) decompose() (vectors [2]*mat.Dense, values []float64, scaled [2]*mat.Dense) {
	qa, ra := orthogonal(mat.NewDense(f.j.m, f.k, f.a))
	qb, rb := orthogonal(mat.NewDense(f.j.n, f.k, f.b))
	var core mat.Dense
	core.Mul(ra, rb.T())
	var svd mat.SVD
	if !svd.Factorize(&core, mat.SVDThin) {
		return vectors, []float64{math.NaN()}, scaled
	}
	values = svd.Values(nil)
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	for s, side := range [2]struct{ q, turn *mat.Dense }{{qa, &u}, {qb, &v}} {
		vectors[s] = new(mat.Dense)
		vectors[s].Mul(side.q, side.turn)
		scaled[s] = mat.DenseCopyOf(vectors[s])
		scaled[s].Apply(func(_, l int, x float64) float64 { return x * math.Sqrt(values[l]) }, scaled[s])
	}
	return vectors, values, scaled
}

// blocks are a preconditioner: Cholesky factors of the diagonal blocks of the Hessian without the terms of the residual, k x k for each row of A and of B,
// or their diagonals where those take too much memory, and the factor or the diagonal of the block of S.
type blocks struct {
	rows         [2][]float64
	diagonal     bool
	weights      [4]float64
	set          []int
	coefficients factor.Cholesky
	last         []float64 // the diagonal, nil where the block was factored
}

const (
	// blocksMost bounds the entries of all blocks of rows.
	blocksMost = 1 << 25
	// blocksStale is the ratio of weights from which on blocks are formed anew.
	blocksStale = 1.5
)

// prepare forms the blocks where they are missing or of other weights.
func (f *factored) prepare() {
	w := [4]float64{f.w[0], f.w[1], f.rho, f.nuclear}
	if b := f.blocks; b != nil {
		fresh := slices.Equal(b.set, f.set)
		for i, v := range w {
			fresh = fresh && v <= blocksStale*b.weights[i] && b.weights[i] <= blocksStale*v
		}
		if fresh {
			return
		}
	}
	b := &blocks{weights: w, set: slices.Clone(f.set), diagonal: f.diagonalBlocks()}
	f.blocks, f.holds = b, nil
	for s := range b.rows {
		f.prepareRows(s)
	}
	f.prepareCoefficients(b)
}

// diagonalBlocks says whether blocks would take too much memory.
func (f *factored) diagonalBlocks() bool { return (f.j.m+f.j.n)*f.k*f.k > blocksMost }

// prepareRows forms the blocks of A or of B.
func (f *factored) prepareRows(s int) {
	if f.blocks == nil {
		f.blocks = &blocks{}
	}
	other, rows := f.b, f.j.m
	if s == 1 {
		other, rows = f.a, f.j.n
	}
	if f.blocks.diagonal {
		f.blocks.rows[s] = f.diagonals(s, rows, other)
	} else {
		f.blocks.rows[s] = f.cholesky(s, rows, other)
	}
}

// places are the rows of a factor and of the other one of the entries of a set.
func (f *factored) places(s, set int) (place, opposite []int) {
	of := f.side(set)
	if s == 0 {
		return of.row, of.col
	}
	return of.col, of.row
}

func (f *factored) diagonals(s, rows int, other []float64) []float64 {
	k := f.k
	out := make([]float64, rows*k)
	all := make([]float64, k)
	for i, v := range other {
		all[i%k] += v * v
	}
	for i := range out {
		out[i] = f.nuclear + f.rho*all[i%k]
	}
	for set, w := range f.w {
		place, opposite := f.places(s, set)
		for e, i := range place {
			if w == 0 {
				break
			}
			to := out[i*k : (i+1)*k]
			for l, v := range other[opposite[e]*k : (opposite[e]+1)*k] {
				to[l] += w * v * v
			}
		}
	}
	return out
}

func (f *factored) cholesky(s, rows int, other []float64) []float64 {
	k := f.k
	h := make([]float64, rows*k*k)
	common := gram(other, k, other, k)
	for set, w := range f.w {
		if w == 0 {
			continue
		}
		place, opposite := f.places(s, set)
		for e, i := range place {
			v, block := other[opposite[e]*k:(opposite[e]+1)*k], h[i*k*k:(i+1)*k*k]
			for p, x := range v {
				addScaled(block[p*k:p*k+p+1], w*x, v[:p+1])
			}
		}
	}
	for i := range rows {
		block := h[i*k*k : (i+1)*k*k]
		for p := range k {
			row := block[p*k : p*k+p+1]
			addScaled(row, f.rho, common[p*k:p*k+p+1])
			row[p] += f.nuclear
			whole := row[p]
			for q := range p {
				row[q] = (row[q] - inner(row[:q], block[q*k:q*k+q])) / block[q*k+q]
			}
			row[p] = math.Sqrt(math.Max(row[p]-inner(row[:p], row[:p]), 1e-14*whole+math.SmallestNonzeroFloat64))
		}
	}
	return h
}

func (f *factored) prepareCoefficients(b *blocks) {
	n := len(f.set)
	if f.j.intercept {
		n++
	}
	if n == 0 {
		return
	}
	p := f.j.p
	index := func(i int) int {
		if i < len(f.set) {
			return f.set[i]
		}
		return p
	}
	at := func(i, l int) float64 {
		sum := 0.0
		for s, w := range f.w {
			if w > 0 {
				sum += w * f.side(s).gram[index(i)][index(l)]
			}
		}
		if i == l {
			sum += f.rho
		}
		if i < len(f.set) && l < len(f.set) {
			g := f.j.of[f.set[i]]
			if g == f.j.of[f.set[l]] {
				size := f.size(g)
				sum -= f.norm[g] * f.x[f.set[i]] * f.x[f.set[l]] / (size * size * size)
				if i == l {
					sum += f.norm[g] / size
				}
			}
		}
		return sum
	}
	if p <= blockMost {
		trace := 0.0
		for i := range n {
			trace += at(i, i)
		}
		if b.coefficients.Factor(n, func(i, l int) float64 {
			if i == l {
				return at(i, i) + blockRidge*trace
			}
			return at(i, l)
		}) {
			return
		}
	}
	b.last = make([]float64, n)
	for i := range b.last {
		b.last[i] = f.rho
		for s, w := range f.w {
			if i < len(f.set) {
				b.last[i] += w * f.side(s).norm2[f.set[i]]
			} else {
				b.last[i] += w * float64(len(f.side(s).y))
			}
		}
		if i < len(f.set) {
			b.last[i] += f.norm[f.j.of[f.set[i]]] / f.size(f.j.of[f.set[i]])
		}
		b.last[i] = math.Max(b.last[i], math.SmallestNonzeroFloat64)
	}
}

// solveRows solves with the Cholesky factors of all rows.
func (f *factored) solveRows(to, factors []float64) {
	k := f.k
	for i := range len(to) / max(k, 1) {
		v, l := to[i*k:(i+1)*k], factors[i*k*k:(i+1)*k*k]
		for p := range k {
			v[p] = (v[p] - inner(l[p*k:p*k+p], v[:p])) / l[p*k+p]
		}
		for p := k - 1; p >= 0; p-- {
			v[p] /= l[p*k+p]
			addScaled(v[:p], -v[p], l[p*k:p*k+p])
		}
	}
}

// precondition returns M^-1 t.
func (f *factored) precondition(t tangent) tangent {
	out := f.zero()
	f.preconditionTo(out, t)
	return out
}

// preconditionTo sets out to M^-1 t.
func (f *factored) preconditionTo(out, t tangent) {
	b := f.blocks
	copy(out.A, t.A)
	copy(out.B, t.B)
	copy(out.S, t.S)
	for s, to := range [][]float64{out.A, out.B} {
		if b.diagonal {
			floats.Div(to, b.rows[s])
			continue
		}
		f.solveRows(to, b.rows[s])
	}
	switch {
	case len(out.S) == 0:
	case b.last != nil:
		floats.Div(out.S, b.last)
	default:
		b.coefficients.Solve(out.S)
	}
}

// conjugate returns t with H t = q, see [surface.conjugate].
func (f *factored) conjugate(q tangent, tol float64, steps int) tangent {
	t, res := f.zero(), q.copy()
	z, hd := f.precondition(res), f.zero()
	d := z.copy()
	rz := res.dot(z)
	first := rz
	for step := range steps {
		if !(rz > tol*tol*first) || f.end.Look() {
			break
		}
		f.hessian(hd, d)
		curvature := d.dot(hd)
		if !(curvature > 1e-14*math.Abs(d.dot(res))) {
			if step == 0 {
				t.add(1, d)
			} else if curvature < 0 {
				t.add(math.Min(rz/-curvature, 1), d)
			}
			break
		}
		alpha := rz / curvature
		t.add(alpha, d)
		res.add(-alpha, hd)
		f.preconditionTo(z, res)
		next := res.dot(z)
		d.scale(next / rz)
		d.add(1, z)
		rz = next
	}
	return t
}

package completion

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

const (
	// coreHalvings bounds how often the step of a core is halved.
	coreHalvings = 12
	// coreSteps bounds the steps in the core between two of Newton's method.
	coreSteps = 3
)

// decomposition is the singular value decomposition of G: orthonormal columns Q and P, nil for none, and the values.
type decomposition struct {
	vectors [2]*mat.Dense
	values  []float64
}

// decompose is that of the factors, with a value that is NaN where it failed.
func (f *factored) decompose() *decomposition {
	if f.svd != nil {
		return f.svd
	}
	qa, ra := orthogonal(mat.NewDense(f.j.m, f.k, f.a))
	qb, rb := orthogonal(mat.NewDense(f.j.n, f.k, f.b))
	var core mat.Dense
	core.Mul(ra, rb.T())
	u, values, v := singular(&core)
	if u == nil {
		return &decomposition{values: []float64{math.NaN()}}
	}
	return &decomposition{[2]*mat.Dense{turned(qa, u), turned(qb, v)}, values}
}

// above has the values above a share of the largest.
func (d *decomposition) above(share float64) *decomposition {
	rank := 0
	for rank < len(d.values) && d.values[rank] > share*d.values[0] {
		rank++
	}
	return d.leading(rank)
}

// leading has the first values.
func (d *decomposition) leading(k int) *decomposition {
	out := &decomposition{values: d.values[:k]}
	if k > 0 {
		for s, a := range d.vectors {
			out.vectors[s] = mat.NewDense(a.RawMatrix().Rows, k, columnsOf(a, k))
		}
	}
	return out
}

// columnsOf are the first columns of a matrix, by rows.
func columnsOf(a *mat.Dense, k int) []float64 {
	return mat.DenseCopyOf(a.Slice(0, a.RawMatrix().Rows, 0, k)).RawMatrix().Data
}

// factors are Q S^1/2 and P S^1/2, nil for none.
func (d *decomposition) factors() (of [2]*mat.Dense) {
	for s, q := range d.vectors {
		if q != nil {
			of[s] = mat.DenseCopyOf(q)
			of[s].Apply(func(_, l int, x float64) float64 { return x * math.Sqrt(d.values[l]) }, of[s])
		}
	}
	return of
}

// balance takes A and B in this form.
func (f *factored) balance(d *decomposition) {
	var both []float64
	for _, a := range d.factors() {
		if a != nil {
			both = append(both, a.RawMatrix().Data...)
		}
	}
	f.setFactors(len(d.values), both)
	f.svd = d
}

// singular is a singular value decomposition, nil where there is none.
func singular(a *mat.Dense) (u *mat.Dense, values []float64, v *mat.Dense) {
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return nil, nil, nil
	}
	u, v = new(mat.Dense), new(mat.Dense)
	svd.UTo(u)
	svd.VTo(v)
	return u, svd.Values(nil), v
}

// turned is Q U, nil for no columns.
func turned(q, u *mat.Dense) *mat.Dense {
	if u == nil {
		return nil
	}
	rows, k := q.Dims()
	_, to := u.Dims()
	out := mat.NewDense(rows, to, nil)
	addProduct(out.RawMatrix().Data, 1, q.RawMatrix().Data, k, columnsOf(u, to), to)
	return out
}

// orthogonal returns Q and R of a QR decomposition, Q with as many columns as the lesser dimension.
func orthogonal(a *mat.Dense) (q, r *mat.Dense) {
	rows, k := a.Dims()
	if rows < k { // gonum wants tall ones
		q = mat.NewDense(rows, rows, nil)
		for i := range rows {
			q.Set(i, i, 1)
		}
		return q, a
	}
	q = mat.DenseCopyOf(a)
	tau, ask := make([]float64, k), make([]float64, 1)
	lapack64.Geqrf(q.RawMatrix(), tau, ask, -1)
	work := make([]float64, max(k, int(ask[0])))
	lapack64.Geqrf(q.RawMatrix(), tau, work, len(work))
	r = mat.NewDense(k, k, nil)
	for i := range k {
		for l := i; l < k; l++ {
			r.Set(i, l, q.At(i, l))
		}
	}
	lapack64.Orgqr(q.RawMatrix(), tau, ask, -1)
	work = make([]float64, max(k, int(ask[0])))
	lapack64.Orgqr(q.RawMatrix(), tau, work, len(work))
	return q, r
}

// times is T V or, transposed, T'V, by rows, with V of k columns, and T = R(w r) - rho (G - C).
func (f *factored) times(v []float64, k int, transposed bool) []float64 {
	rows := f.j.m
	if transposed {
		rows = f.j.n
	}
	out := make([]float64, rows*k)
	for s, w := range f.w {
		if w == 0 {
			continue
		}
		place, opposite := f.places(0, s)
		if transposed {
			place, opposite = opposite, place
		}
		of, r := f.side(s), f.r[s]
		of.entries(k, func(e int) {
			i, l := place[e], opposite[e]
			addScaled(out[i*k:(i+1)*k], w*r[e], v[l*k:(l+1)*k])
		})
	}
	if f.rho > 0 {
		a, b, ca, cb := f.a, f.b, f.ca, f.cb
		if transposed {
			a, b, ca, cb = b, a, cb, ca
		}
		addProduct(out, -f.rho, a, f.k, gram(b, f.k, v, k), k)
		addProduct(out, f.rho, ca, f.kc, gram(cb, f.kc, v, k), k)
	}
	return out
}

// shrink brings the factors into the form Q S^1/2, P S^1/2, and takes a proximal step in the core S of G = Q S P',
//
//	S <- prox(S + Q'TP / c),
//
// that of the nuclear norm: singular values fall by m_0 / c, and columns of those that come to nothing are left out.
// Newton's method on the factors would take them there by a third in each step only, as F is of fourth order in such a
// column. In the few directions of the core the curvature is about that of a matrix whose entries are all known with
// the same weight in all, c. It returns by how much the objective fell.
func (f *factored) shrink() (fell float64) {
	if f.k == 0 {
		return 0
	}
	d := f.decompose()
	values, q, p := d.values, d.vectors[0], d.vectors[1]
	if math.IsNaN(values[0]) {
		return 0
	}
	k := len(values)
	f.balance(d) // the same G, and residuals
	before := f.objective()
	core := gram(q.RawMatrix().Data, k, f.times(p.RawMatrix().Data, k, false), k)
	c := f.rho
	for s, w := range f.w {
		c += w * float64(len(f.r[s])) / float64(f.j.m*f.j.n)
	}
	for range coreHalvings {
		moved := mat.NewDense(k, k, nil)
		for i := range k {
			for l := range k {
				moved.Set(i, l, core[i*k+l]/c)
			}
			moved.Set(i, i, moved.At(i, i)+values[i])
		}
		u, after, v := singular(moved)
		if u == nil {
			break
		}
		rank := 0
		for rank < k && after[rank] > f.nuclear/c {
			after[rank] -= f.nuclear / c
			rank++
		}
		after = after[:rank]
		// What the quadratic model promises.
		change := mat.NewDense(k, k, nil)
		for l, x := range after {
			change.RankOne(change, x, u.ColView(l), v.ColView(l))
		}
		for i, x := range values {
			change.Set(i, i, change.At(i, i)-x)
		}
		to := change.RawMatrix().Data
		promise := floats.Dot(core, to) - c/2*floats.Dot(to, to) + f.nuclear*(floats.Sum(values)-floats.Sum(after))
		if !(promise > 1e-14*before) {
			break
		}
		turn := (&decomposition{[2]*mat.Dense{u, v}, after}).leading(rank).vectors
		f.balance(&decomposition{[2]*mat.Dense{turned(q, turn[0]), turned(p, turn[1])}, after})
		f.refresh()
		if fell = before - f.objective(); fell >= promise-1e-14*before {
			return fell
		}
		c *= 2
	}
	f.balance(d)
	f.refresh()
	return 0
}

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

// decomposition is the singular value decomposition of G whose factors are in the form Q S^1/2, P S^1/2: orthonormal
// columns Q and P, and the values.
type decomposition struct {
	vectors [2]*mat.Dense
	values  []float64
}

// decompose is the singular value decomposition of G: orthonormal columns Q and P, and the values; scaled are the
// factors in the form Q S^1/2, P S^1/2.
func (f *factored) decompose() (vectors [2]*mat.Dense, values []float64, scaled [2]*mat.Dense) {
	if d := f.svd; d != nil {
		return d.vectors, d.values, [2]*mat.Dense{mat.NewDense(f.j.m, f.k, f.a), mat.NewDense(f.j.n, f.k, f.b)}
	}
	qa, ra := orthogonal(mat.NewDense(f.j.m, f.k, f.a))
	qb, rb := orthogonal(mat.NewDense(f.j.n, f.k, f.b))
	var core mat.Dense
	core.Mul(ra, rb.T())
	u, values, v := singular(&core)
	if u == nil {
		return vectors, []float64{math.NaN()}, scaled
	}
	for s, side := range [2]struct{ q, turn *mat.Dense }{{qa, u}, {qb, v}} {
		vectors[s] = turned(side.q, side.turn)
		scaled[s] = scaledColumns(vectors[s], values)
	}
	return vectors, values, scaled
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

// turned is Q U.
func turned(q, u *mat.Dense) *mat.Dense {
	rows, k := q.Dims()
	_, to := u.Dims()
	out := mat.NewDense(rows, to, nil)
	addProduct(out.RawMatrix().Data, 1, q.RawMatrix().Data, k, columnsOf(u, k, to), to)
	return out
}

// scaledColumns is Q S^1/2.
func scaledColumns(q *mat.Dense, values []float64) *mat.Dense {
	out := mat.DenseCopyOf(q)
	out.Apply(func(_, l int, x float64) float64 { return x * math.Sqrt(values[l]) }, out)
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

// times is T V or, transposed, T'V, by rows, with V of k columns, and T as in [factored.apply].
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
		of.each(k, func(from, to int) {
			for at := from; at < to; at++ {
				e := of.entry(at)
				i, l := place[e], opposite[e]
				addScaled(out[i*k:(i+1)*k], w*r[e], v[l*k:(l+1)*k])
			}
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
	vectors, values, scaled := f.decompose()
	if math.IsNaN(values[0]) {
		return 0
	}
	k := len(values)
	q, p := vectors[0], vectors[1]
	f.takeBalanced(vectors, values, scaled) // the same G, and residuals
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
		d := change.RawMatrix().Data
		promise := floats.Dot(core, d) - c/2*floats.Dot(d, d) + f.nuclear*(floats.Sum(values)-floats.Sum(after))
		if !(promise > 1e-14*before) {
			break
		}
		if rank == 0 {
			f.setFactors(0, nil)
		} else {
			next := [2]*mat.Dense{turned(q, leading(u, k, rank)), turned(p, leading(v, k, rank))}
			f.takeBalanced(next, after, [2]*mat.Dense{scaledColumns(next[0], after), scaledColumns(next[1], after)})
		}
		f.refresh()
		if fell = before - f.objective(); fell >= promise-1e-14*before {
			return fell
		}
		c *= 2
	}
	f.takeBalanced(vectors, values, scaled)
	f.refresh()
	return 0
}

// takeBalanced takes A and B in the form Q S^1/2, P S^1/2.
func (f *factored) takeBalanced(vectors [2]*mat.Dense, values []float64, scaled [2]*mat.Dense) {
	f.takeFactors(scaled)
	f.svd = &decomposition{vectors, values}
}

// takeFactors takes A and B.
func (f *factored) takeFactors(of [2]*mat.Dense) {
	_, k := of[0].Dims()
	both := make([]float64, 0, (f.j.m+f.j.n)*k)
	f.setFactors(k, append(append(both, of[0].RawMatrix().Data...), of[1].RawMatrix().Data...))
}

package separable

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// nuclear is J D J' with the derivative D of a [matrix] and J taking its places: for places a = (i, j) and b = (k, l)
//
//	(J D J')_ab = sum_p u_ip w_bp^j + sum_p v_jp y_bp^i
//
// over the singular values p of Z above the threshold, where
//
//	w_bp^j = u_kp (sum_q e_pq v_jq v_lq) + v_lp (sum_q o_pq v_jq u_kq)   with all q,
//	y_bp^i = v_lp (sum_q e_pq u_iq u_kq) + u_kp (sum_q o_pq u_iq v_lq)   with the q that are not above it.
//
// Both are made for each column j and each row i once, at a price of the order of the rank times (m + n) N beside
// products of matrices of order m and n, and the rest is N products of N x rank matrices.
type nuclear struct {
	m, n       int
	row, col   []int
	rows, cols []int // those with places
	rank       int
	u, v       []float64         // U and V by columns
	ub, vb     []float64         // u_kp and v_lp of the places b, by columns
	w, y       map[int][]float64 // of each column, and of each row: N x rank, by columns, negative
	sums       [2][]float64      // work: sums over q, negative
	scaled     []float64         // work
}

func newNuclear(p *part, q *matrix) *nuclear {
	out := &nuclear{m: q.m, n: q.n, w: map[int][]float64{}, y: map[int][]float64{}}
	for _, at := range p.places {
		out.row, out.col = append(out.row, at/q.n), append(out.col, at%q.n)
	}
	distinct := func(list []int) []int {
		list = slices.Clone(list)
		slices.Sort(list)
		return slices.Compact(list)
	}
	out.rows, out.cols = distinct(out.row), distinct(out.col)
	top := max(q.m, q.n)
	out.u, out.v, out.scaled = make([]float64, q.m*q.m), make([]float64, q.n*q.n), make([]float64, top*top)
	out.sums = [2][]float64{make([]float64, top*top), make([]float64, top*top)}
	return out
}

// derive makes w and y for singular values cut by least.
func (d *nuclear) derive(z *spectrum, least float64) {
	byColumns(d.u, z.u)
	byColumns(d.v, z.v)
	d.rank = z.rank(least)
	N := len(d.row)
	d.ub, d.vb = resize(d.ub, N*d.rank), resize(d.vb, N*d.rank)
	for p := range d.rank {
		for b := range N {
			d.ub[b+p*N], d.vb[b+p*N] = d.u[d.row[b]+p*d.m], d.v[d.col[b]+p*d.n]
		}
	}
	for _, j := range d.cols {
		d.w[j] = resize(d.w[j], N*d.rank)
	}
	for _, i := range d.rows {
		d.y[i] = resize(d.y[i], N*d.rank)
	}
	few := min(d.m, d.n)
	for p := range d.rank {
		even := func(q int) float64 { e, _ := z.weights(p, q, least); return e }
		odd := func(q int) float64 { _, o := z.weights(p, q, least); return o }
		d.sum(d.sums[0], d.v, d.n, d.v, d.n, 0, d.n, even)
		d.sum(d.sums[1], d.u, d.m, d.v, d.n, 0, few, odd)
		d.gather(d.w, d.cols, p, side{d.ub, d.col, d.n}, side{d.vb, d.row, d.m})
		d.sum(d.sums[0], d.u, d.m, d.u, d.m, d.rank, d.m, even)
		d.sum(d.sums[1], d.v, d.n, d.u, d.m, d.rank, few, odd)
		d.gather(d.y, d.rows, p, side{d.vb, d.row, d.m}, side{d.ub, d.col, d.n})
	}
}

// sum sets to to minus the sum of weight(q) x_q y_q' from q = from on, with the columns of X and Y of so many rows.
func (d *nuclear) sum(to, x []float64, rows int, y []float64, cols, from, end int, weight func(q int) float64) {
	to = to[:rows*cols]
	clear(to)
	if end <= from {
		return
	}
	for q := from; q < end; q++ {
		f := weight(q)
		column := d.scaled[(q-from)*rows : (q-from+1)*rows]
		for i, v := range x[q*rows : (q+1)*rows] {
			column[i] = f * v
		}
	}
	dense.GemmNT(rows, cols, end-from, d.scaled, rows, y[from*cols:], cols, to, rows)
}

// side is a factor at the places, by columns, and the index of each of them in a column of a sum of that length.
type side struct {
	factor []float64
	index  []int
	length int
}

// gather sets column p of to, for each of the lines: the factor of the one side times its entry in the line's column of
// the first sum, and the same of the other side with the second.
func (d *nuclear) gather(to map[int][]float64, lines []int, p int, one, other side) {
	N := len(d.row)
	f, g, first, second := one.factor[p*N:(p+1)*N], other.factor[p*N:(p+1)*N], one.index[:N], other.index[:N]
	for _, line := range lines {
		column := to[line][p*N : (p+1)*N]
		x, y := d.sums[0][line*one.length:(line+1)*one.length], d.sums[1][line*other.length:(line+1)*other.length]
		for b := range column {
			column[b] = f[b]*x[first[b]] + g[b]*y[second[b]]
		}
	}
}

// subtract takes it, times root_a root_b / rho, from the lower triangle of a matrix by columns.
func (d *nuclear) subtract(from, root []float64, rho float64) {
	N, k := len(d.row), d.rank
	if k == 0 {
		return
	}
	u, v, column := make([]float64, k), make([]float64, k), make([]float64, N)
	for a := range N {
		i, j := d.row[a], d.col[a]
		for p := range k {
			u[p], v[p] = d.u[i+p*d.m], d.v[j+p*d.n]
		}
		below := column[a:]
		clear(below)
		// These take away, so that what comes out is positive.
		dense.GemvN(N-a, k, d.w[j][a:], N, u, below)
		dense.GemvN(N-a, k, d.y[i][a:], N, v, below)
		to, f := from[a*N+a:(a+1)*N], root[a]/rho
		for b, x := range below {
			to[b] -= f * root[a+b] * x
		}
	}
}

// byColumns copies a matrix.
func byColumns(to []float64, from *mat.Dense) {
	m, n := from.Dims()
	raw := from.RawMatrix()
	for i := range m {
		for j, v := range raw.Data[i*raw.Stride : i*raw.Stride+n] {
			to[i+j*m] = v
		}
	}
}

// resize returns room for n numbers, v itself if it has it.
func resize(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

package separable

import (
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/dense"
)

// nuclear takes J D J' / rho, with the derivative D of a [matrix] and J taking the places of a part, each entry times
// root_a root_b, from the lower triangle of a matrix by columns. For places a = (i, j) and b = (k, l)
//
//	(J D J')_ab = sum_p u_kp (u_ip A_p(l, j) + v_jp D_p(l, i)) + v_lp (u_ip B_p(k, j) + v_jp C_p(k, i))
//
// over the singular values p of Z above the threshold, with
//
//	A_p = sum_q e_pq v_q v_q',  B_p = sum_q o_pq u_q v_q'   over all q,
//	C_p = sum_q e_pq u_q u_q',  D_p = sum_q o_pq v_q u_q'   over the q that are not above it.
func (a *ascent) nuclear(t int, root, from []float64) {
	z, places, m, n := a.at.of[t].z, a.parts[t].places, a.matrix.m, a.matrix.n
	least, N, few := a.least(&a.at.of[t]), len(places), min(m, n)
	rank, u, v := z.rank(least), byColumns(z.u), byColumns(z.v)
	row, col := make([]int, N), make([]int, N)
	for b, at := range places {
		row[b], col[b] = at/n, at%n
	}
	ub, vb, byRow, byColumn := make([]float64, N), make([]float64, N), make([]float64, m), make([]float64, n)
	for p := range rank {
		even := func(q int) float64 { e, _ := z.weights(p, q, least); return e }
		odd := func(q int) float64 { _, o := z.weights(p, q, least); return o }
		sums := [...][]float64{weighted(v, n, v, n, 0, n, even), weighted(u, m, v, n, 0, few, odd),
			weighted(u, m, u, m, rank, m, even), weighted(v, n, u, m, rank, few, odd)}
		for b := range places {
			ub[b], vb[b] = root[b]*u[row[b]+p*m], root[b]*v[col[b]+p*n]
		}
		for one, i := range row {
			j := col[one]
			x, y := ub[one]/a.rho, vb[one]/a.rho
			for l := range byColumn {
				byColumn[l] = x*sums[0][l+j*n] + y*sums[3][l+i*n]
			}
			for k := range byRow {
				byRow[k] = x*sums[1][k+j*m] + y*sums[2][k+i*m]
			}
			to := from[one*N+one : (one+1)*N]
			rows, cols, us, vs := row[one:][:len(to)], col[one:][:len(to)], ub[one:][:len(to)], vb[one:][:len(to)]
			for b := range to {
				to[b] += us[b]*byColumn[cols[b]] + vs[b]*byRow[rows[b]]
			}
		}
	}
}

// weighted is minus the sum of weight(q) x_q y_q' from q = from on, by columns, with the columns of X and Y of so many
// rows.
func weighted(x []float64, rows int, y []float64, cols, from, end int, weight func(q int) float64) []float64 {
	to := make([]float64, rows*cols)
	if end <= from {
		return to
	}
	scaled := make([]float64, 0, (end-from)*rows)
	for q := from; q < end; q++ {
		f := weight(q)
		for _, v := range x[q*rows : (q+1)*rows] {
			scaled = append(scaled, f*v)
		}
	}
	dense.GemmNT(rows, cols, end-from, scaled, rows, y[from*cols:], cols, to, rows)
	return to
}

// byColumns are the entries of a square matrix.
func byColumns(from *mat.Dense) []float64 { return mat.DenseCopyOf(from.T()).RawMatrix().Data }

package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/indices"
)

// arrow is the factor of a positive definite matrix with blocks A_t on the diagonal and a border E of order k, some
// unknowns of which C_t couples with block t. With A_t = L_t D_t L_t' it is eliminated block by block:
//
//	X_t = C_t' L_t^-T,   S = E - sum_t X_t D_t^-1 X_t'.
//
// Row i of C_t' is 0 before a column that grows with i, and so is that of X_t.
type arrow struct {
	arms   []arm
	k      int
	border []float64 // the lower triangle of E, then of S
	held   []bool    // the unknowns of the border that stay 0
	free   []int     // the others
	chol   factor.Definite
	right  []float64 // of the border
	part   []float64
}

// arm is one of the blocks.
type arm struct {
	full       []float64 // the lower triangle of A_t
	of, first  []int     // the rows of C_t': unknowns of the border, increasing, and their first columns
	coupling   []float64 // C_t', by columns, then X_t
	chol       factor.Definite
	right      []float64
	part, sums []float64
	scaled     []float64
	side       []float64 // of the border
}

// begin makes room for a border of order k, with zeros.
func (a *arrow) begin(k int) {
	a.k = k
	a.border, a.held = dense.Cleared(a.border, k*k), slices.Grow(a.held[:0], k)[:k]
	a.right, a.part = dense.Cleared(a.right, k), dense.Cleared(a.part, k)
}

// begin makes room for a block of an order, with zeros, and the rows of C_t'.
func (b *arm) begin(order int) {
	k := len(b.of)
	b.full, b.coupling = dense.Cleared(b.full, order*order), dense.Cleared(b.coupling, order*k)
	b.right, b.part, b.side = dense.Cleared(b.right, order), dense.Cleared(b.part, order), dense.Cleared(b.side, k)
}

// add adds the bounds and the ball of a fold to the border of t, r and the h_j of features, which have the number at_j
// there, or 0.
func (a *arrow) add(f *fold, at []int) {
	k := a.k
	for j, b := range at {
		_, sum := f.held(j)
		a.border[0] += sum
		if b > 0 {
			a.border[b] += sum
			a.border[b*k+b] += sum
		}
	}
	a.border[0] += f.balled
	a.border[1] += f.balled
	a.border[k+1] += f.balled
}

// fill makes the block of a fold in some features and c, in as gram has it, with rho on the diagonal, the rows in the
// band, and the bounds and the ball, and factors it. Couplings with h_j up to a size are left out.
func (a *arrow) fill(f *fold, rho float64, features []int, in []int32, at []int, least float64) bool {
	b, m := &a.arms[f.number], len(features)+1
	b.of, b.first = append(b.of[:0], 0, 1), append(b.first[:0], 0, 0)
	w := make([]float64, m-1)
	for e, j := range features {
		w[e] = f.z[j]
		if lean, _ := f.held(j); math.Abs(lean) > least {
			b.of, b.first = append(b.of, at[j]), append(b.first, e)
		}
	}
	b.begin(m)
	b.chol.End = &f.end
	if !f.curve.gram(b.full, m, in) {
		return false
	}
	b.full[m*m-1] += rho
	own, k := 2, len(b.of)
	for e, j := range features {
		lean, sum := f.held(j)
		b.full[e*m+e] += rho + f.ballNow + sum
		x := f.balled * w[e]
		b.coupling[e*k], b.coupling[e*k+1] = -lean-x, -x
		if own < k && b.of[own] == at[j] {
			b.coupling[e*k+own] = -lean
			own++
		}
		floats.AddScaled(b.full[e*m+e:e*m+m-1], x, w[e:])
	}
	return b.factor()
}

// arrowBlock is the number of columns that are gone through at a time.
const arrowBlock = 48

// factor factors a block and makes X_t and what it takes from the border; false where it is not positive definite.
func (b *arm) factor() bool {
	k, m, first := len(b.of), len(b.right), b.first
	if !b.chol.Factor(m, func(j int, column []float64) {
		copy(column[j:], b.full[j*m+j:(j+1)*m])
		column[j] += roundedPivot * column[j]
	}) {
		return false
	}
	for i := 0; i < k; {
		end, from := i+1, first[i]
		for end < k && first[end] < from+arrowBlock {
			end++
		}
		dense.TrsmRightLT(end-i, m-from, b.chol.L[from*m+from:], m, b.coupling[from*k+i:], k)
		i = end
	}
	b.scaled, b.sums = slices.Grow(b.scaled[:0], k*m)[:k*m], dense.Cleared(b.sums, k*k)
	for from, rows := 0, 0; from < m; from += arrowBlock {
		end := min(m, from+arrowBlock)
		for rows < k && first[rows] < end {
			rows++
		}
		for j := from; j < end; j++ {
			floats.ScaleTo(b.scaled[j*k:j*k+rows], 1/b.chol.D[j], b.coupling[j*k:j*k+rows])
		}
		dense.SyrkNT(rows, end-from, b.coupling[from*k:], k, b.scaled[from*k:], k, b.sums, k)
	}
	return !b.chol.End.Reached(k * m)
}

// eliminate adds up the border when all blocks have their factors.
func (a *arrow) eliminate() {
	for t := range a.arms {
		b := &a.arms[t]
		for q, j := range b.of {
			for s, i := range b.of[q:] {
				a.border[j*a.k+i] += b.sums[q*len(b.of)+q+s]
			}
		}
	}
}

// factor factors the border without the unknowns that are held.
func (a *arrow) factor() bool {
	a.free = indices.Where(a.held, func(held bool) bool { return !held })
	return a.chol.Factor(len(a.free), func(q int, column []float64) {
		from := a.border[a.free[q]*a.k:]
		for s := q; s < len(a.free); s++ {
			column[s] = from[a.free[s]]
		}
		column[q] += roundedPivot * math.Abs(column[q])
	})
}

// roundedPivot is the share of a pivot that is put back for what rounding takes from it.
const roundedPivot = 1e-15

// solve sets the right sides of blocks and border to the solution.
func (a *arrow) solve() {
	for t := range a.arms {
		b := &a.arms[t]
		m := len(b.right)
		dense.TrsvN(m, b.chol.L, m, b.right)
		for i, d := range b.chol.D[:m] {
			b.right[i] /= d
		}
		clear(b.side)
		dense.GemvN(len(b.of), m, b.coupling, len(b.of), b.right, b.side)
		for q, i := range b.of {
			a.right[i] += b.side[q]
		}
	}
	for q, i := range a.free {
		a.part[q] = a.right[i]
	}
	a.chol.Solve(a.part[:len(a.free)])
	clear(a.right)
	for q, i := range a.free {
		a.right[i] = a.part[q]
	}
	for t := range a.arms {
		b := &a.arms[t]
		m := len(b.right)
		for q, i := range b.of {
			b.side[q] = a.right[i]
		}
		clear(b.part)
		dense.GemvT(len(b.of), m, b.coupling, len(b.of), b.side, b.part)
		for i, d := range b.chol.D[:m] {
			b.right[i] += b.part[i] / d
		}
		dense.TrsvT(m, b.chol.L, m, b.right)
	}
}

package completion

import (
	"math"
	"slices"

	"github.com/conetune/conetune/internal/factor"
	"gonum.org/v1/gonum/floats"
)

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

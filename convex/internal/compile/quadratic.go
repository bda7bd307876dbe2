package compile

import (
	"slices"

	"github.com/conetune/conetune/convex/internal/affine"
)

// diagonal builds the pattern of P = 2 sum w_k f_k^2 over the entries of squares.
func (as *Assembled) diagonal() {
	touched := make([]bool, as.N)
	for i := range as.Program.Squares {
		as.EachSquare(i, func(_, col int, _ float64) {
			touched[col] = true
		})
	}
	as.PPtr = make([]int, as.N+1)
	for j, on := range touched {
		as.PPtr[j+1] = as.PPtr[j]
		if on {
			as.PPtr[j+1]++
			as.PInd = append(as.PInd, j)
		}
	}
	for _, q := range as.Program.Squares {
		if q.W != nil && !slices.Contains(as.weights, q.W) {
			as.weights = append(as.weights, q.W)
		}
		as.q.dependsOn(q.W)
		for k := range q.Arg.Pars {
			as.q.dependsOn(q.Arg.Pars[k].P)
		}
	}
}

// EachSquare calls f for the entries f*x[col] + constant[r] of square i that are in the working set.
func (as *Assembled) EachSquare(i int, f func(r, col int, factor float64)) {
	arg := &as.Program.Squares[i].Arg
	for _, t := range arg.Vars {
		at := as.columns(t.V)
		for r := range t.Rows {
			if col := at.column(t.Entry(r)); col >= 0 {
				f(t.Row(r), col, t.Fixed(r))
			}
		}
	}
}

// valueP computes the values of P.
func (as *Assembled) valueP(out []float64, at affine.Values) {
	clear(out)
	for i := range as.Program.Squares {
		w := 2 * as.Program.Squares[i].Weight(at)
		as.EachSquare(i, func(_, col int, factor float64) {
			out[as.PPtr[col]] += w * factor * factor
		})
	}
}

// ValueQ computes q.
func (as *Assembled) ValueQ(out []float64, at affine.Values) {
	as.q.Value(out, at)
	for i := range as.Program.Squares {
		q := &as.Program.Squares[i]
		if q.Arg.C == nil && len(q.Arg.Pars) == 0 {
			continue
		}
		w, d := 2*q.Weight(at), as.constant(&q.Arg, at)
		as.EachSquare(i, func(r, col int, factor float64) {
			out[col] += w * factor * d[r]
		})
	}
}

// Centre is the point at which the squares of the objective are least, taken column by column: with the entries f_r
// x_j + d_r of column j,
//
//	x_j = -sum_r w_r f_r d_r / sum_r w_r f_r^2,
//
// and zero in the columns of no square.
func (as *Assembled) Centre(at affine.Values) []float64 {
	num, den := make([]float64, as.N), make([]float64, as.N)
	for i, q := range as.Program.Squares {
		w, d := q.Weight(at), q.Arg.Constant(at)
		as.EachSquare(i, func(r, col int, factor float64) {
			num[col] -= w * factor * d[r]
			den[col] += w * factor * factor
		})
	}
	for j, sum := range den {
		if sum > 0 {
			num[j] /= sum
		}
	}
	return num
}

// objective computes the objective at x, and writes its gradient, constants included, from the values of the squares:
// nothing cancels that is not small in the objective itself.
func (as *Assembled) objective(x []float64, at affine.Values, gradient []float64) (value float64) {
	p := as.Program
	as.q.Value(gradient, at)
	for j, c := range gradient {
		value += c * x[j]
	}
	if p.Objective.N > 0 {
		value += as.constant(&p.Objective, at)[0]
	}
	for i := range p.Squares {
		q := &p.Squares[i]
		w, v := q.Weight(at), as.constant(&q.Arg, at)
		as.EachSquare(i, func(r, col int, factor float64) {
			v[r] += factor * x[col]
		})
		for _, a := range v {
			value += w * a * a
		}
		as.EachSquare(i, func(r, col int, factor float64) {
			gradient[col] += 2 * w * factor * v[r]
		})
	}
	return value
}

// Offset is the constant of the objective, and squares the part of it that squares have.
func (p *Program) Offset(at affine.Values) (offset, squares float64) {
	for _, q := range p.Squares {
		if q.Arg.C == nil && len(q.Arg.Pars) == 0 {
			continue
		}
		w := q.Weight(at)
		for _, d := range q.Arg.Constant(at) {
			squares += w * d * d
		}
	}
	if p.Objective.N > 0 {
		offset = p.Objective.Constant(at)[0]
	}
	return offset + squares, squares
}

package table

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/crew"
)

// regress learns sums of the features of the other columns that stand in the place of missing numbers, from those of
// the rows that have the number: with z the features at mean 0 and deviation 1 there, the weights b minimise
//
//	sum_i (x_i - mean - z_i'b)^2 + |b|^2,
//
// least squares that one row more, which says that nothing goes with nothing, makes unique (Hoerl and Kennard,
// Technometrics 12, 1970, with k = 1).
func (r *Reading) regress(rows []int) {
	t := r.table
	for k := range r.slots {
		r.slots[k].coding.Others, r.slots[k].others = nil, nil
	}
	x := r.Encode(rows, false).Dense()
	crew.All(len(r.slots), func(k int) {
		s := &r.slots[k]
		if s.coding.Kind == Category || t.columns[s.column].Missing == 0 {
			return
		}
		var there []int
		var y []float64
		for i, row := range rows {
			if v := t.cell(row, s.column); !isMissing(v) {
				there, y = append(there, i), append(y, s.number(v))
			}
		}
		mean, _ := center(y)
		var names []string
		var means, deviations, z []float64
		for of := range r.slots {
			for j := r.slots[of].at; of != k && j < r.slots[of].at+r.slots[of].width; j++ {
				own := make([]float64, len(there))
				for n, i := range there {
					own[n] = x.At(i, j)
				}
				if m, deviation := center(own); deviation > 0 {
					floats.Scale(1/deviation, own)
					names, means, deviations = append(names, r.names[j]), append(means, m), append(deviations, deviation)
					z = append(z, own...)
				}
			}
		}
		if names == nil { // also where no row has the number
			return
		}
		b := ridge(mat.NewDense(len(names), len(y), z), mat.NewVecDense(len(y), y))
		if b == nil { // numbers beyond reason: the fill stands
			return
		}
		sum := &Sum{Constant: mean}
		for j, name := range names {
			w := b.AtVec(j) / deviations[j]
			sum.Constant -= w * means[j]
			sum.Weights = append(sum.Weights, Weight{name, w})
		}
		s.coding.Others = sum
	})
	r.link()
}

// ridge is (Z Z' + I)^-1 Z y for features in the rows of Z, or where these are more than the numbers of y the same as
// Z (Z'Z + I)^-1 y; nil where rounding leaves no solution.
func ridge(z *mat.Dense, y *mat.VecDense) *mat.VecDense {
	p, n := z.Dims()
	wide, of, side := p > n, mat.Matrix(z), y
	if wide {
		of = z.T()
	} else {
		side = new(mat.VecDense)
		side.MulVec(z, y)
	}
	gram := mat.NewSymDense(side.Len(), nil)
	gram.SymOuterK(1, of)
	for j := range side.Len() {
		gram.SetSym(j, j, gram.At(j, j)+1)
	}
	var c mat.Cholesky
	b := new(mat.VecDense)
	if !c.Factorize(gram) || c.SolveVecTo(b, side) != nil {
		return nil
	}
	if !wide {
		return b
	}
	out := new(mat.VecDense)
	out.MulVec(z, b)
	return out
}

// center subtracts the mean of numbers from them, and returns it and their deviation (Welford).
func center(list []float64) (mean, deviation float64) {
	square := 0.0
	for n, v := range list {
		d := v - mean
		mean += d / float64(n+1)
		square += d * (v - mean)
	}
	floats.AddConst(-mean, list)
	return mean, math.Sqrt(square / float64(max(1, len(list))))
}

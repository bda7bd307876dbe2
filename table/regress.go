package table

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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
	for k := range r.slots {
		s := &r.slots[k]
		if s.coding.Kind == Category || t.columns[s.column].Missing == 0 {
			continue
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
			continue
		}
		p := len(names)
		features, gram := mat.NewDense(p, len(y), z), mat.NewSymDense(p, nil)
		gram.SymOuterK(1, features)
		for j := range p {
			gram.SetSym(j, j, gram.At(j, j)+1)
		}
		var b mat.VecDense
		b.MulVec(features, mat.NewVecDense(len(y), y))
		var c mat.Cholesky
		if !c.Factorize(gram) || c.SolveVecTo(&b, &b) != nil {
			continue // numbers beyond reason: the fill stands
		}
		sum := &Sum{Constant: mean}
		for j, name := range names {
			w := b.AtVec(j) / deviations[j]
			sum.Constant -= w * means[j]
			sum.Weights = append(sum.Weights, Weight{name, w})
		}
		s.coding.Others = sum
	}
	r.link()
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

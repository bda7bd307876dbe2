package table

import (
	"math"

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
	var x [][]float64 // of features, by rows
	var slotOf []int
	at := make([]int, len(r.slots))
	for k := range r.slots {
		s := &r.slots[k]
		if at[k] = len(x); s.width == 0 {
			continue
		}
		for range s.width {
			x, slotOf = append(x, make([]float64, len(rows))), append(slotOf, k)
		}
		var list []entry
		for i, row := range rows {
			list = r.entries(list[:0], s, row, t.cell(row, s.column), true)
			for _, e := range list {
				x[at[k]+e.feature-s.at][i] = e.value
			}
		}
	}
	for k := range r.slots {
		s := &r.slots[k]
		if s.coding.Kind == Category || t.columns[s.column].Missing == 0 {
			continue
		}
		var there []int
		var y []float64
		mean := 0.0
		for i, row := range rows {
			if v := t.cell(row, s.column); !isMissing(v) {
				there, y = append(there, i), append(y, s.number(v))
				mean += (s.number(v) - mean) / float64(len(y))
			}
		}
		var names []string
		var means, deviations, z []float64
		for j, of := range slotOf {
			if of == k {
				continue
			}
			m, square := 0.0, 0.0 // Welford
			for n, i := range there {
				d := x[j][i] - m
				m += d / float64(n+1)
				square += d * (x[j][i] - m)
			}
			if deviation := math.Sqrt(square / float64(len(there))); deviation > 0 {
				names, means = append(names, r.names[r.slots[of].at+j-at[of]]), append(means, m)
				deviations = append(deviations, deviation)
				for _, i := range there {
					z = append(z, (x[j][i]-m)/deviation)
				}
			}
		}
		if names == nil { // also where no row has the number
			continue
		}
		for i := range y {
			y[i] -= mean
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

package matcomp

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// factors returns L and R with A = L R' for a matrix A by rows, nil for zero. Directions below rankShare
// are left out.
//
// A is of low rank but large, so its columns are found one after the other by the
// residual's largest row and column (adaptive cross approximation with full pivoting would look at
// all entries; here the largest entry of the residual is the pivot), and then
// brought into the form of a singular value decomposition.
func factors(a []float64, rows int) (left, right *mat.Dense) {
	cols := len(a) / rows
	rest := append([]float64{}, a...)
	first := maxAbs(rest)
	var us, vs [][]float64
	for len(us) < min(rows, cols) {
		at, top := 0, 0.0
		for k, v := range rest {
			if math.Abs(v) > top {
				at, top = k, math.Abs(v)
			}
		}
		if !(top > 1e-9*first) {
			break
		}
		i, j := at/cols, at%cols
		u, v := make([]float64, rows), append([]float64{}, rest[i*cols:(i+1)*cols]...)
		for k := range u {
			u[k] = rest[k*cols+j] / rest[at]
		}
		for k, f := range u {
			floats.AddScaled(rest[k*cols:(k+1)*cols], -f, v)
		}
		us, vs = append(us, u), append(vs, v)
	}
	r := len(us)
	if r == 0 {
		return nil, nil
	}
	l, rt := mat.NewDense(rows, r, nil), mat.NewDense(cols, r, nil)
	for k := range r {
		l.SetCol(k, us[k])
		rt.SetCol(k, vs[k])
	}
	// A = Q1 R1 R2' Q2' = (Q1 U S^1/2) (Q2 V S^1/2)'
	var q1, q2 mat.QR
	q1.Factorize(l)
	q2.Factorize(rt)
	var r1, r2, core, o1, o2 mat.Dense
	q1.RTo(&r1)
	q2.RTo(&r2)
	q1.QTo(&o1)
	q2.QTo(&o2)
	core.Mul(r1.Slice(0, r, 0, r), r2.Slice(0, r, 0, r).T())
	var svd mat.SVD
	if !svd.Factorize(&core, mat.SVDThin) {
		return l, rt
	}
	s := svd.Values(nil)
	rank := 0
	for rank < r && s[rank] > rankShare*s[0] {
		rank++
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	left, right = new(mat.Dense), new(mat.Dense)
	left.Mul(o1.Slice(0, rows, 0, r), u.Slice(0, r, 0, rank))
	right.Mul(o2.Slice(0, cols, 0, r), v.Slice(0, r, 0, rank))
	for k := range rank {
		root := math.Sqrt(s[k])
		for i := range rows {
			left.Set(i, k, left.At(i, k)*root)
		}
		for j := range cols {
			right.Set(j, k, right.At(j, k)*root)
		}
	}
	return left, right
}

func maxAbs(v []float64) float64 {
	top := 0.0
	for _, x := range v {
		top = max(top, math.Abs(x))
	}
	return top
}

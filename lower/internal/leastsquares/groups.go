package leastsquares

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Groups is data whose features are divided into groups.
type Groups struct {
	*Data
	Members   [][]int
	Of        []int     // the group of each feature
	Lipschitz []float64 // largest eigenvalues of X_g'X_g / n
}

// NewGroups divides the features: members lists those of each group, and each feature is
// in one. The lists are kept.
func NewGroups(g *Data, members [][]int) (*Groups, error) {
	q := &Groups{Data: g, Members: members, Of: make([]int, g.X.Columns()), Lipschitz: make([]float64, len(members))}
	for j := range q.Of {
		q.Of[j] = -1
	}
	for k, group := range members {
		if len(group) == 0 {
			return nil, fmt.Errorf("group %d is empty", k)
		}
		for _, j := range group {
			if j < 0 || j >= g.X.Columns() {
				return nil, fmt.Errorf("group %d has feature %d, expected 0 to %d", k, j, g.X.Columns()-1)
			}
			if q.Of[j] >= 0 {
				return nil, fmt.Errorf("feature %d is in groups %d and %d", j, q.Of[j], k)
			}
			q.Of[j] = k
		}
		q.Lipschitz[k] = largestEigenvalue(g, group)
	}
	if j := slices.Index(q.Of, -1); j >= 0 {
		return nil, fmt.Errorf("feature %d is in no group", j)
	}
	return q, nil
}

// eigenMost bounds the groups whose largest eigenvalue is computed; larger ones get a bound.
const eigenMost = 100

// largestEigenvalue returns that of X_S'X_S / n, or a bound of it.
func largestEigenvalue(g *Data, set []int) float64 {
	trace := 0.0
	for _, j := range set {
		trace += g.Norm2[j] / float64(g.X.Rows())
	}
	// Beyond these sizes the eigenvalues of gonum, which scales matrices by themselves there, are not to be had; nor are those of blocks of
	// entries that are as small beside the others, which are nothing.
	if len(set) == 1 || len(set) > eigenMost || !(trace > 1e-100 && trace < 1e100) {
		return trace
	}
	h := g.Hessian(set, nil, nil)
	for i := range set {
		for j := i; j < len(set); j++ {
			if math.Abs(h.At(i, j)) < 1e-30*trace {
				h.SetSym(i, j, 0)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return trace
	}
	return math.Min(trace, eigen.Values(nil)[len(set)-1]*(1+1e-12))
}

// Weights spreads and checks those of the norms, one for each group, and of the absolute values, one for each feature, which needs one of the two.
func (q *Groups) Weights(ofNorms, ofValues []float64) (norm, l1 []float64, err error) {
	if norm, err = Spread("Norm", ofNorms, len(q.Members)); err != nil {
		return nil, nil, err
	}
	if l1, err = Spread("L1", ofValues, q.X.Columns()); err != nil {
		return nil, nil, err
	}
	for j, k := range q.Of {
		if norm[k] == 0 && l1[j] == 0 {
			return nil, nil, fmt.Errorf("feature %d of group %d has no penalty, expected a positive weight of its own or of its group", j, k)
		}
	}
	return norm, l1, nil
}

// NormHessian is that of the objective in the coefficients S, none of them zero: the matrix of
// [Data.Hessian] and, within each group, w_g (I / |b_g| - b_g b_g' / |b_g|^3).
func (q *Groups) NormHessian(set []int, b, norm []float64) *mat.SymDense {
	h := q.Hessian(set, nil, nil)
	size := make(map[int]float64)
	for i, j := range set {
		k := q.Of[j]
		if norm[k] == 0 {
			continue
		}
		if _, known := size[k]; !known {
			size[k] = q.Size(k, b)
		}
		for l, m := range set[i:] {
			if q.Of[m] == k {
				h.SetSym(i, i+l, h.At(i, i+l)-norm[k]*b[j]*b[m]/(size[k]*size[k]*size[k]))
			}
		}
		h.SetSym(i, i, h.At(i, i)+norm[k]/size[k])
	}
	return h
}

// Size is |b_g|_2.
func (q *Groups) Size(k int, b []float64) float64 {
	sum := 0.0
	for _, j := range q.Members[k] {
		sum += b[j] * b[j]
	}
	return math.Sqrt(sum)
}

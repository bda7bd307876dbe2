package leastsquares

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Divide says what is wrong with groups of p features: members lists those of each, and each feature is in one.
func Divide(members [][]int, p int) error {
	of := slices.Repeat([]int{-1}, p)
	for k, group := range members {
		if len(group) == 0 {
			return fmt.Errorf("group %d is empty", k)
		}
		for _, j := range group {
			if j < 0 || j >= p {
				return fmt.Errorf("group %d has feature %d, expected 0 to %d", k, j, p-1)
			}
			if of[j] >= 0 {
				return fmt.Errorf("feature %d is in groups %d and %d", j, of[j], k)
			}
			of[j] = k
		}
	}
	if j := slices.Index(of, -1); j >= 0 {
		return fmt.Errorf("feature %d is in no group", j)
	}
	return nil
}

// eigenMost bounds the groups whose largest eigenvalue is computed; larger ones get a bound.
const eigenMost = 100

// LargestEigenvalue returns that of X_g'X_g / n for group k, as the columns are, or a bound of it.
func (g *Data) LargestEigenvalue(k int) float64 {
	set, trace := g.Members[k], 0.0
	for _, j := range set {
		trace += g.Norm2[j] / float64(g.X.Rows())
	}
	// Beyond these sizes the eigenvalues of gonum, which scales matrices by themselves there, are not to be had; nor are
	// those of blocks of entries that are as small beside the others, which are nothing.
	if len(set) == 1 || len(set) > eigenMost || !(trace > 1e-100 && trace < 1e100) {
		return trace
	}
	h := mat.NewSymDense(len(set), nil)
	products := g.X.Gram(context.Background(), set, nil, 1)
	for i := range set {
		for j := i; j < len(set); j++ {
			if v := products[i*len(set)+j] / float64(g.X.Rows()); math.Abs(v) >= 1e-30*trace {
				h.SetSym(i, j, v)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		return trace
	}
	return math.Min(trace, eigen.Values(nil)[len(set)-1]*(1+1e-12))
}

// Size is |b_g|_2.
func (g *Data) Size(k int, b []float64) float64 {
	sum := 0.0
	for _, j := range g.Members[k] {
		sum += b[j] * b[j]
	}
	return math.Sqrt(sum)
}

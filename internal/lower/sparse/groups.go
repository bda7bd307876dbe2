package sparse

import "math"

// Groups is a fit of squares for the sparse group lasso, whose features are divided into groups,
//
//	minimize over b (and b0)   1/(2n) |y - X b - b0|^2 + sum_g w_g |b^(g)|_2 + sum_j w1_j |b_j|
//
// with weights for [Fit.SolveAt]. members lists the features of each group, and each feature is in one; the lists are
// kept.
func Groups(s Sample, intercept bool, members [][]int) (*Fit, error) {
	g, err := Squares(s, intercept, Terms{})
	if err != nil {
		return nil, err
	}
	for k, group := range members {
		if len(group) != 1 || group[0] != k { // else they are features
			g.table.of.Units = members
		}
	}
	return g, nil
}

// GroupLambdaMax is the smallest weight that, common to the norms of groups and, if that is shared, to w1, makes all
// coefficients zero.
func (g *Fit) GroupLambdaMax(members [][]int, shared bool) float64 {
	at, slope := g.look(training, g.start), make([]float64, g.p)
	g.sets[training].x.X.MulTrans(slope, at.slopes)
	// norm is that of the slopes of a group, less what absolute values of a weight hold back.
	norm := func(group []int, w1 float64) float64 {
		sum := 0.0
		for _, j := range group {
			if v := math.Abs(slope[j]) - w1; v > 0 {
				sum += v * v
			}
		}
		return math.Sqrt(sum)
	}
	top := 0.0
	for _, group := range members {
		if !shared {
			top = math.Max(top, norm(group, 0))
			continue
		}
		// The root of |soft(c, l)| = l lies below |c|_inf.
		lo, hi := top, 0.0
		for _, j := range group {
			hi = math.Max(hi, math.Abs(slope[j]))
		}
		for hi-lo > 1e-15*hi {
			l := (lo + hi) / 2
			if l == lo || l == hi {
				break
			}
			if norm(group, l) > l {
				lo = l
			} else {
				hi = l
			}
		}
		top = math.Max(top, hi)
	}
	return top
}

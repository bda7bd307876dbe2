package lowertest

import "math"

// Coefficients are the penalties of a fit that fall apart into those of groups of its coefficients,
//
//	sum_g Norm_g |b^(g)|_2 + sum_j L1_j |b_j| + 1/2 sum_j L2_j b_j^2;
//
// nil stands for weights of 0, and Groups may be nil without Norm.
type Coefficients struct {
	Groups       [][]int
	Norm, L1, L2 []float64
}

// Violation is by how much b misses the conditions of optimality: the largest distance of minus the gradient of the
// loss to the subdifferential of the penalties, each coefficient j in a unit of its own, sqrt(2 scale h_j), where h_j
// is the second derivative of the loss, of the size scale, plus L2_j and, in a group in use, Norm_g / |b^(g)|: what a
// coefficient is off by, squared, is about what a step of it lowers the objective by, in units of scale. So no weight,
// however large, hides what is wrong with another coefficient. For v = -gradient - L2 b,
//
//	b_j != 0:              |v_j - L1_j sign(b_j) - Norm_g b_j / |b^(g)||
//	b_j = 0 beside others: |soft(v_j, L1_j)|
//	b^(g) = 0:             |soft(v_g, L1_g)| - Norm_g.
//
// Coefficients of the unit 0, which the objective does not depend on, are left out. It is NaN where a number is.
func (c Coefficients) Violation(b, gradient, curvature []float64, scale float64) float64 {
	at := func(w []float64, j int) float64 {
		if w == nil {
			return 0
		}
		return w[j]
	}
	pull := make([]float64, len(b)) // minus the derivative, less what the coefficient's own weights take of it
	for j, v := range b {
		pull[j] = -gradient[j] - at(c.L2, j)*v
		if v != 0 {
			pull[j] -= math.Copysign(at(c.L1, j), v)
		} else {
			pull[j] = math.Copysign(math.Max(0, math.Abs(pull[j])-at(c.L1, j)), pull[j])
		}
	}
	unit := make([]float64, len(b))
	bend := make([]float64, len(b)) // second derivatives
	for j, h := range curvature {
		bend[j] = h + at(c.L2, j)
		unit[j] = math.Sqrt(2 * scale * bend[j])
	}
	most := 0.0
	for g, group := range c.Groups {
		size, left, units := 0.0, 0.0, 0.0
		for _, j := range group {
			size, left, units = math.Hypot(size, b[j]), math.Hypot(left, pull[j]), math.Hypot(units, unit[j])
		}
		for _, j := range group {
			if size > 0 {
				pull[j] -= at(c.Norm, g) * (b[j] / size)
				unit[j] = math.Sqrt(2 * scale * (bend[j] + at(c.Norm, g)/size))
			} else {
				pull[j] = 0
			}
		}
		if size == 0 && units > 0 {
			most = larger(most, math.Max(0, left-at(c.Norm, g))/units)
		}
	}
	for j, v := range pull {
		if unit[j] > 0 {
			most = larger(most, math.Abs(v)/unit[j])
		}
	}
	return most
}

// larger is the larger of two numbers, NaN where one is.
func larger(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

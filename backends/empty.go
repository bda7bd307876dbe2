package backends

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// withoutVariables answers a problem with n = 0, where the only question is whether b is
// in K: with s = b and z = 0 the point is optimal, and otherwise the plane that
// separates b from the cone it violates most is the certificate.
func (s *checkedSolver) withoutVariables(p *Problem) *Solution {
	m := len(p.B)
	out := &Solution{Status: Optimal, X: []float64{}, S: slices.Clone(p.B), Z: make([]float64, m)}
	if out.S == nil {
		out.S = []float64{}
	}
	if r, _, _ := Recheck(p, out.X, out.S, out.Z); r.Primal <= s.options.Eps {
		return out
	}
	worst, worstRow, worstDistance, row := 0, 0, 0.0, 0
	for i, c := range p.Cones {
		if d := c.Distance(p.B[row : row+c.Dim]); d > worstDistance {
			worst, worstRow, worstDistance = i, row, d
		}
		row += c.Dim
	}
	if worstDistance == 0 { // a distance is no number
		out.Status = NumericalError
		return out
	}
	c := p.Cones[worst]
	copy(out.Z[worstRow:], separator(c, p.B[worstRow:worstRow+c.Dim]))
	out.Status, out.X, out.S = PrimalInfeasible, nil, nil
	return out
}

// separator returns z in the dual of c with b'z - beta(z) < 0, for b outside c.
func separator(c Cone, b []float64) []float64 {
	z := make([]float64, len(b))
	switch c.Kind {
	case ZeroCone:
		i := argmax(b, math.Abs)
		z[i] = -math.Copysign(1, b[i])
	case NonnegativeCone:
		z[argmax(b, func(v float64) float64 { return -v })] = 1
	case BoxCone:
		worst := 0.0
		at := 0
		for i, v := range b {
			if d := max(c.Lower[i]-v, v-c.Upper[i]); d > worst {
				worst, at = d, i
			}
		}
		z[at] = 1
		if b[at] > c.Upper[at] {
			z[at] = -1
		}
	case SecondOrderCone:
		// z = (1, -v/|v|): b'z = t - |v| < 0.
		z[0] = 1
		if norm := norm2(b[1:]); norm > 0 {
			for i := 1; i < len(b); i++ {
				z[i] = -b[i] / norm
			}
		}
	case PSDCone:
		separatePSD(b, z)
	case ExponentialCone:
		separateExponential(b, z)
	case DualExponentialCone:
		separateDualExponential(b, z)
	case PowerCone, DualPowerCone:
		separatePower(c, b, z)
	case NuclearNormCone:
		separateNuclear(c, b, z)
	}
	return z
}

// separatePSD takes z = vv' for the eigenvector v of the smallest eigenvalue.
func separatePSD(b, z []float64) {
	n := PSDOrder(len(b))
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric(b, n, maxAbs(b)), true) {
		return
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	k := 0
	for j := range n {
		for i := j; i < n; i++ {
			z[k] = vectors.At(i, 0) * vectors.At(j, 0)
			if i != j {
				z[k] *= math.Sqrt2
			}
			k++
		}
	}
}

// separateExponential takes the gradient of the concave function
// f(u, v, w) = w - v exp(u/v), which is homogeneous of degree one, so that its
// gradient g at b has g'y >= f(y) >= 0 on the cone and g'b = f(b) < 0.
func separateExponential(b, z []float64) {
	u, v, w := b[0], b[1], b[2]
	switch {
	case v < 0:
		z[1] = 1
	case w < 0:
		z[2] = 1
	case v == 0: // u > 0: z = (-1, a, c) with c = exp(-a-1) is in the dual cone
		z[0], z[2] = -1, 1
		if w > 0 {
			z[2] = min(1, u/(2*w))
		}
		z[1] = -1 - math.Log(z[2])
	default:
		// g / exp(u/v) = (-1, u/v - 1, exp(-u/v))
		z[0], z[1], z[2] = -1, u/v-1, math.Exp(-u/v)
	}
}

// separateDualExponential does the same with f(u, v, w) = e w + u exp(v/u),
// whose gradient is ((1-r) exp(r), exp(r), e) with r = v/u.
func separateDualExponential(b, z []float64) {
	u, v, w := b[0], b[1], b[2]
	switch {
	case u > 0:
		z[0] = -1
	case w < 0:
		z[2] = 1
	case u == 0: // v < 0: z = (log c, 1, c) is in the exponential cone
		z[1], z[2] = 1, 1
		if w > 0 {
			z[2] = min(1, -v/(2*w))
		}
		z[0] = math.Log(z[2])
	default:
		e := math.Exp(v/u - 1)
		z[0], z[1], z[2] = (1-v/u)*e, e, 1
	}
}

// separatePower does the same with f(u, v, w) = u^a v^(1-a) - |w|, for the dual
// cone in the variables u/a and v/(1-a). On an edge, where u or v is zero, the
// gradient is infinite and is taken at a point y = b + (du, dv, 0) close by with
// f(y) < 0: as g >= 0 in its first two entries, g'b <= g'y = f(y).
func separatePower(c Cone, b, z []float64) {
	a, scaleU, scaleV := c.Alpha, 1.0, 1.0
	if c.Kind == DualPowerCone {
		scaleU, scaleV = 1/a, 1/(1-a)
	}
	u, v, w := b[0]*scaleU, b[1]*scaleV, b[2]
	switch {
	case u < 0:
		z[0] = 1
		return
	case v < 0:
		z[1] = 1
		return
	}
	for floor := math.Abs(w) / 2; floor > 0; floor /= 2 {
		yu, yv := max(u, floor), max(v, floor)
		if mean := math.Pow(yu, a) * math.Pow(yv, 1-a); mean < math.Abs(w) {
			z[0], z[1], z[2] = a*mean/yu*scaleU, (1-a)*mean/yv*scaleV, -math.Copysign(1, w)
			return
		}
	}
}

// argmax returns the index of the largest f(v[i]).
func argmax(v []float64, f func(float64) float64) int {
	best := 0
	for i := range v {
		if f(v[i]) > f(v[best]) {
			best = i
		}
	}
	return best
}

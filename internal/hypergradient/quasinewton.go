package hypergradient

import "gonum.org/v1/gonum/floats"

// pairs is the number of steps that the approximation of the Hessian remembers.
const pairs = 20

// curvature holds the last steps s and the changes y of the gradient on them, with y's > 0.
type curvature struct{ s, y [][]float64 }

// add remembers a step. One of no curvature, or a negative one, says nothing and is left out.
func (c *curvature) add(s, y []float64) {
	if sy := floats.Dot(s, y); !(sy > 1e-12*floats.Norm(s, 2)*floats.Norm(y, 2)) {
		return
	}
	if len(c.s) == pairs {
		c.s, c.y = c.s[1:], c.y[1:]
	}
	c.s, c.y = append(c.s, s), append(c.y, y)
}

// direction is -B g, with B the approximation of the inverse Hessian (Nocedal, Wright,
// Numerical Optimization, algorithm 7.4); -g where nothing is known.
func (c *curvature) direction(g []float64) []float64 {
	d := make([]float64, len(g))
	floats.ScaleTo(d, -1, g)
	k := len(c.s)
	if k == 0 {
		return d
	}
	a := make([]float64, k)
	for i := k - 1; i >= 0; i-- {
		a[i] = floats.Dot(c.s[i], d) / floats.Dot(c.s[i], c.y[i])
		floats.AddScaled(d, -a[i], c.y[i])
	}
	floats.Scale(floats.Dot(c.s[k-1], c.y[k-1])/floats.Dot(c.y[k-1], c.y[k-1]), d)
	for i := range k {
		floats.AddScaled(d, a[i]-floats.Dot(c.y[i], d)/floats.Dot(c.s[i], c.y[i]), c.s[i])
	}
	return d
}

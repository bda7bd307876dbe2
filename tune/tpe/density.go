package tpe

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// density is a mixture of normal distributions on [0, 1): sum_i weight_i N(x; centre_i, width_i^2) / mass.
type density struct {
	centre, width, weight []float64 // in the order of the centres
	total                 []float64 // sums of the weights, for drawing
	mass                  float64   // of the mixture within [0, 1)
}

// narrowest bounds the widths from below, together with one over the number of components plus one.
const narrowest = 100

// newDensity puts a component at each point, the oldest first, and the prior N(1/2, 1).
func newDensity(points []float64) *density {
	n := len(points)
	weight := append(fading(n), 1)
	centre := append(slices.Clone(points), 0.5)
	order := make([]int, n+1)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(centre[i], centre[j]) })

	room := make([]float64, 4*(n+1))
	d := &density{centre: room[: 0 : n+1], width: room[n+1 : n+1 : 2*(n+1)], weight: room[2*(n+1) : 2*(n+1) : 3*(n+1)], total: room[3*(n+1) : 3*(n+1)]}
	floor := 1 / math.Min(narrowest, float64(n+2))
	sum := 0.0
	for _, w := range weight {
		sum += w
	}
	for i, c := range order {
		// The farther neighbour; the outermost components have one only.
		width := 0.0
		if i > 0 {
			width = centre[c] - centre[order[i-1]]
		}
		if i < n {
			width = math.Max(width, centre[order[i+1]]-centre[c])
		}
		if n == 1 {
			width = 0.5
		}
		width = math.Max(floor, math.Min(1, width))
		if c == n {
			width = 1
		}
		w := weight[c] / sum
		d.centre, d.width, d.weight = append(d.centre, centre[c]), append(d.width, width), append(d.weight, w)
		last := 0.0
		if i > 0 {
			last = d.total[i-1]
		}
		d.total = append(d.total, last+w)
		d.mass += w * (normal((1-centre[c])/width) - normal(-centre[c]/width))
	}
	return d
}

// fading are the weights of n points, the oldest first: 1 for the latest ones, and before them a ramp from 1/n to 1.
func fading(n int) []float64 {
	w := make([]float64, n)
	ramp := n - forgetting
	for i := range w {
		switch {
		case i >= ramp:
			w[i] = 1
		case ramp == 1:
			w[i] = 1 / float64(n)
		default:
			w[i] = (1 + float64(i)*float64(n-1)/float64(ramp-1)) / float64(n)
		}
	}
	return w
}

// draw returns a number distributed as d.
func (d *density) draw(source *rand.Rand) float64 {
	for {
		i, _ := slices.BinarySearch(d.total, source.Float64())
		i = min(i, len(d.total)-1) // the total is 1 up to rounding
		if x := d.centre[i] + d.width[i]*source.NormFloat64(); x >= 0 && x < 1 {
			return x
		}
	}
}

// far is the distance, in widths, from which on a component is less than the rounding error of the prior's part: exp(-50) is 2e-22.
const far = 10

// at returns the density at x in [0, 1), or infinity if it is larger than most.
func (d *density) at(x, most float64) float64 {
	unit := math.Sqrt(2*math.Pi) * d.mass
	most *= unit
	sum := 0.0
	for i, c := range d.centre {
		z := (x - c) / d.width[i]
		if z > far || z < -far {
			continue
		}
		if sum += d.weight[i] / d.width[i] * math.Exp(-z*z/2); sum > most {
			return math.Inf(1)
		}
	}
	return sum / unit
}

// normal is the distribution function of N(0, 1), which is 0 or 1 to rounding far from 0.
func normal(z float64) float64 {
	switch {
	case z > far:
		return 1
	case z < -far:
		return 0
	}
	return math.Erfc(-z/math.Sqrt2) / 2
}

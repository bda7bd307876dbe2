package tpe

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// density is a mixture of normal distributions on [0, 1): sum_i weight_i N(x; centre_i, width_i^2) / mass.
type density struct {
	centre, width []float64 // in the order of the centres
	height        []float64 // weight_i / width_i
	total         []float64 // sums of the weights, for drawing
	mass          float64   // of the mixture within [0, 1)
}

// narrowest bounds the widths from below, together with one over the number of components plus one.
const narrowest = 100

// newDensity puts a component at each of n points, the oldest first, and the prior N(1/2, 1).
func newDensity(points []float64) *density {
	n := len(points)
	weight := fading(n)
	sorted, age := slices.Clone(points), make([]int, n)
	floats.ArgsortStable(sorted, age)
	prior := 0 // where it is
	for prior < n && sorted[prior] <= 0.5 {
		prior++
	}
	age = slices.Insert(age, prior, -1)
	d := &density{centre: slices.Insert(sorted, prior, 0.5)}
	floor := 1 / math.Min(narrowest, float64(n+2))
	sum, last := floats.Sum(weight)+1, 0.0
	for i, c := range d.centre {
		// The farther neighbour; the outermost components have one only.
		width := 0.0
		if i > 0 {
			width = c - d.centre[i-1]
		}
		if i < n {
			width = math.Max(width, d.centre[i+1]-c)
		}
		if n == 1 {
			width = 0.5
		}
		width = math.Max(floor, math.Min(1, width))
		w := 1.0
		if i == prior {
			width = 1
		} else {
			w = weight[age[i]]
		}
		w /= sum
		last += w
		d.width, d.height, d.total = append(d.width, width), append(d.height, w/width), append(d.total, last)
		d.mass += w * inside(c, width)
	}
	return d
}

// inside is the share of a normal distribution within [0, 1).
func inside(centre, width float64) float64 {
	return distuv.UnitNormal.CDF((1-centre)/width) - distuv.UnitNormal.CDF(-centre/width)
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

// far is the distance, in widths, from which on a component is less than the rounding error of the prior's part:
// exp(-50) is 2e-22.
const far = 10

// at returns the density at x in [0, 1).
func (d *density) at(x float64) float64 {
	sum := 0.0
	for i, c := range d.centre {
		if z := (x - c) / d.width[i]; z <= far && z >= -far {
			sum += d.height[i] * math.Exp(-z*z/2)
		}
	}
	return sum / (math.Sqrt(2*math.Pi) * d.mass)
}

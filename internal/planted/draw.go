package planted

import (
	"math"
	"math/rand/v2"

	"github.com/conetune/conetune/backends"
)

// draw makes random numbers of one flavour.
type draw struct {
	*rand.Rand
	step    float64 // all numbers are multiples
	density float64 // the share of nonzeros
	// regular asks for strictly complementary pairs of numbers that are neither short nor small.
	regular bool
	// large asks for tens of variables.
	large bool
	// shape is an instance whose cones and number of variables are taken, and P only if
	// it has one; nil draws them.
	shape *Instance
}

func newDraw(seed, stream uint64) *draw {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, stream))}
	d.step = []float64{1, 1, 0.125, 0x1p-8}[d.IntN(4)]
	d.density = []float64{1, 1, 0.7, 0.4, 0.2}[d.IntN(5)]
	return d
}

// chance is true once in k times.
func (d *draw) chance(k int) bool { return d.IntN(k) == 0 }

// degenerate is the same, but never true of what is to be regular.
func (d *draw) degenerate(k int) bool { return !d.regular && d.chance(k) }

// number is between -3 and 3 and may be zero.
func (d *draw) number() float64 {
	if d.regular {
		return d.NormFloat64()
	}
	return math.RoundToEven((6*d.Float64()-3)/d.step) * d.step
}

// entry is a number of a matrix, zero where the matrix is sparse.
func (d *draw) entry() float64 {
	if d.density < 1 && d.Float64() >= d.density {
		return 0
	}
	return d.number()
}

// amount is positive, at most 3.
func (d *draw) amount() float64 {
	if d.regular {
		return 0.5 + d.Float64()
	}
	return d.step * float64(1+d.IntN(int(3/d.step)))
}

func (d *draw) sign() float64 { return float64(2*d.IntN(2) - 1) }

func (d *draw) numbers(n int) []float64 {
	out := make([]float64, n)
	if d.degenerate(12) {
		return out
	}
	for i := range out {
		out[i] = d.number()
	}
	return out
}

func (d *draw) entries(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = d.entry()
	}
	return out
}

// rows draws the rows of a matrix.
func (d *draw) rows(m, n int) [][]float64 {
	out := make([][]float64, m)
	for i := range out {
		out[i] = d.entries(n)
	}
	return out
}

// size is a number of variables, mostly few.
func (d *draw) size() int {
	if d.large {
		return 20 + d.IntN(60)
	}
	switch d.IntN(10) {
	case 0:
		return 5 + d.IntN(12)
	case 1, 2:
		return 4 + d.IntN(4)
	default:
		return 1 + d.IntN(4)
	}
}

// cones draws the cones of a program with about as many rows as there are variables,
// up to twice as many.
func (d *draw) cones(mix Mix, n int) []backends.Cone {
	if d.chance(25) {
		return nil
	}
	curved := mix.kinds()
	if d.chance(3) {
		curved = nil
	}
	rows := 1 + d.IntN(2*n)
	var out []backends.Cone
	for m := 0; m < rows; m += out[len(out)-1].Dim {
		var c backends.Cone
		part := 1 + d.IntN(min(rows-m, 6))
		switch k := d.IntN(6); {
		case len(curved) > 0 && k >= 3:
			c = d.curvedCone(curved[d.IntN(len(curved))])
		case k%3 == 0:
			c = backends.Zero(part)
		case k%3 == 1:
			c = backends.Nonnegative(part)
		default:
			c = d.box(part)
		}
		out = append(out, c)
	}
	return out
}

func (d *draw) curvedCone(k backends.ConeKind) backends.Cone {
	alpha := []float64{0.5, 0.25, 0.75, 0.3, 0.8, 0.05 + 0.9*d.Float64()}[d.IntN(6)]
	switch k {
	case backends.SecondOrderCone:
		return backends.SecondOrder(1 + d.IntN(5))
	case backends.PSDCone:
		return backends.PSD(1 + d.IntN(4)*(1+d.IntN(2))/2)
	case backends.ExponentialCone:
		return backends.Exponential()
	case backends.DualExponentialCone:
		return backends.DualExponential()
	case backends.PowerCone:
		return backends.Power(alpha)
	case backends.DualPowerCone:
		return backends.DualPower(alpha)
	case backends.GeneralizedPowerCone:
		return d.generalizedPower()
	case backends.DualGeneralizedPowerCone:
		return dual(d.generalizedPower())
	default:
		return backends.NuclearNorm(1+d.IntN(3), 1+d.IntN(3))
	}
}

// box draws bounds: both, one, none, equal, or far away.
func (d *draw) box(n int) backends.Cone {
	lower, upper := make([]float64, n), make([]float64, n)
	for i := range lower {
		lower[i] = d.number()
		upper[i] = lower[i] + d.amount()
		switch d.IntN(9) {
		case 0, 1:
			upper[i] = math.Inf(1)
		case 2, 3:
			lower[i] = math.Inf(-1)
		case 4:
			lower[i], upper[i] = math.Inf(-1), math.Inf(1)
		case 5:
			upper[i] = lower[i]
		}
	}
	return backends.Box(lower, upper)
}

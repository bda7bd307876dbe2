package planted

import (
	"math"
	"math/rand/v2"
)

// draw makes random numbers of one flavour.
type draw struct {
	*rand.Rand
	*tape
	step    float64 // all numbers are multiples
	density float64 // the share of nonzeros
	// regular asks for strictly complementary pairs of numbers that are neither short nor small.
	regular bool
	// far is the size of solutions beside the data, above 1 in the mode Far.
	far float64
	// shape is an instance whose cones and number of variables are taken, and P only if it has one; nil draws them.
	shape *Instance
}

// tape is a source of random numbers that keeps what it gives. What is written on it in the beginning comes first.
type tape struct {
	rand.Source
	values []uint64
	at     int
}

func (t *tape) Uint64() uint64 {
	if t.at == len(t.values) {
		t.values = append(t.values, t.Source.Uint64())
	}
	t.at++
	return t.values[t.at-1]
}

// newDraw begins with the values on a tape.
func newDraw(id ID, values ...uint64) *draw {
	t := &tape{Source: rand.NewPCG(id.Seed, 0x70616e74), values: values}
	d := &draw{Rand: rand.New(t), tape: t, far: 1}
	d.step = []float64{1, 1, 0.125, 0x1p-8}[d.IntN(4)]
	d.density = []float64{1, 1, 0.7, 0.4, 0.2}[d.IntN(5)]
	if id.Mode == Far {
		d.far = math.Ldexp(1, max(0, int(float64(id.Scale)*math.Log2(10))-5))
	}
	return d
}

// chance is true once in k times.
func (d *draw) chance(k int) bool { return d.IntN(k) == 0 }

// number is between -3 and 3 and may be zero.
func (d *draw) number() float64 {
	if d.regular {
		return d.NormFloat64()
	}
	return math.RoundToEven((6*d.Float64()-3)/d.step) * d.step
}

// amount is positive, at most 3.
func (d *draw) amount() float64 {
	if d.regular {
		return 0.5 + d.Float64()
	}
	return d.step * float64(1+d.IntN(int(3/d.step)))
}

func (d *draw) sign() float64 { return float64(2*d.IntN(2) - 1) }

// magnitude is a power of 2 between 10^-k and 10^k.
func (d *draw) magnitude(k float64) float64 {
	return math.Ldexp(1, int(math.Round((2*d.Float64()-1)*k*math.Log2(10))))
}

// fill calls f for each of n numbers.
func fill(n int, f func() float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f()
	}
	return out
}

// numbers draws a vector, now and then that of zeros.
func (d *draw) numbers(n int) []float64 {
	if !d.regular && d.chance(12) {
		return make([]float64, n)
	}
	return fill(n, d.number)
}

// entries draws a row of a matrix, zeros where that is sparse.
func (d *draw) entries(n int) []float64 {
	return fill(n, func() float64 {
		if d.density < 1 && d.Float64() >= d.density {
			return 0
		}
		return d.number()
	})
}

func (d *draw) rows(m, n int) [][]float64 {
	out := make([][]float64, m)
	for i := range out {
		out[i] = d.entries(n)
	}
	return out
}

// size is a number of variables, mostly few.
func (d *draw) size(mode string) int {
	if mode == Large {
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

// orthogonal returns rows of an orthogonal matrix: signs in places, with two reflections unless it is to be exact.
func (d *draw) orthogonal(n int, exact bool) [][]float64 {
	out := zeroRows(n, n)
	for i, j := range d.Perm(n) {
		out[i][j] = d.sign()
	}
	for range 2 {
		if exact {
			break
		}
		v := fill(n, d.NormFloat64)
		v[d.IntN(n)]++
		for i, row := range out {
			out[i] = combine(row, -2*dot(row, v)/dot(v, v), v)
		}
	}
	return out
}

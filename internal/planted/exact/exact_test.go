package exact

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/matrices"
)

// tiny is a program that can be written in a line.
type tiny struct {
	P [][]float64 // symmetric, nil for none
	Q []float64
	R []line
}

// line is lower <= b - a'x <= upper.
type line struct {
	a    []float64
	b    float64
	cone backends.Cone
}

var zero, leq = backends.Zero(1), backends.Nonnegative(1)

func box(lower, upper float64) backends.Cone {
	return backends.Box([]float64{lower}, []float64{upper})
}

func (t tiny) problem() *backends.Problem {
	n, m := len(t.Q), len(t.R)
	p := &backends.Problem{Q: t.Q, A: matrices.Of(m, n, func(i, j int) float64 { return t.R[i].a[j] })}
	if t.P != nil {
		p.P = matrices.Of(n, n, func(i, j int) float64 {
			if i > j {
				return 0
			}
			return t.P[i][j]
		})
	}
	for _, l := range t.R {
		p.B, p.Cones = append(p.B, l.b), append(p.Cones, l.cone)
	}
	return p
}

// draw draws a program of n variables and up to most rows with integers from -3 to 3.
func draw(seed uint64, n, most int) tiny {
	rng := rand.New(rand.NewPCG(seed, 59))
	number := func() float64 { return float64((rng.IntN(7) - 3) * rng.IntN(2)) }
	vector := func() []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = number()
		}
		return out
	}
	t := tiny{Q: vector()}
	if v := vector(); rng.IntN(2) == 0 {
		t.P = make([][]float64, n)
		for i := range v {
			t.P[i] = make([]float64, n)
			for j := range v {
				t.P[i][j] = v[i] * v[j]
			}
		}
	}
	for range rng.IntN(most + 1) {
		l := number()
		t.R = append(t.R, line{vector(), number(), []backends.Cone{zero, leq, leq,
			box(l, l+float64(rng.IntN(3)))}[rng.IntN(4)]})
	}
	return t
}

// TestByHand has answers with numbers that a reader can check.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		tiny
		value string // of optimal ones
		// feasible and bounded say which sides have a point.
		feasible, bounded bool
	}{
		{"no rows", tiny{Q: []float64{0}}, "0", true, true},
		{"no rows, a slope", tiny{Q: []float64{1}}, "", true, false},
		{"parabola", tiny{P: [][]float64{{3}}, Q: []float64{2}}, "-2/3", true, true}, // x = -2/3
		{"a third", tiny{Q: []float64{1}, R: []line{{[]float64{-3}, -1, leq}}}, "1/3", true, true},
		{"0 = -3", tiny{Q: []float64{0}, R: []line{{[]float64{0}, -3, zero}}}, "", false, true},
		{"0 = -3 and a slope", tiny{Q: []float64{1}, R: []line{{[]float64{0}, -3, zero}}}, "", false, false},
		{"flat along (1, 1)", tiny{P: [][]float64{{4, -4}, {-4, 4}}, Q: []float64{-3, 1}}, "", true, false},
		// u = x1 - x2: 2u^2 - 3u
		{"flat along (1, 1), level", tiny{P: [][]float64{{4, -4}, {-4, 4}}, Q: []float64{-3, 3}}, "-9/8", true, true},
		{"in a box", tiny{Q: []float64{1, -1}, R: []line{
			{[]float64{1, 0}, 0, box(-2, 3)}, {[]float64{0, 1}, 0, box(-2, 3)}, // -3 <= x <= 2
		}}, "-5", true, true},
		{"box and equation apart", tiny{Q: []float64{0}, R: []line{
			{[]float64{1}, 0, box(-2, 3)}, {[]float64{1}, 3, zero},
		}}, "", false, true},
	} {
		got, err := Solve(c.problem())
		require.NoError(t, err, c.name)
		assert.Equal(t, []bool{c.feasible, c.bounded}, []bool{got.X != nil, got.Z != nil}, c.name)
		assert.Equal(t, []bool{c.feasible, c.bounded}, []bool{got.Farkas == nil, got.Ray == nil}, c.name)
		if c.value != "" {
			assert.Equal(t, c.value, got.Value.RatString(), c.name)
		}
	}
}

// TestAgainstVertices finds the optimum of small linear programs a second way: where
// the feasible set has a vertex, one of them is best.
func TestAgainstVertices(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(1000) {
		tiny := draw(seed, 2, 5)
		tiny.P = nil
		for j := range 2 { // within a square, so that there are vertices
			a := make([]float64, 2)
			a[j] = 1
			tiny.R = append(tiny.R, line{a, 0, box(-7, 7)})
		}
		got, err := Solve(tiny.problem())
		require.NoError(t, err, tiny)
		p, err := newProgram(tiny.problem())
		require.NoError(t, err)
		var best *big.Rat
		for i, a := range p.rows {
			for _, b := range p.rows[:i] {
				det := minus(times(a.g[0], b.g[1]), times(a.g[1], b.g[0]))
				if det.Sign() == 0 {
					continue
				}
				x := []*big.Rat{minus(times(a.h, b.g[1]), times(a.g[1], b.h)), minus(times(a.g[0], b.h), times(a.h, b.g[0]))}
				x[0].Quo(x[0], det)
				x[1].Quo(x[1], det)
				feasible := true
				for _, r := range p.rows {
					feasible = feasible && dot(r.g, x).Cmp(r.h) <= 0
				}
				if value := p.value(x); feasible && (best == nil || value.Cmp(best) < 0) {
					best = value
				}
			}
		}
		if best == nil {
			assert.NotNil(t, got.Farkas, "seed %d: %v", seed, tiny)
			seen["infeasible"]++
		} else if assert.NotNil(t, got.Value, "seed %d: %v", seed, tiny) {
			assert.Equal(t, best.RatString(), got.Value.RatString(), "seed %d: %v", seed, tiny)
			seen["optimal"]++
		}
	}
	assert.Greater(t, seen["optimal"], 100)
	assert.Greater(t, seen["infeasible"], 100)
}

func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// TestProofsAreChecked spoils proofs: a multiplier that is negative, a certificate that
// is zero, a point that is moved out of a row.
func TestProofsAreChecked(t *testing.T) {
	for seed := range uint64(300) {
		p, err := newProgram(draw(seed, 3, 4).problem())
		require.NoError(t, err)
		x, y, solved := p.find()
		n, m := len(x), len(y)
		assert.False(t, p.infeasible(zeros(m)))
		assert.False(t, p.falls(zeros(n)))
		if !solved {
			assert.True(t, p.infeasible(y) || p.falls(x))
			continue
		}
		assert.True(t, p.optimal(x, y))
		for k, r := range p.rows {
			before := y[k]
			y[k] = big.NewRat(-1, 1000)
			assert.False(t, p.optimal(x, y))
			y[k] = before
			for j, g := range r.g {
				if g.Sign() != 0 { // beyond h by one
					moved := append([]*big.Rat{}, x...)
					step := minus(r.h, dot(r.g, x))
					moved[j] = new(big.Rat).Add(x[j], step.Quo(step.Add(step, big.NewRat(1, 1)), g))
					assert.False(t, p.optimal(moved, y))
				}
			}
		}
	}
}

func TestSolveRefuses(t *testing.T) {
	_, err := Solve(&backends.Problem{Q: []float64{1}, B: []float64{1}})
	assert.ErrorContains(t, err, "A")
	_, err = Solve(tiny{P: [][]float64{{1, 2}, {2, 1}}, Q: []float64{0, 0}}.problem())
	assert.ErrorContains(t, err, "not positive semidefinite")
	_, err = Solve(tiny{P: [][]float64{{0, 1}, {1, 0}}, Q: []float64{0, 0}}.problem())
	assert.ErrorContains(t, err, "not positive semidefinite")
	p := tiny{Q: []float64{0}, R: []line{{[]float64{1}, 0, zero}}}.problem()
	p.Cones = []backends.Cone{backends.SecondOrder(1)}
	_, err = Solve(p)
	assert.ErrorContains(t, err, "no second-order cones")
}

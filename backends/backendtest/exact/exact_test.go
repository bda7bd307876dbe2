package exact

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
)

// TestKnown has the cases of the conformance suite, whose answers are worked out by hand.
func TestKnown(t *testing.T) {
	known := 0
	for _, c := range backendtest.Cases() {
		got, err := Solve(c.Problem)
		if err != nil {
			assert.ErrorContains(t, err, "cones", c.Name)
			continue
		}
		known++
		switch c.Status {
		case backends.Optimal:
			require.True(t, got.Optimal(), c.Name)
			value, _ := got.Value.Float64()
			assert.InDelta(t, c.Objective, value, 1e-9*max(1, abs(c.Objective)), c.Name)
			if c.UniqueX {
				for j, x := range got.X {
					v, _ := x.Float64()
					assert.InDelta(t, c.X[j], v, 1e-7*max(1, abs(c.X[j])), c.Name)
				}
			}
			if c.UniqueZ {
				for i, z := range got.Z {
					v, _ := z.Float64()
					assert.InDelta(t, c.Z[i], v, 1e-7*max(1, abs(c.Z[i])), c.Name)
				}
			}
		case backends.PrimalInfeasible:
			assert.NotNil(t, got.Farkas, c.Name)
		case backends.DualInfeasible:
			assert.NotNil(t, got.Ray, c.Name)
		}
	}
	assert.Greater(t, known, 20)
}

func abs(v float64) float64 { return max(v, -v) }

// TestByHand has answers with numbers that a reader can check.
func TestByHand(t *testing.T) {
	zero, leq, box := backends.ZeroCone, backends.NonnegativeCone, backends.BoxCone
	for _, c := range []struct {
		name  string
		tiny  Tiny
		value string // of optimal ones
		both  bool   // infeasible and unbounded
		want  backends.Status
	}{
		{"no rows", Tiny{Q: []float64{0}}, "0", false, backends.Optimal},
		{"no rows, a slope", Tiny{Q: []float64{1}}, "", false, backends.DualInfeasible},
		{"parabola", Tiny{P: [][]float64{{3}}, Q: []float64{2}}, "-2/3", false, backends.Optimal}, // x = -2/3
		{"a third", Tiny{Q: []float64{1}, Rows: []Row{{A: []float64{-3}, B: -1, Kind: leq}}}, "1/3", false, backends.Optimal},
		{"0 = -3", Tiny{Q: []float64{0}, Rows: []Row{{A: []float64{0}, B: -3, Kind: zero}}}, "", false, backends.PrimalInfeasible},
		{"0 = -3 and a slope", Tiny{Q: []float64{1}, Rows: []Row{{A: []float64{0}, B: -3, Kind: zero}}}, "", true, backends.PrimalInfeasible},
		{"flat along (1, 1)", Tiny{P: [][]float64{{4, -4}, {-4, 4}}, Q: []float64{-3, 1}}, "", false, backends.DualInfeasible},
		{"flat along (1, 1), level", Tiny{P: [][]float64{{4, -4}, {-4, 4}}, Q: []float64{-3, 3}}, "-9/8", false, backends.Optimal}, // u = x1 - x2: 2u^2 - 3u
		{"in a box", Tiny{Q: []float64{1, -1}, Rows: []Row{
			{A: []float64{1, 0}, Kind: box, Lower: -2, Upper: 3}, {A: []float64{0, 1}, Kind: box, Lower: -2, Upper: 3}, // -3 <= x <= 2
		}}, "-5", false, backends.Optimal},
		{"box and equation apart", Tiny{Q: []float64{0}, Rows: []Row{
			{A: []float64{1}, Kind: box, Lower: -2, Upper: 3}, {A: []float64{1}, B: 3, Kind: zero},
		}}, "", false, backends.PrimalInfeasible},
	} {
		got, err := Solve(c.tiny.Problem())
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got.Status(), c.name)
		if got.Optimal() {
			assert.Equal(t, c.value, got.Value.RatString(), c.name)
		}
		assert.Equal(t, c.both, got.Farkas != nil && got.Ray != nil, c.name)
	}
}

// TestAgainstVertices finds the optimum of small linear programs a second way: where
// the feasible set has a vertex, one of them is best.
func TestAgainstVertices(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(1000) {
		tiny := Draw(seed, 2, 5)
		tiny.P = nil
		for len(tiny.Q) < 2 {
			tiny.Q = append(tiny.Q, 0)
			for i := range tiny.Rows {
				tiny.Rows[i].A = append(tiny.Rows[i].A, 0)
			}
		}
		for j := range 2 { // within a square, so that there are vertices
			a := make([]float64, 2)
			a[j] = 1
			tiny.Rows = append(tiny.Rows, Row{A: a, Kind: backends.BoxCone, Lower: -7, Upper: 7})
		}
		got, err := Solve(tiny.Problem())
		require.NoError(t, err, tiny)
		p, err := newProgram(tiny.Problem())
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
			assert.Equal(t, backends.PrimalInfeasible, got.Status(), "seed %d: %v", seed, tiny)
			seen["infeasible"]++
		} else if assert.True(t, got.Optimal(), "seed %d: %v", seed, tiny) {
			assert.Equal(t, best.RatString(), got.Value.RatString(), "seed %d: %v", seed, tiny)
			seen["optimal"]++
		}
	}
	assert.Greater(t, seen["optimal"], 100)
	assert.Greater(t, seen["infeasible"], 100)
}

func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// TestScaled: positive factors change no status.
func TestScaled(t *testing.T) {
	for seed := range uint64(300) {
		tiny := Draw(seed, 3, 5)
		before, err := Solve(tiny.Problem())
		require.NoError(t, err)
		after, err := Solve(tiny.Scaled(seed, 30).Problem())
		require.NoError(t, err)
		assert.Equal(t, before.word(), after.word(), "seed %d", seed)
	}
}

// TestProofsAreChecked spoils proofs: a multiplier that is negative, a certificate that
// is zero, a point that is moved out of a row.
func TestProofsAreChecked(t *testing.T) {
	for seed := range uint64(300) {
		p, err := newProgram(Draw(seed, 3, 4).Problem())
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
	_, err = Solve((&Tiny{P: [][]float64{{1, 2}, {2, 1}}, Q: []float64{0, 0}}).Problem())
	assert.ErrorContains(t, err, "not positive semidefinite")
	_, err = Solve((&Tiny{P: [][]float64{{0, 1}, {1, 0}}, Q: []float64{0, 0}}).Problem())
	assert.ErrorContains(t, err, "not positive semidefinite")
	p := (&Tiny{Q: []float64{0}, Rows: []Row{{A: []float64{1}}}}).Problem()
	p.Cones = []backends.Cone{backends.SecondOrder(1)}
	_, err = Solve(p)
	assert.ErrorContains(t, err, "no second-order cones")
}

// TestNative has no wrong answer of the native backend.
func TestNative(t *testing.T) {
	b, err := backends.Open("native")
	require.NoError(t, err)
	count := map[string]int{}
	for seed := range uint64(1000) {
		kind, text := Compare(b, backends.Options{}, Draw(seed, 4, 6))
		count[kind.Word]++
		if kind.Word != "right" && kind.Word != "undecided" {
			t.Errorf("seed %d: %v: %s: %v", seed, kind, text, Draw(seed, 4, 6))
		}
	}
	t.Log(count)
	assert.Less(t, count["undecided"], 10)
}

// liar is a backend that calls everything optimal.
type liar struct{ backends.ConicBackend }

type liarSolver struct{ backends.Solver }

func (b liar) Setup(p *backends.Problem, o backends.Options) (backends.Solver, error) {
	s, err := b.ConicBackend.Setup(p, o)
	return liarSolver{s}, err
}

func (liarSolver) Solve(context.Context) (*backends.Solution, error) {
	return &backends.Solution{Status: backends.Optimal}, nil
}

// TestShrink shrinks a false answer to the smallest program that has it.
func TestShrink(t *testing.T) {
	b, err := backends.Open("native")
	require.NoError(t, err)
	o := backends.Options{}
	for seed := range uint64(2000) {
		tiny := Draw(seed, 4, 6)
		kind, _ := Compare(liar{b}, o, tiny)
		if kind.Word != "wrong" || kind.Truth != "infeasible" {
			continue
		}
		small := Shrink(liar{b}, o, tiny)
		assert.Len(t, small.Rows, 1, small) // 0 = 1 in one variable without cost, or 0 <= -1
		assert.Equal(t, []float64{0}, small.Rows[0].A, small)
		assert.Equal(t, []float64{0}, small.Q)
		assert.Equal(t, 1.0, abs(small.Rows[0].B), small)
		return
	}
	t.Error("no infeasible program")
}

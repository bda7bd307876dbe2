package backendtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
)

// Hostile gives the backend small programs that no one means seriously: numbers up to
// the largest and down to the smallest, rows and columns of zeros, rows twice, a single
// variable, no rows, quadratic terms that are not convex, limits that leave no time, and
// updates and starting points of the same kind. Every call has to return, with an error
// or with a solution whose parts are finite and of the right lengths; the verdicts are
// the matter of other tests. The environment variables HOSTILE_FIRST and HOSTILE_SEEDS replace the
// first seed, 0, and their number.
func Hostile(t *testing.T, b backends.ConicBackend, seeds int, settings any) {
	b = backends.Checked(b)
	first := uint64(fromEnvironment("HOSTILE_FIRST", 0))
	seeds = fromEnvironment("HOSTILE_SEEDS", seeds)
	for seed := first; seed < first+uint64(seeds); seed++ {
		h := hostile{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 41)), backend: b}
		h.run(settings)
		if t.Failed() {
			return
		}
	}
}

// hostile is one sequence of calls.
type hostile struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	backend backends.ConicBackend
	wild    float64 // share of the numbers of extreme size
}

// extremes are sizes at which squares, sums or quotients leave the numbers, or at which
// solvers see an infinity.
var extremes = []float64{
	math.MaxFloat64, 1e300, 1e200, 1e154, 1e100, 1e31, 1e30, 1e20, 1e15, 1e10, 1e8,
	1e-8, 1e-10, 1e-15, 1e-20, 1e-30, 1e-100, 1e-154, 1e-200, 1e-300, 2.3e-308, math.SmallestNonzeroFloat64,
}

func (h *hostile) number() float64 {
	switch {
	case h.rng.Float64() < h.wild:
		return math.Copysign(extremes[h.rng.IntN(len(extremes))], h.rng.Float64()-0.5)
	case h.rng.Float64() < 0.3:
		return 0
	}
	return float64(h.rng.IntN(7) - 3)
}

func (h *hostile) vector(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = h.number()
	}
	return out
}

// cones draws factors that take m rows or a few more.
func (h *hostile) cones(m int) []backends.Cone {
	var out []backends.Cone
	for left := m; left > 0; {
		dim := 1 + h.rng.IntN(left)
		c := backends.Cone{Kind: backends.ConeKind(h.rng.IntN(int(backends.DualGeneralizedPowerCone) + 1)), Dim: dim}
		if !h.backend.Capabilities().Supports(c.Kind) {
			continue
		}
		switch c.Kind {
		case backends.BoxCone:
			c.Lower, c.Upper = h.vector(dim), h.vector(dim)
			for i, l := range c.Lower {
				c.Lower[i], c.Upper[i] = min(l, c.Upper[i]), max(l, c.Upper[i])
				switch h.rng.IntN(6) {
				case 0:
					c.Lower[i] = -inf
				case 1:
					c.Upper[i] = inf
				case 2:
					c.Upper[i] = c.Lower[i]
				}
			}
		case backends.PSDCone:
			c = backends.PSD(1 + h.rng.IntN(3))
		case backends.ExponentialCone, backends.DualExponentialCone:
			c.Dim = 3
		case backends.PowerCone, backends.DualPowerCone:
			c.Dim, c.Alpha = 3, []float64{0.5, 0.3, 1e-9, 1 - 1e-9, math.SmallestNonzeroFloat64}[h.rng.IntN(5)]
		case backends.NuclearNormCone:
			c = backends.NuclearNorm(1+h.rng.IntN(2), 1+h.rng.IntN(2))
		case backends.GeneralizedPowerCone, backends.DualGeneralizedPowerCone:
			weights := [][]float64{{1}, {0.5, 0.5}, {0.2, 0.5, 0.3}, {1e-9, 1 - 1e-9}, {1, math.SmallestNonzeroFloat64}, {1e-300, 0.5, 0.5}}[h.rng.IntN(6)]
			c.Weights, c.Dim = weights, len(weights)+1+h.rng.IntN(3)
		}
		out, left = append(out, c), left-c.Dim
	}
	return out
}

// rows draws a matrix with rows of zeros, columns of zeros and rows twice.
func (h *hostile) rows(m, n int) [][]float64 {
	out := make([][]float64, m)
	for i := range out {
		out[i] = h.vector(n)
		switch h.rng.IntN(8) {
		case 0:
			clear(out[i])
		case 1:
			out[i] = slices.Clone(out[h.rng.IntN(i+1)])
		}
	}
	if m > 0 && h.rng.IntN(4) == 0 {
		j := h.rng.IntN(n)
		for i := range out {
			out[i][j] = 0
		}
	}
	return out
}

// quadratic draws the upper triangle of a matrix that is convex half of the time.
func (h *hostile) quadratic(n int) [][]float64 {
	out := h.rows(n, n)
	if h.rng.IntN(2) == 0 { // a Gram matrix
		root := h.rows(n, n)
		for i := range n {
			for j := range n {
				out[i][j] = 0
				for k := range n {
					out[i][j] += root[k][i] * root[k][j]
				}
				if math.IsInf(out[i][j], 0) || math.IsNaN(out[i][j]) {
					out[i][j] = math.MaxFloat64
				}
			}
		}
	}
	for i := range n {
		clear(out[i][:i])
	}
	return out
}

func (h *hostile) problem() *backends.Problem {
	h.wild = []float64{0, 0.05, 0.3, 1}[h.rng.IntN(4)]
	n, m := 1+h.rng.IntN(6), h.rng.IntN(9)
	p := &backends.Problem{Q: h.vector(n), Cones: h.cones(m)}
	m = 0
	for _, c := range p.Cones {
		m += c.Dim
	}
	p.B = h.vector(m)
	if m > 0 {
		p.A = matrix(n, h.rows(m, n)...)
	}
	if h.backend.Capabilities().Quadratic && h.rng.IntN(2) == 0 {
		p.P = matrix(n, h.quadratic(n)...)
	}
	return p
}

func (h *hostile) run(settings any) {
	p := h.problem()
	n, m := p.Dims()
	o := backends.Options{MaxIterations: 1 + h.rng.IntN([]int{300, 300, 300, 300, 300, 300, 300, 100_000}[h.rng.IntN(8)]), Settings: settings}
	switch h.rng.IntN(8) {
	case 0:
		o.Eps = []float64{1e-300, 1e-16, 1e300, 1}[h.rng.IntN(4)]
	case 1:
		o.TimeLimit = time.Nanosecond
	}
	solver, err := h.backend.Setup(p, o)
	if err != nil {
		h.refusal("Setup", err)
		return
	}
	for range 1 + h.rng.IntN(4) {
		switch h.rng.IntN(4) {
		case 0:
			err = solver.WarmStart(backends.Point{X: h.vector(n), S: h.vector(m), Z: h.vector(m)})
		case 1:
			u := backends.Update{Q: h.vector(n), B: h.vector(m)}
			if p.A != nil && h.rng.IntN(2) == 0 {
				u.A = h.values(p.A)
			}
			if p.P != nil && h.rng.IntN(2) == 0 {
				u.P = h.values(p.P)
			}
			err = solver.Update(u)
		case 2:
			err = solver.(backends.Tightener).SetEps([]float64{1e-3, 1e-8, 1e-12}[h.rng.IntN(3)])
		default:
			err = nil
		}
		if err != nil {
			h.refusal("change", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		if h.rng.IntN(16) == 0 {
			cancel()
		}
		out, err := solver.Solve(ctx)
		cancel()
		if err != nil {
			h.refusal("Solve", err)
			continue
		}
		h.solution(out, n, m)
	}
	if err := solver.Close(); err != nil {
		h.t.Errorf("seed %d: Close: %v", h.seed, err)
	}
}

// values draws a matrix with the pattern of a.
func (h *hostile) values(a *sparse.CSC) *sparse.CSC {
	raw := a.RawMatrix()
	r, c := a.Dims()
	return sparse.NewCSC(r, c, raw.Indptr, raw.Ind, h.vector(len(raw.Data)))
}

// refusal takes errors that have words.
func (h *hostile) refusal(call string, err error) {
	h.t.Helper()
	var wrong *backends.ProblemError
	var curved *backends.NonconvexError
	if !errors.As(err, &wrong) && !errors.As(err, &curved) {
		h.t.Errorf("seed %d: %s: %T %v", h.seed, call, err, err)
	}
}

func (h *hostile) solution(out *backends.Solution, n, m int) {
	h.t.Helper()
	if out.Status == backends.Unsolved {
		h.t.Errorf("seed %d: no status", h.seed)
	}
	for _, part := range []struct {
		name string
		v    []float64
		want int
	}{{"x", out.X, n}, {"s", out.S, m}, {"z", out.Z, m}} {
		if part.v != nil && len(part.v) != part.want {
			h.t.Errorf("seed %d: %v: %s has length %d, expected %d", h.seed, out.Status, part.name, len(part.v), part.want)
		}
		for _, v := range part.v {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				h.t.Errorf("seed %d: %v: %s holds %g", h.seed, out.Status, part.name, v)
				break
			}
		}
	}
}

// Recovery updates a problem to vectors of extreme numbers, solves, and updates it back,
// after which the solver has to find the answer as if nothing had been.
func Recovery(t *testing.T, b backends.ConicBackend, seeds int, settings any) {
	b = backends.Checked(b)
	c := Shapes()[2].NewCase(1)
	if !b.Capabilities().Quadratic {
		linear := slices.IndexFunc(Shapes(), func(s Shape) bool { return s.Name == "lp, dense" })
		c = Shapes()[linear].NewCase(1)
	}
	n, m := c.Problem.Dims()
	for seed := range uint64(seeds) {
		h := hostile{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 43)), backend: b, wild: 0.5}
		solver, err := b.Setup(c.Problem, backends.Options{MaxIterations: 20_000, Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		solve := func() *backends.Solution {
			out, err := solver.Solve(context.Background())
			if err != nil {
				h.refusal("Solve", err)
				return nil
			}
			return out
		}
		if out := solve(); out == nil || out.Status != backends.Optimal {
			t.Fatalf("before: %+v", out)
		}
		if err := solver.Update(backends.Update{Q: h.vector(n), B: h.vector(m)}); err != nil {
			h.refusal("Update", err)
		}
		solve()
		if err := solver.Update(backends.Update{Q: c.Problem.Q, B: c.Problem.B}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if out := solve(); out == nil || out.Status != backends.Optimal || math.Abs(out.Objective-c.Objective) > 1e-6*max(1, math.Abs(c.Objective)) {
			t.Errorf("seed %d: %+v after the numbers are back, expected the objective %g", seed, out, c.Objective)
		}
		if err := solver.Close(); err != nil {
			t.Error(err)
		}
	}
}

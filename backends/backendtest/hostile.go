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
	"github.com/conetune/conetune/internal/planted"
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

// spoil replaces some numbers by those of extreme size.
func (h *hostile) spoil(v []float64) []float64 {
	for i := range v {
		if h.rng.Float64() < h.wild {
			v[i] = math.Copysign(extremes[h.rng.IntN(len(extremes))], h.rng.Float64()-0.5)
		}
	}
	return v
}

// vector draws small integers, and spoils them.
func (h *hostile) vector(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64((h.rng.IntN(7) - 3) * min(1, h.rng.IntN(4)))
	}
	return h.spoil(out)
}

// problem is a planted one, often degenerate, with some of its numbers spoilt; P is often no longer convex.
func (h *hostile) problem() *backends.Problem {
	h.wild = []float64{0, 0.05, 0.3, 1}[h.rng.IntN(4)]
	for {
		p := planted.Generate(planted.ID{Mode: planted.Verdicts, Mix: planted.MixFor(h.backend),
			Seed: h.rng.Uint64()}).Problem()
		if h.backend.Capabilities().Unsupported(h.backend.Name(), p) != nil {
			continue
		}
		h.spoil(p.Q)
		h.spoil(p.B)
		if p.A != nil {
			h.spoil(p.A.RawMatrix().Data)
		}
		switch k := h.rng.IntN(2); {
		case p.P != nil && k == 0:
			h.spoil(p.P.RawMatrix().Data)
		case p.P != nil: // as convex as it was, unless it leaves the numbers
			by := h.spoil([]float64{1})
			for i, v := range p.P.RawMatrix().Data {
				p.P.RawMatrix().Data[i] = max(-math.MaxFloat64, min(v*math.Abs(by[0]), math.MaxFloat64))
			}
		}
		for k := range p.Cones {
			h.spoilCone(&p.Cones[k])
		}
		return p
	}
}

// spoilCone spoils the bounds of a box and the exponents of a power cone.
func (h *hostile) spoilCone(c *backends.Cone) {
	for i, l := range c.Lower {
		v := h.spoil([]float64{l, c.Upper[i]})
		c.Lower[i], c.Upper[i] = min(v[0], v[1]), max(v[0], v[1])
	}
	tiny := []float64{1e-9, 1e-300, math.SmallestNonzeroFloat64}[h.rng.IntN(3)]
	if h.rng.Float64() >= h.wild {
		return
	}
	if c.Alpha != 0 {
		c.Alpha = []float64{tiny, 1 - 1e-9}[h.rng.IntN(2)]
	}
	if w := c.Weights; len(w) > 1 {
		c.Weights = slices.Clone(w)
		c.Weights[0], c.Weights[1] = tiny, w[0]+w[1]-tiny
	}
}

func (h *hostile) run(settings any) {
	p := h.problem()
	n, m := p.Dims()
	o := backends.Options{MaxIterations: 1 + h.rng.IntN([]int{300, 300, 300, 300, 300, 300, 300, 100_000}[h.rng.IntN(8)]),
		Settings: settings}
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
	if !errors.As(err, &wrong) {
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
	shapes := suite{backend: b}.shapes()
	c := NewCase(shapes[min(2, len(shapes)-1)], 1)
	n, m := c.Problem.Dims()
	for seed := range uint64(seeds) {
		h := hostile{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 43)), backend: b, wild: 0.5}
		solver := Setup(t, b, c.Problem, backends.Options{MaxIterations: 20_000, Settings: settings})
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
		must(t, solver.Update(backends.Update{Q: c.Problem.Q, B: c.Problem.B}), "seed", seed)
		if out := solve(); out == nil || out.Status != backends.Optimal || math.Abs(out.Objective-c.Objective) > 1e-6*max(1,
			math.Abs(c.Objective)) {
			t.Errorf("seed %d: %+v after the numbers are back, expected the objective %g", seed, out, c.Objective)
		}
	}
}

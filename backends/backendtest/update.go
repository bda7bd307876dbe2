package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
)

// updateShapes are the shapes on which updates and warm starts are tried.
func (s suite) updateShapes() []Shape {
	return slices.DeleteFunc(Shapes(), func(sh Shape) bool { return !s.supports(sh.NewCase(0).Problem) })
}

// updates changes every part of a problem, many times and in every combination,
// and compares with a solver that starts from the changed data.
func (s suite) updates(t *testing.T) {
	for _, shape := range s.updateShapes() {
		t.Run(shape.Name, func(t *testing.T) {
			first := shape.NewCase(1)
			original := clone(first.Problem)
			current := clone(first.Problem)
			solver := s.open(t, first.Problem, s.options.backend())
			for round := range 16 {
				parts := round%15 + 1 // the bits say which of q, b, P, A change
				next, u := s.changed(shape, current, uint64(round), parts)
				if err := solver.Update(u); err != nil {
					t.Fatalf("Update: %v", err)
				}
				scribble(u) // the solver must have copied what it needs
				current = next
				got, want := solve(t, solver), s.once(t, current)
				label := fmt.Sprintf("round %d, parts %04b", round, parts)
				if got.Status != backends.Optimal || want.Status != backends.Optimal {
					t.Errorf("%s: status %v with %.1e, afresh %v with %.1e, expected optimal; %s", label, got.Status, got.Residuals, want.Status, want.Residuals, got.Message)
					continue
				}
				s.checkPoint(t, current, got)
				if off := math.Abs(got.Objective - want.Objective); off > s.options.ObjectiveTol*max(1, math.Abs(want.Objective)) {
					t.Errorf("%s: objective %.12g, afresh %.12g", label, got.Objective, want.Objective)
				}
			}
			if !same(original, first.Problem) {
				t.Error("the problem given to Setup was modified")
			}
		})
	}
}

// changed returns the problem with the parts given by the bits of q, b, P, A
// replaced, and the update that does the same. The primal and the dual point of the
// shape's own problem stay feasible or move with the data, so that an optimum exists:
// q and b are set from a solution (x, s, z) of the changed problem.
func (s suite) changed(shape Shape, p *backends.Problem, seed uint64, parts int) (*backends.Problem, backends.Update) {
	rng := rand.New(rand.NewPCG(seed, 99))
	next := clone(p)
	var u backends.Update
	if parts&4 != 0 && next.P != nil { // P stays semidefinite: D P D with a diagonal D
		d := factors(rng, len(next.Q))
		raw := next.P.RawMatrix()
		for j := range d {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				raw.Data[k] *= d[raw.Ind[k]] * d[j]
			}
		}
		u.P = cloneMatrix(next.P)
	}
	if parts&8 != 0 && next.A != nil {
		d := factors(rng, len(next.Q)) // columns
		raw := next.A.RawMatrix()
		for j := range d {
			for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
				raw.Data[k] *= d[j]
			}
		}
		u.A = cloneMatrix(next.A)
		// x moves to x / d, and A'z to d A'z: q follows, unless P is there to hold the rest.
		for j := range d {
			next.Q[j] *= d[j]
		}
		u.Q = slices.Clone(next.Q)
	}
	if parts&1 != 0 { // with P = 0 the direction of q must stay in the range of the cone
		factor := 1 + rng.Float64()
		for j := range next.Q {
			next.Q[j] *= factor
			if next.P != nil && shape.Rank == shape.N {
				next.Q[j] += 0.1 * rng.NormFloat64()
			}
		}
		u.Q = slices.Clone(next.Q)
	}
	if parts&2 != 0 { // b + A dx is as feasible as b
		dx := normals(rng, len(next.Q))
		for i, v := range times(next.A, dx, len(next.B)) {
			next.B[i] += 0.3 * v
		}
		u.B = slices.Clone(next.B)
	}
	return next, u
}

func factors(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 0.7 + 0.6*rng.Float64()
	}
	return out
}

// scribble overwrites the arrays of an update.
func scribble(u backends.Update) {
	fill := func(v []float64) {
		for i := range v {
			v[i] = math.NaN()
		}
	}
	fill(u.Q)
	fill(u.B)
	for _, a := range []*sparse.CSC{u.P, u.A} {
		if a != nil {
			fill(a.RawMatrix().Data)
		}
	}
}

// updatesToInfeasible moves one problem through all kinds of outcomes and back.
func (s suite) updatesToInfeasible(t *testing.T) {
	// min q x with 0 <= x <= b.
	p := &backends.Problem{Q: []float64{1}, A: matrix(1, []float64{-1}, []float64{1}), B: []float64{0, 1}, Cones: []backends.Cone{backends.Nonnegative(2)}}
	if !s.supports(p) {
		t.Skip("no nonnegative cone")
	}
	solver := s.open(t, p, s.options.backend())
	for round := range 3 {
		for k, step := range []struct {
			u      backends.Update
			status backends.Status
			value  float64
		}{
			{backends.Update{Q: []float64{1}, B: []float64{0, 1}}, backends.Optimal, 0},
			{backends.Update{Q: []float64{-1}}, backends.Optimal, -1},
			{backends.Update{B: []float64{0, -1}}, backends.PrimalInfeasible, inf},
			{backends.Update{B: []float64{2, 5}}, backends.Optimal, -5},
			// the second row becomes -x <= 5, and x is no longer bounded above
			{backends.Update{A: matrix(1, []float64{-1}, []float64{-1})}, backends.DualInfeasible, -inf},
			{backends.Update{Q: []float64{3}}, backends.Optimal, -6},
			{backends.Update{A: matrix(1, []float64{-1}, []float64{1})}, backends.Optimal, -6},
		} {
			if err := solver.Update(step.u); err != nil {
				t.Fatalf("Update: %v", err)
			}
			sol := solve(t, solver)
			if sol.Status != step.status || !(sol.Objective == step.value || math.Abs(sol.Objective-step.value) <= 10*s.options.ObjectiveTol) {
				t.Errorf("round %d, step %d: %v with %g, expected %v with %g; %s", round, k, sol.Status, sol.Objective, step.status, step.value, sol.Message)
			}
		}
	}
}

// warmStart starts from the solution, from a nearby one, and from garbage.
func (s suite) warmStart(t *testing.T) {
	for _, shape := range s.updateShapes() {
		t.Run(shape.Name, func(t *testing.T) {
			c := shape.NewCase(2)
			solver := s.open(t, c.Problem, s.options.backend())
			cold := solve(t, solver)
			if cold.Status != backends.Optimal {
				t.Fatalf("status %v, expected optimal; %s", cold.Status, cold.Message)
			}
			n, m := c.Problem.Dims()
			rng := rand.New(rand.NewPCG(5, 5))
			big := func(k int) []float64 {
				v := normals(rng, k)
				for i := range v {
					v[i] *= math.Pow(10, 12*rng.Float64()-4)
				}
				return v
			}
			for _, start := range []struct {
				name  string
				point backends.Point
				near  bool
			}{
				{"the solution", backends.Point{X: cold.X, S: cold.S, Z: cold.Z}, true},
				{"x alone", backends.Point{X: cold.X}, false},
				{"z alone", backends.Point{Z: cold.Z}, false},
				{"zero", backends.Point{X: make([]float64, n), S: make([]float64, m), Z: make([]float64, m)}, false},
				{"nothing", backends.Point{}, false},
				{"garbage", backends.Point{X: big(n), S: big(m), Z: big(m)}, false},
			} {
				before := []float64{}
				before = append(append(append(before, start.point.X...), start.point.S...), start.point.Z...)
				if err := solver.WarmStart(start.point); err != nil {
					t.Fatalf("%s: WarmStart: %v", start.name, err)
				}
				sol := solve(t, solver)
				if sol.Status != backends.Optimal {
					t.Errorf("from %s: status %v, expected optimal; %s", start.name, sol.Status, sol.Message)
					continue
				}
				s.check(t, c, sol)
				if start.near && s.backend.Capabilities().WarmStart && sol.Iterations > cold.Iterations {
					t.Errorf("from %s: %d iterations, %d from nothing", start.name, sol.Iterations, cold.Iterations)
				}
				after := []float64{}
				if after = append(append(append(after, start.point.X...), start.point.S...), start.point.Z...); !sameBits(before, after) {
					t.Errorf("from %s: the caller's point was modified", start.name)
				}
			}
			for _, part := range []struct {
				name  string
				point backends.Point
			}{
				{"x", backends.Point{X: cold.X}}, {"s", backends.Point{S: cold.S}}, {"z", backends.Point{Z: cold.Z}},
				{"x and s", backends.Point{X: cold.X, S: cold.S}}, {"x and z", backends.Point{X: cold.X, Z: cold.Z}}, {"s and z", backends.Point{S: cold.S, Z: cold.Z}},
			} {
				s.warmNearby(t, c, solver, part.name, part.point)
			}
		})
	}
}

// warmNearby takes a part of the solution of c as the start of a problem nearby. It must do no harm, and if
// x and z are in it and all cones are linear, take no more iterations than from nothing.
func (s suite) warmNearby(t *testing.T, c Case, solver backends.Solver, name string, point backends.Point) {
	t.Helper()
	linear := !slices.ContainsFunc(c.Problem.Cones, func(k backends.Cone) bool {
		return !k.Kind.Intervals()
	})
	near := clone(c.Problem)
	for i := range near.B {
		near.B[i] += 1e-4 * math.Abs(math.Sin(float64(i)))
	}
	fresh := s.once(t, near)
	if err := solver.Update(backends.Update{B: near.B}); err != nil {
		t.Fatalf("Update: %v", err)
	}
	if err := solver.WarmStart(point); err != nil {
		t.Fatalf("%s: WarmStart: %v", name, err)
	}
	warm := solve(t, solver)
	if warm.Status != fresh.Status {
		t.Errorf("nearby, from %s: status %v, %v from nothing; %s", name, warm.Status, fresh.Status, warm.Message)
	} else if off := math.Abs(warm.Objective - fresh.Objective); !(off <= s.options.ObjectiveTol*max(1, math.Abs(fresh.Objective))) {
		t.Errorf("nearby, from %s: objective %.12g, %.12g from nothing", name, warm.Objective, fresh.Objective)
	}
	if linear && point.X != nil && point.Z != nil && s.backend.Capabilities().WarmStart && warm.Iterations > fresh.Iterations {
		t.Errorf("nearby, from %s: %d iterations, %d from nothing", name, warm.Iterations, fresh.Iterations)
	}
}

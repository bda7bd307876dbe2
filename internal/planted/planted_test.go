package planted

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/conetune/conetune/backends"
)

// TestTruth checks what is planted without any solver.
func TestTruth(t *testing.T) {
	seen := map[Class]int{}
	for _, mix := range Mixes() {
		for _, scale := range []int{0, 3, 8} {
			for seed := range uint64(3000) {
				c := Generate(ID{Verdicts, scale, mix, seed})
				seen[c.Class]++
				if err := c.Problem().Validate(); err != nil {
					t.Fatalf("%v, %v: %v", c.ID, c.Class, err)
				}
				if err := c.Verify(); err != nil {
					t.Errorf("%v, %v: %v", c.ID, c.Class, err)
				}
			}
		}
	}
	for class := range Classes {
		if seen[class] < 500 {
			t.Errorf("%v: %d cases", class, seen[class])
		}
	}
}

// TestLargeTruth does the same for larger programs.
func TestLargeTruth(t *testing.T) {
	for seed := range uint64(15) {
		if c := Generate(ID{Large, 3, Every, seed}); c.Verify() != nil {
			t.Errorf("%v, %v: %v", c.ID, c.Class, c.Verify())
		}
	}
}

// TestFarTruth does the same for programs whose solutions are far away, and wants these to be it while the data are
// not.
func TestFarTruth(t *testing.T) {
	for _, mix := range Mixes() {
		for _, scale := range []int{4, 8, 10} {
			away := 0
			for seed := range uint64(1000) {
				c := Generate(ID{Far, scale, mix, seed})
				if err := c.Verify(); err != nil {
					t.Errorf("%v: %v", c.ID, err)
				}
				data := max(1, maxAbs(slices.Concat(c.A...)), maxAbs(c.B), maxAbs(slices.Concat(c.P...)), maxAbs(c.Q))
				if max(maxAbs(c.X), maxAbs(c.Z)) >= 1e-3*math.Pow10(scale)*data {
					away++
				}
			}
			if away < 700 {
				t.Errorf("%v at 10^%d: of 1000 solutions %d are far", mix, scale, away)
			}
		}
	}
}

// TestUpdateTruth does the same for what a solver holds on its way.
func TestUpdateTruth(t *testing.T) {
	seen := map[Class]int{}
	for _, scale := range []int{0, 6} {
		for seed := range uint64(2000) {
			s := newSequence(ID{Updates, scale, Nuclear, seed})
			for range 6 {
				next, name := s.next()
				if next == nil {
					continue
				}
				s.steps = append(s.steps, name)
				before := s.now
				s.now = next
				c := s.seen()
				seen[c.Class]++
				if err := c.Verify(); err != nil {
					t.Errorf("%v, %v: %v", c.ID, s.steps, err)
				}
				if next.Class == Nonconvex {
					s.now = before
				}
			}
		}
	}
	for _, class := range []Class{Optimal, Infeasible, Unbounded, Both, Weak, Nonconvex} {
		if seen[class] < 500 {
			t.Errorf("%v: %d programs", class, seen[class])
		}
	}
}

// TestRelationTruth does the same for what follows from the cases.
func TestRelationTruth(t *testing.T) {
	seen := map[string]int{}
	for _, mix := range Mixes() {
		for _, scale := range []int{0, 6} {
			for seed := range uint64(2000) {
				c := Generate(ID{Relations, scale, mix, seed})
				if c.Class == Nonconvex {
					continue
				}
				other, names := related(c)
				for _, name := range names {
					seen[name]++
				}
				if err := other.Problem().Validate(); err != nil {
					t.Fatalf("%v, %q: %v", c.ID, names, err)
				}
				if err := other.Verify(); err != nil {
					t.Errorf("%v, %v, %q: %v", c.ID, c.Class, names, err)
				}
			}
		}
	}
	for _, k := range relations {
		if seen[k.name] < 200 {
			t.Errorf("%s: %d times", k.name, seen[k.name])
		}
	}
}

// TestApart has a program that an equation takes away from its value, which no point has, one whose dual has another
// value, and one with the value of what follows from it: answers to the last alone are compared.
func TestApart(t *testing.T) {
	for seed, apart := range map[uint64]bool{93002705: true, 93003710: true, 854: false} {
		c := Generate(ID{Relations, 0, General, seed})
		other, names := related(c)
		tally := Run{Backends: []backends.ConicBackend{native(t)}, Mode: Relations, Mix: General, First: seed,
			N: 1}.Do(context.Background())
		if c.Class != Weak || other.Apart != apart || tally.All().Wrong() > 0 || tally.All().Total() != 2 {
			t.Errorf("%v, %q: %v, apart is %v: %+v", c.ID, names, c.Class, other.Apart, tally.Findings)
		}
		first := &backends.Solution{Status: backends.Optimal, X: make([]float64, len(c.Q))}
		second := &backends.Solution{Status: backends.Optimal, Objective: -1}
		if v := c.agree(first, second, 1, Verdict{}); v.Outcome != Off {
			t.Errorf("%v: objectives 0 and -1 are %v", c.ID, v.Outcome)
		}
	}
}

// TestWarmStartsPay: on programs that were planted, a solve from a given point, good or bad, decides where a fresh
// solver does, and takes no more iterations in the mean.
func TestWarmStartsPay(t *testing.T) {
	w := Run{Backends: []backends.ConicBackend{native(t)}, Mode: Updates, Mix: "all", Scales: []int{0, 3},
		N: 60}.Do(context.Background()).Warm
	if w.Starts < 300 || w.Lost > 0 || w.Iterations > w.IterationsCold {
		t.Errorf("%+v", w)
	}
}

// TestFarVerdicts has programs of which answers were wrong: certificates that last places let pass, one that rounding
// of the planted point decides, an objective whose error Solution.Distance knew, and rays weighed with sizes that one
// entry of 1e-11 had made small.
func TestFarVerdicts(t *testing.T) {
	b := native(t)
	for _, id := range []ID{
		{Far, 10, General, 31019289}, {Far, 10, General, 31022581}, {Far, 10, General, 31036296},
		{Far, 10, General, 31001098}, {Far, 8, General, 31030399},
		{Far, 8, General, 136000954}, {Far, 10, General, 136000954}, {Far, 10, General, 176004212},
		{Far, 8, General, 211010639}, {Far, 8, General, 211029146},
	} {
		if v := Generate(id).Run(b, backends.Options{}); v.Outcome.Wrong() {
			t.Errorf("%s: %v %s", id, v.Outcome, v.Detail)
		}
	}
}

// TestPlantedGap: where s and z are both far in one cone, s'z is a difference of large numbers, and the planted point
// not optimal: x = (0, b/a, 0) has s = 0, and no x2 is smaller in a x2 + 3.6e-12 x3 <= b with x3 >= 0, a < 0.
func TestPlantedGap(t *testing.T) {
	c := Generate(ID{Far, 6, General, 31023917})
	n, m := c.Dims()
	x := make([]float64, n)
	x[1] = c.B[m-1] / c.A[m-1][1]
	sol := &backends.Solution{Status: backends.Optimal, X: x, S: make([]float64, m), Z: c.Z, Objective: x[1],
		DualObjective: x[1]}
	if !(sol.Objective < c.Value-4e-4) {
		t.Errorf("objective %g, planted %g", sol.Objective, c.Value)
	}
	if v := c.Judge(sol); v.Outcome != Right {
		t.Error(v)
	}
	x[1] -= c.Gap
	sol.Objective = x[1]
	if v := c.Judge(sol); v.Outcome != Off {
		t.Error(v)
	}
}

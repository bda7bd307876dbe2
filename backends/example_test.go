package backends_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
)

// Minimise (x - 3)^2/2 + (y - 4)^2/2 with x + y <= 5 and x >= 0, y >= 0.
func ExampleOpen() {
	native, err := backends.Open("native")
	if err != nil {
		log.Fatal(err)
	}
	solver, err := native.Setup(&backends.Problem{
		P: sparse.NewCSC(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{1, 1}),
		Q: []float64{-3, -4},
		// The rows of A are (1, 1), (-1, 0) and (0, -1), stored by columns.
		A:     sparse.NewCSC(3, 2, []int{0, 2, 4}, []int{0, 1, 0, 2}, []float64{1, -1, 1, -1}),
		B:     []float64{5, 0, 0},
		Cones: []backends.Cone{backends.Nonnegative(3)},
	}, backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()

	sol, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: x = %.4f, objective %.4f\n", sol.Status, sol.X, sol.Objective)
	// Output:
	// optimal: x = [2.0000 3.0000], objective -11.5000
}

// The multiplier of a row is minus the derivative of the optimal value with
// respect to its right-hand side. Here a dollar of budget, the right-hand side of
// the first row, is worth 2 in the objective, which is minimised.
func ExampleSolver_sensitivity() {
	native, err := backends.Open("native")
	if err != nil {
		log.Fatal(err)
	}
	// Minimise -3x - 2y with x + y <= 4, x <= 3, x >= 0 and y >= 0.
	budget := []float64{4, 3, 0, 0}
	solver, err := native.Setup(&backends.Problem{
		Q:     []float64{-3, -2},
		A:     sparse.NewCSC(4, 2, []int{0, 3, 5}, []int{0, 1, 2, 0, 3}, []float64{1, 1, -1, 1, -1}),
		B:     budget,
		Cones: []backends.Cone{backends.Nonnegative(4)},
	}, backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()

	sol, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("value %.4f, predicted change per unit of budget %.4f\n", sol.Objective, -sol.Z[0])

	if err := solver.Update(backends.Update{B: []float64{4.5, 3, 0, 0}}); err != nil {
		log.Fatal(err)
	}
	more, err := solver.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("measured %.4f\n", (more.Objective-sol.Objective)/0.5)
	// Output:
	// value -11.0000, predicted change per unit of budget -2.0000
	// measured -2.0000
}

// The least x^2/2 with x >= 1: the solution follows the bound, and so does its multiplier, x.
func ExampleNewDerivative() {
	p := &backends.Problem{
		P: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1}), Q: []float64{0},
		A: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{-1}), B: []float64{-1},
		Cones: []backends.Cone{backends.Nonnegative(1)},
	}
	at := backends.Point{X: []float64{1}, S: []float64{0}, Z: []float64{1}}
	d, err := backends.NewDerivative(context.Background(), p, at)
	if err != nil {
		log.Fatal(err)
	}
	x, z, err := d.Solve(context.Background(), []float64{0}, []float64{-1}) // db = -1
	fmt.Printf("dx = %.1f, dz = %.1f, %v\n", x[0], z[0], err)
	// Output:
	// dx = 1.0, dz = 1.0, <nil>
}

// Entries of a matrix in any order; those of one place add up.
func ExampleTriplets() {
	t := backends.NewTriplets(3)
	t.Add(1, 0, 3)
	t.Add(0, 1, 2)
	t.Add(1, 0, 0.5)
	a, err := t.CSC(2, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.At(1, 0), a.At(0, 1), a.NNZ(), t.Len())
	// Output:
	// 3.5 2 2 3
}

// atLeast is the least x^2/2 with x >= 1, whose solution is x = z = 1.
func atLeast() *backends.Problem {
	return &backends.Problem{
		P: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1}), Q: []float64{0},
		A: sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{-1}), B: []float64{-1},
		Cones: []backends.Cone{backends.Nonnegative(1)},
	}
}

// between has x <= 1 and x >= 2.
func between() *backends.Problem {
	return &backends.Problem{
		Q: []float64{0}, A: sparse.NewCSC(2, 1, []int{0, 2}, []int{0, 1}, []float64{1, -1}), B: []float64{1, -2},
		Cones: []backends.Cone{backends.Nonnegative(2)},
	}
}

// All cones, with the distances of a vector from each and from its dual.
func ExampleCone_Distance() {
	for _, c := range []backends.Cone{
		backends.Zero(1), backends.Nonnegative(1), backends.Box([]float64{0}, []float64{1}), backends.SecondOrder(3),
		backends.PSD(2), backends.Exponential(), backends.DualExponential(), backends.Power(0.5), backends.DualPower(0.5),
		backends.NuclearNorm(1, 2), backends.GeneralizedPower([]float64{0.5, 0.5}, 1),
		backends.DualGeneralizedPower([]float64{0.5, 0.5}, 1),
	} {
		v := []float64{-1, 0, 2}[:c.Dim]
		fmt.Printf("%v: %.2f, %.2f, intervals %v\n", c.Kind.String(), c.Distance(v), c.DualDistance(v), c.Kind.Intervals())
	}
	fmt.Println("order", backends.PSDOrder(3))
	fmt.Println(backends.Nonnegative(1).Interval(0))
	// Output:
	// zero: 1.00, 0.00, intervals true
	// nonnegative: 1.00, 1.00, intervals true
	// box: 1.00, 0.00, intervals true
	// second-order: 3.00, 3.00, intervals false
	// psd: 1.00, 1.00, intervals false
	// exponential: 0.00, 0.00, intervals false
	// dual exponential: 0.00, 0.00, intervals false
	// power: 2.56, 1.62, intervals false
	// dual power: 1.62, 2.56, intervals false
	// nuclear norm: 3.00, 3.00, intervals false
	// generalized power: 2.56, 1.62, intervals false
	// dual generalized power: 1.62, 2.56, intervals false
	// order 2
	// 0 +Inf
}

// The rows of a product of cones.
func ExampleRows() {
	cones := []backends.Cone{backends.Zero(2), backends.SecondOrder(3), backends.Exponential()}
	for first, c := range backends.Rows(cones) {
		fmt.Println(first, c.Kind)
	}
	backends.Blocks(cones, func(first, dim int) { fmt.Println("one block from row", first, "of", dim) })
	// Output:
	// 0 zero
	// 2 second-order
	// 5 exponential
	// one block from row 2 of 3
	// one block from row 5 of 3
}

// Solves into the memory of one solution, a point of which is kept in memory of its own.
func ExampleFiller() {
	backend, err := backends.Open("native")
	if err != nil {
		log.Fatal(err)
	}
	solver, err := backend.Setup(atLeast(), backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()
	var out backends.Solution
	var kept backends.Point
	for _, b := range []float64{-1, -2} {
		if err := solver.Update(backends.Update{B: []float64{b}}); err != nil {
			log.Fatal(err)
		}
		if err := solver.(backends.Filler).SolveInto(context.Background(), &out); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f after %.3f\n", out.X, kept.X)
		kept = kept.Copy(backends.Point{X: out.X, S: out.S, Z: out.Z})
	}
	// Output:
	// [1.000] after []
	// [2.000] after [1.000]
}

// What a problem says of itself, and what is wrong with one.
func ExampleProblem() {
	p := atLeast()
	n, m := p.Dims()
	fmt.Println(n, m, p.Quadratic(), p.Slack([]float64{3}), p.Validate())
	moved := p.Updated(backends.Update{B: []float64{-2}})
	fmt.Println(moved.Slack([]float64{3}))
	moved.Cones = nil
	fmt.Println(moved.Validate().Error())
	// Output:
	// 1 1 true [2] <nil>
	// [1]
	// backends: Cones: take 0 rows, but B has 1
}

// A point is measured on the problem as it is given.
func ExampleRecheck() {
	p, x, s, z := atLeast(), []float64{1.25}, []float64{0.25}, []float64{1}
	r, primal, dual := backends.Recheck(p, x, s, z)
	gap := backends.RelativeGap(primal, dual)
	fmt.Printf("%.3f at most, objectives %.3f and %.3f, gap %.3f\n", r.Max(), primal, dual, gap)
	stationarity, scale := backends.Stationarity(p, x, z)
	fmt.Printf("%.3f over %.3f, optimal within %.3f\n", stationarity, scale, backends.Distance(p, x, s, z))
	// Output:
	// 0.562 at most, objectives 0.781 and 0.219, gap 0.562
	// [0.250] over 1.250, optimal within 1.188
}

// The test of points that Open makes, for a solver to use while it runs.
func ExampleJudge() {
	p := atLeast()
	j := backends.NewJudge(p)
	x, s, z := []float64{1.000001}, []float64{0.000001}, []float64{1}
	fmt.Println(j.Optimal(x, s, z, 1e-4), j.Optimal(x, s, z, 1e-8))
	fmt.Println(j.Excess(x, s, z, 1e-4) < 1, j.Unsettled([]float64{1}, []float64{0}, z, 1e-4) < 1)
	better, ok := j.Polish(backends.Point{X: x, S: s, Z: z}, 1e-8)
	fmt.Println(better.X, ok)

	p.B = []float64{-2}
	j.Reset(p)
	fmt.Println(j.Optimal([]float64{2}, []float64{0}, []float64{2}, 1e-8))
	// Output:
	// true false
	// true true
	// [1] true
	// true
}

// Weights 1 of x <= 1 and of x >= 2 add up to 0 <= -1, and -x falls without bound where x >= 0.
func ExampleCheckPrimalInfeasible() {
	residual, err := backends.CheckPrimalInfeasible(between(), []float64{1, 1})
	fmt.Println(residual, err)
	falls := atLeast()
	falls.P, falls.Q = nil, []float64{-1}
	residual, err = backends.CheckDualInfeasible(falls, []float64{1})
	fmt.Println(residual, err)

	// A solver asks a judge while it runs, and near a certificate for one that proves more.
	z, x := []float64{1, 1 + 1e-7}, []float64{1}
	no, yes := backends.Options{}.Judge(between()), backends.Options{}.Judge(falls)
	fmt.Println(no.NearPrimalInfeasible(z), yes.NearDualInfeasible(x))
	z, residual, err = no.ProvePrimalInfeasible(z, 1e-10)
	fmt.Println(z[0] == z[1], residual, err)
	x, residual, err = yes.ProveDualInfeasible(x, 1e-10)
	fmt.Println(x, residual, err)
	// Output:
	// 0 <nil>
	// 0 <nil>
	// 0 0
	// true 0 <nil>
	// [1] 0 <nil>
}

// What backends can do, and those that a program has.
func ExampleRegister() {
	if !slices.Contains(backends.Names(), "equations") { // as it may be once
		backends.Register(equations{})
	}
	fmt.Println(slices.Contains(backends.Names(), "native"), slices.Contains(backends.Known(), "osqp"),
		backends.Missing("native") == "")
	can := equations{}.Capabilities()
	fmt.Println(can.Supports(backends.ZeroCone), can.Supports(backends.PSDCone))
	refusal, _, _ := strings.Cut(can.Unsupported("equations", atLeast()).Error(), ";") // then those that do
	fmt.Println(refusal)
	// Output:
	// true true true
	// true false
	// backends: equations does not support the nonnegative cone
}

// The defaults of options, the settings of one backend among them, and what is out of range.
func ExampleOptions() {
	o := backends.Options{Settings: 7}.WithDefaults()
	own, err := backends.SettingsOf[int](o, "mine")
	fmt.Println(o.Eps, o.EpsInfeasible, o.ClaimEps(), own, err)
	fmt.Println(backends.Options{Eps: -1}.Validate())
	// Output:
	// 1e-08 1e-10 1e-06 7 <nil>
	// backends: Options.Eps: -1 is negative or not a number
}

// How a solve has ended.
func ExampleStatus() {
	native, err := backends.Open("native")
	if err != nil {
		log.Fatal(err)
	}
	solver, err := native.Setup(between(), backends.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer solver.Close()
	ended, cancel := context.WithCancel(context.Background())
	sol, err := solver.Solve(ended)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sol.Status, sol.Status.Decided())
	cancel()
	fmt.Println(backends.EndedBy(ended))
	// Output:
	// primal_infeasible true
	// cancelled
}

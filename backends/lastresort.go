package backends

import (
	"context"
	"math"
	"slices"
)

// This file poses the two questions of infeasibility by themselves. Both programs have solutions whatever the problem
// is, and one side of each has interior points, so that a backend can answer them where the problem itself has left it
// undecided. Solutions that are far are then looked for along the points of all three.

// lastResort is called where a run has ended without a verdict. It tries the problem without far bounds, and then asks
// whether there is a point at all, for a direction of descent without end, and for a solution along what these have led
// to; what is found counts as far as the judge agrees. Of a point that meets the tolerance there is doubt in small
// problems alone, where another one costs next to nothing.
func (s *checkedSolver) lastResort(ctx context.Context, out *Solution) *Solution {
	if s.simple || s.second != nil && !s.data.small() {
		return out
	}
	spent := out.Iterations
	if closer := withoutFar(&s.data); closer != nil {
		if found := s.ask(ctx, closer, out, &spent, func(sol *Solution) *Solution { return sol }); found != nil {
			return found
		}
	}
	var x, z []float64
	nearly := out.Residuals.Max() <= nearlySolved
	if s.data.A != nil {
		p, certificate := nearness(&s.data, s.judged.unitsOf())
		if found := s.ask(ctx, p, out, &spent, func(sol *Solution) *Solution {
			z = certificate(sol.Z)
			if nearly {
				return &Solution{}
			}
			return &Solution{Status: PrimalInfeasible, Z: slices.Clone(z)}
		}); found != nil {
			return found
		}
	}
	if found := s.ask(ctx, descent(&s.data, s.judged.unitsOf()), out, &spent, func(sol *Solution) *Solution {
		if x = sol.X; nearly {
			return &Solution{}
		}
		return &Solution{Status: DualInfeasible, X: slices.Clone(x)}
	}); found != nil {
		return found
	}
	if s.mistaken {
		return out
	}
	for _, from := range []Point{{X: out.X, Z: out.Z}, {X: x, Z: s.tightOnly(z)}} {
		if found := s.alongside(ctx, out, &spent, from); found != nil {
			return found
		}
	}
	return out
}

// alongside asks for a solution along x and z of a point, and then along the point that this leads to, as long as that
// is near.
func (s *checkedSolver) alongside(ctx context.Context, out *Solution, spent *int, from Point) *Solution {
	last := math.Inf(1)
	for range alongRounds {
		if s.data.A == nil || from.X == nil || from.Z == nil || !allFinite(from.X) || !allFinite(from.Z) {
			return nil
		}
		p, back := along(&s.data, from.X, from.Z)
		var point *Solution
		if found := s.ask(ctx, p, out, spent, func(sol *Solution) *Solution {
			point = back(sol)
			return point
		}); found != nil {
			return found
		}
		if point == nil || point.X == nil || point.Z == nil {
			return nil
		}
		if found := s.judged.measure(point.X, point.S, point.Z); !(max(found.Primal, found.Dual) <= nearPoint) {
			return nil
		}
		excess, z := s.judged.Excess(point.X, point.S, point.Z, s.options.Eps), point.Z
		if !(excess < worthwhileAlong*last) { // it is on its way along the change
			z = make([]float64, len(point.Z))
			for i, v := range point.Z {
				z[i] = v - from.Z[i]
			}
			intoDual(&s.data, z, Cone.intoDual)
		}
		from, last = Point{X: point.X, Z: z}, excess
	}
	return nil
}

const (
	// The rows, columns and entries of a small problem, together, at most.
	worthDoubting = 2_000
	// The objectives of two points differ by so much of their terms where they contradict each other.
	mostDisputed = 1e-4
	// So many programs are solved along a point. Where one leaves more than worthwhileAlong of what the point before
	// misses the tolerance by, the next is along the change of the multipliers.
	alongRounds     = 8
	worthwhileAlong = 0.5
)

// ask solves p with what is left of the iterations and returns what its solution says of the problem itself, nil unless
// that holds. It adds to the iterations that were spent, and to the times of out.
func (s *checkedSolver) ask(ctx context.Context, p *Problem, out *Solution, spent *int,
	says func(*Solution) *Solution) *Solution {
	options := s.options
	if options.MaxIterations > 0 {
		if options.MaxIterations -= *spent; options.MaxIterations <= 0 {
			return nil
		}
	}
	options.Eps *= polished
	solver, err := checked{s.backend}.Setup(p, options)
	if err != nil {
		return nil
	}
	defer solver.Close()
	solver.(*checkedSolver).simple = true
	sol, err := solver.Solve(ctx)
	if err != nil {
		return nil
	}
	*spent += sol.Iterations
	found := says(sol)
	claim := found.Status
	if !claim.Decided() {
		return nil
	}
	s.judge(found)
	if claim == Optimal {
		s.polish(found)
	}
	if claim == Optimal && (found.Status != claim || s.unfinished(found)) {
		s.consider(found)
		return nil
	}
	if found.Status != claim {
		return nil
	}
	found.Iterations, found.SetupTime, found.SolveTime = *spent, out.SetupTime, out.SolveTime+sol.SetupTime+sol.SolveTime
	return found
}

// small says that the problem is so small that nothing is told that is in doubt.
func (p *Problem) small() bool {
	n, m := p.Dims()
	return n+m+nonzeros(p.A)+nonzeros(p.P) <= worthDoubting
}

// consider judges a point again as one that counts where nothing else is found, and keeps it as the second best if it
// is the most settled of those. Where two have other objectives, those that are too uncertain to be told among them,
// only a settled one counts.
func (s *checkedSolver) consider(out *Solution) {
	s.content, s.uncertain = true, false
	s.judge(out)
	s.content = false
	if out.Status != Optimal && !s.uncertain {
		return
	}
	size := s.judged.sizeOfObjective()
	s.disputed = s.disputed || math.Abs(out.Objective-s.objective) > mostDisputed*size
	s.objective = out.Objective
	if s.uncertain {
		return
	}
	worst := s.judged.Unsettled(out.X, out.S, out.Z, s.options.Eps)
	if s.second == nil || worst < s.worst {
		s.second, s.worst = out, worst
	}
}

// tightOnly returns z without the parts that are next to nothing of the largest one in units of the rows: what an
// interior point has of rows that are not tight. In z'A they would stand beside what the others cancel to.
func (s *checkedSolver) tightOnly(z []float64) []float64 {
	if z == nil {
		return nil
	}
	u, weight := s.judged.unitsOf(), make([]float64, len(z))
	for i, v := range z {
		if weight[i] = math.Abs(v); u.e[i] > 0 {
			weight[i] /= u.e[i]
		}
	}
	out := slices.Clone(z)
	for i, is := range small(&s.data, z, weight, math.Sqrt(s.options.Eps)*maxAbs(weight)) {
		if is {
			out[i] = 0
		}
	}
	return out
}

// nearlySolved is the residual of a point below which there seems to be a solution, so that no certificate is told.
const nearlySolved = 1e-6

// nearness returns the program
//
//	minimize t  subject to  b - Ax + t e in K,  t >= 0
//
// with e in the interior of K and zero and boxes taken as intervals that t widens on both sides, each row in units of
// its own. Its optimal value is positive if no x satisfies the constraints, by some distance, and its multipliers are
// then the certificate, which the second result makes of them.
func nearness(p *Problem, u *units) (*Problem, func(z []float64) []float64) {
	n, m := p.Dims()
	out := &Problem{Q: make([]float64, n+1)}
	out.Q[n] = 1
	var a Triplets
	type made struct {
		row  int
		sign float64
	}
	var from []made // sign times these rows of the problem
	at := make([][]int, m)
	add := func(i int, sign, b, widen float64) { // t adds widen, in units of the row
		if u.e[i] != 0 {
			widen /= u.e[i]
		}
		k := len(from)
		a.Add(k, n, -widen)
		at[i], from, out.B = append(at[i], k), append(from, made{i, sign}), append(out.B, b)
	}
	low, high := intervals(p.Cones)
	for i, l := range low { // l <= b - Ax <= h within t
		if !math.IsNaN(l) && !math.IsInf(l, 0) {
			add(i, 1, p.B[i]-l, 1)
		}
		if h := high[i]; !math.IsNaN(l) && !math.IsInf(h, 0) {
			add(i, -1, h-p.B[i], 1)
		}
	}
	if linear := len(from); linear > 0 {
		out.Cones = append(out.Cones, Nonnegative(linear))
	}
	for first, c := range Rows(p.Cones) {
		if c.Dim > 0 && math.IsNaN(low[first]) {
			out.Cones = append(out.Cones, c)
			for k, e := range interior(c) {
				add(first+k, 1, p.B[first+k], e)
			}
		}
	}
	rows := len(from) + 1 // with t >= 0
	a.Add(rows-1, n, -1)
	out.B, out.Cones = append(out.B, 0), append(out.Cones, Nonnegative(1))
	entries(p.A, func(i, j int, v float64) {
		for _, row := range at[i] {
			a.Add(row, j, from[row].sign*v)
		}
	})
	out.A = a.matrix(rows, n+1)
	return out, func(z []float64) []float64 {
		if len(z) != rows {
			return nil // there is no point
		}
		back := make([]float64, m)
		for k, o := range from {
			back[o.row] += o.sign * z[k]
		}
		return back
	}
}

// descent returns the program
//
//	minimize q'x  subject to  Px = 0,  -Ax in the recession cone of K,  |x_j| <= 1 in units of its own,
//
// of which x = 0 is a point. A negative optimal value makes the solution a certificate that the objective falls without
// bound.
func descent(p *Problem, u *units) *Problem {
	n, rows := p.Dims()
	var a Triplets
	out := &Problem{Q: p.Q, Cones: recession(p.Cones)}
	entries(p.A, a.Add)
	ofP := rows
	used := make([]int, n) // rows of P, counted from one
	row := func(i int) int {
		if used[i] == 0 {
			rows++
			used[i] = rows
		}
		return used[i] - 1
	}
	entries(p.P, func(i, j int, v float64) {
		a.Add(row(i), j, v)
		if i != j {
			a.Add(row(j), i, v)
		}
	})
	if rows > ofP {
		out.Cones = append(out.Cones, Zero(rows-ofP))
	}
	lower, upper := make([]float64, n), make([]float64, n)
	for j := range n {
		lower[j], upper[j] = -u.d[j], u.d[j]
		a.Add(rows+j, j, -1)
	}
	out.Cones = append(out.Cones, Box(lower, upper))
	out.B = make([]float64, rows+n)
	out.A = a.matrix(rows+n, n)
	return out
}

// recession returns the recession cones of the given ones, that of a box as a box.
func recession(cones []Cone) []Cone {
	infiniteOnly := func(v float64) float64 {
		if math.IsInf(v, 0) {
			return v
		}
		return 0
	}
	return withBounds(cones, func(_ int, l, u float64) (float64, float64) { return infiniteOnly(l), infiniteOnly(u) })
}

// farGap is the gap in the sizes of b and the bounds, row by row, above which bounds count as far.
const farGap = 1e4

// farBound returns the size from which on bounds of boxes are far: larger by more than a gap than all that is on the
// other side of it, where b and the bounds of row i are multiplied by unit(i). It is infinite where no bound is.
func farBound(p *Problem, unit func(i int) float64) float64 {
	if !slices.ContainsFunc(p.Cones, func(c Cone) bool { return c.Kind == BoxCone }) {
		return math.Inf(1)
	}
	var sizes []float64 // those that a gap from one can lie below
	near := 1.0         // the largest of the others
	add := func(size float64) {
		switch {
		case size <= farGap:
			near = max(near, size)
		case size <= math.MaxFloat64:
			sizes = append(sizes, size)
		}
	}
	for row, c := range Rows(p.Cones) {
		for i := range c.Dim {
			by := unit(row + i)
			add(math.Abs(p.B[row+i]) * by)
			if c.Kind == BoxCone {
				add(math.Abs(c.Lower[i]) * by)
				add(math.Abs(c.Upper[i]) * by)
			}
		}
	}
	far := math.Inf(1)
	slices.Sort(sizes)
	for k, size := range slices.Backward(sizes) {
		below := near
		if k > 0 {
			below = sizes[k-1]
		}
		if size > farGap*below {
			far = size
		}
	}
	return far
}

// withoutFar returns p without the bounds that are far in rows with entries of size one, nil where there are none.
func withoutFar(p *Problem) *Problem {
	_, m := p.Dims()
	largest := make([]float64, m) // entries of the rows
	entriesOf(p.A, func(i, _ int, v float64) { largest[i] = max(largest[i], v) })
	far := farBound(p, func(i int) float64 { return 1 / largest[i] })
	if math.IsInf(far, 1) {
		return nil
	}
	out, some := *p, false
	out.Cones = withBounds(p.Cones, func(row int, l, u float64) (float64, float64) {
		if -l >= far*largest[row] && !math.IsInf(l, 0) {
			l, some = math.Inf(-1), true
		}
		if u >= far*largest[row] && !math.IsInf(u, 0) {
			u, some = math.Inf(1), true
		}
		return l, u
	})
	if !some {
		return nil
	}
	return &out
}

package backends

import (
	"context"
	"math"
	"slices"

	"github.com/james-bowman/sparse"
)

// This file poses the two questions of infeasibility by themselves. Both programs have solutions whatever the problem is, and one side of each
// has interior points, so that a backend can answer them where the problem itself has left it undecided.

// lastResort is called where a run has ended without a verdict. It tries the problem without far bounds, and then asks whether there is a
// point at all, and a direction of descent without end; what is found counts as far as the judge agrees.
func (s *checkedSolver) lastResort(ctx context.Context, out *Solution) *Solution {
	if s.simple {
		return out
	}
	spent := out.Iterations
	if near := withoutFar(&s.data); near != nil {
		if found := s.ask(ctx, near, out, &spent, func(sol *Solution) *Solution { return sol }); found != nil {
			return found
		}
	}
	if out.Residuals.Max() <= nearlySolved {
		return out
	}
	if s.data.A != nil {
		p, certificate := nearness(&s.data, s.judged.unitsOf())
		if found := s.ask(ctx, p, out, &spent, func(sol *Solution) *Solution {
			return &Solution{Status: PrimalInfeasible, Z: certificate(sol.Z)}
		}); found != nil {
			return found
		}
	}
	if found := s.ask(ctx, descent(&s.data, s.judged.unitsOf()), out, &spent, func(sol *Solution) *Solution {
		return &Solution{Status: DualInfeasible, X: sol.X}
	}); found != nil {
		return found
	}
	return out
}

// ask solves p with what is left of the iterations and returns what its solution says of the problem itself, nil unless that holds. It adds to
// the iterations that were spent, and to the times of out.
func (s *checkedSolver) ask(ctx context.Context, p *Problem, out *Solution, spent *int, says func(*Solution) *Solution) *Solution {
	options := s.options
	if options.MaxIterations > 0 {
		if options.MaxIterations -= *spent; options.MaxIterations <= 0 {
			return nil
		}
	}
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
	if !claim.decided() {
		return nil
	}
	if s.judge(found); found.Status != claim {
		return nil
	}
	found.Iterations, found.SetupTime, found.SolveTime = *spent, out.SetupTime, out.SolveTime+sol.SetupTime+sol.SolveTime
	return found
}

// nearlySolved is the residual of a point below which there seems to be a solution, so that nothing else is asked for.
const nearlySolved = 1e-6

// nearness returns the program
//
//	minimize t  subject to  b - Ax + t e in K,  t >= 0
//
// with e in the interior of K and zero and boxes taken as intervals that t widens on both sides, each row in units of its own. Its
// optimal value is positive if no x satisfies the constraints, by some distance, and its multipliers are then the certificate, which
// the second result makes of them.
func nearness(p *Problem, u *units) (*Problem, func(z []float64) []float64) {
	n, m := p.Dims()
	type origin struct {
		row  int
		sign float64
	}
	var from []origin // of the rows of the program
	out := &Problem{Q: make([]float64, n+1)}
	out.Q[n] = 1
	unit := func(i int) float64 {
		if u == nil || u.e[i] == 0 {
			return 1
		}
		return 1 / u.e[i]
	}
	var widen []float64 // what t adds to the rows
	add := func(i int, sign, b, e float64) {
		from = append(from, origin{i, sign})
		out.B = append(out.B, b)
		widen = append(widen, e)
	}
	low, high := intervals(p.Cones)
	for i, l := range low { // l <= b - Ax <= h within t
		if !math.IsNaN(l) {
			if !math.IsInf(l, 0) {
				add(i, 1, p.B[i]-l, unit(i))
			}
			if !math.IsInf(high[i], 0) {
				add(i, -1, high[i]-p.B[i], unit(i))
			}
		}
	}
	if linear := len(from); linear > 0 {
		out.Cones = append(out.Cones, Nonnegative(linear))
	}
	first := 0
	for _, c := range p.Cones {
		if c.Dim > 0 && math.IsNaN(low[first]) {
			e := interior(c)
			for k := range c.Dim {
				add(first+k, 1, p.B[first+k], e[k]*unit(first))
			}
			out.Cones = append(out.Cones, c)
		}
		first += c.Dim
	}
	from = append(from, origin{-1, 0}) // t >= 0
	out.B = append(out.B, 0)
	out.Cones = append(out.Cones, Nonnegative(1))

	at := make([][]int, m) // the rows made of a row
	for k, o := range from {
		if o.row >= 0 {
			at[o.row] = append(at[o.row], k)
		}
	}
	var a triples
	entries(p.A, func(i, j int, v float64) {
		for _, row := range at[i] {
			a.add(row, j, from[row].sign*v)
		}
	})
	for k, e := range widen {
		a.add(k, n, -e)
	}
	a.add(len(widen), n, -1)
	out.A = a.matrix(len(from), n+1)
	return out, func(z []float64) []float64 {
		if len(z) != len(from) {
			return nil // there is no point
		}
		back := make([]float64, m)
		for k, o := range from {
			if o.row >= 0 {
				back[o.row] += o.sign * z[k]
			}
		}
		return back
	}
}

// descent returns the program
//
//	minimize q'x  subject to  Px = 0,  -Ax in the recession cone of K,  |x_j| <= 1 in units of its own,
//
// of which x = 0 is a point. A negative optimal value makes the solution a certificate that the objective falls without bound.
func descent(p *Problem, u *units) *Problem {
	n, m := p.Dims()
	out := &Problem{Q: p.Q}
	to := make([]int, m) // the row made of a row, -1 for none
	rows := 0
	add := func(c Cone, first int) {
		for k := range c.Dim {
			to[first+k] = rows
			rows++
		}
		out.Cones = append(out.Cones, c)
	}
	first := 0
	sign := ones(m)
	for _, c := range p.Cones {
		if c.Kind != BoxCone {
			add(c, first)
			first += c.Dim
			continue
		}
		for k := range c.Dim {
			below, above := math.IsInf(c.Lower[k], -1), math.IsInf(c.Upper[k], 1)
			switch {
			case below && above:
				to[first+k] = -1
			case above:
				add(Nonnegative(1), first+k)
			case below:
				sign[first+k] = -1
				add(Nonnegative(1), first+k)
			default:
				add(Zero(1), first+k)
			}
		}
		first += c.Dim
	}
	ofP := rows
	used := make([]int, n) // rows of P, counted from one
	entries(p.P, func(i, j int, _ float64) {
		for _, k := range []int{i, j} {
			if used[k] == 0 {
				rows++
				used[k] = rows
			}
		}
	})
	if rows > ofP {
		out.Cones = append(out.Cones, Zero(rows-ofP))
	}
	var a triples
	entries(p.A, func(i, j int, v float64) {
		if to[i] >= 0 {
			a.add(to[i], j, sign[i]*v)
		}
	})
	entries(p.P, func(i, j int, v float64) {
		a.add(used[i]-1, j, v)
		if i != j {
			a.add(used[j]-1, i, v)
		}
	})
	lower, upper := make([]float64, n), make([]float64, n)
	for j := range n {
		upper[j] = 1
		if u != nil {
			upper[j] = u.d[j]
		}
		lower[j] = -upper[j]
		a.add(rows+j, j, -1)
	}
	out.Cones = append(out.Cones, Box(lower, upper))
	out.B = make([]float64, rows+n)
	out.A = a.matrix(rows+n, n)
	return out
}

// triples are entries of a matrix in any order, each place once.
type triples struct {
	row, col []int
	val      []float64
}

func (t *triples) add(row, col int, v float64) {
	t.row, t.col, t.val = append(t.row, row), append(t.col, col), append(t.val, v)
}

// matrix sorts the entries by rows and then, keeping that order, by columns.
func (t *triples) matrix(rows, cols int) *sparse.CSC {
	byRow := make([]int, len(t.val))
	next := starts(t.row, rows)
	for k, i := range t.row {
		byRow[next[i]] = k
		next[i]++
	}
	ptr := starts(t.col, cols)
	next = slices.Clone(ptr)
	ind, data := make([]int, len(t.val)), make([]float64, len(t.val))
	for _, k := range byRow {
		at := &next[t.col[k]]
		ind[*at], data[*at] = t.row[k], t.val[k]
		*at++
	}
	return sparse.NewCSC(rows, cols, ptr, ind, data)
}

// starts returns where the entries of each of n buckets begin, and the end.
func starts(bucket []int, n int) []int {
	out := make([]int, n+1)
	for _, b := range bucket {
		out[b+1]++
	}
	for b := range n {
		out[b+1] += out[b]
	}
	return out
}

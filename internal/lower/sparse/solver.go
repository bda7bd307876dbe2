package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/glm"
)

// solver implements [bilevel.JointSolver]. Positions 0 to n-1 stand for the entries that it works with: the constants
// first, if there are any, then coefficients in the order in which they came.
type solver struct {
	*Fit
	set     []int // entry of each position
	at      []int // position of each entry, -1 for none
	models  [2]model
	a, b    []float64 // by positions: where the models are made, and the last solution
	most    int       // positions up to which matrices are formed
	problem glm.Quadratic
	ctx     context.Context // of the call at work
}

const (
	// newFeatures is how many missing entries are taken in at once, or as many as there are already, and wholeFeatures
	// is the number of entries up to which all are worked with from the beginning.
	newFeatures, wholeFeatures = 32, 128
	// denseMost and sparseMost are the columns of dense and sparse designs up to which matrices are formed, as are
	// rowShare times the rows and leastFormed of dense ones. On sparse ones a product with the design costs less than
	// one with the matrix of a few thousand columns, and the factor of that as much as hundreds of them.
	denseMost, sparseMost, leastFormed, rowShare = 3000, 600, 1000, 3
	// leastRidge is the share of the diagonal that is added to second derivatives of losses that are no sums over rows,
	// which may be singular. It does not change where steps end.
	leastRidge = 1e-9
)

// Joint implements [bilevel.Joint].
func (g *Fit) Joint() bilevel.JointSolver { return g.solver() }

func (g *Fit) solver() *solver {
	s := &solver{Fit: g, ctx: context.Background(), at: slices.Repeat([]int{-1}, len(g.all)), most: denseMost}
	x := g.sets[training].x.X
	rows := x.Rows()
	if val := g.sets[validating]; val != nil {
		rows += val.x.X.Rows()
	}
	switch {
	case !g.adds:
		s.most = math.MaxInt
	case !x.Dense():
		s.most = sparseMost
	default:
		s.most = min(denseMost, max(leastFormed, rowShare*rows))
	}
	coefficients := g.p * g.k
	first := slices.Clone(g.all[coefficients:])
	for e := range coefficients {
		if j := e / g.k; g.terms.Lower[j] < g.terms.Upper[j] && (coefficients <= wholeFeatures || g.terms.always(j)) {
			first = append(first, e)
		}
	}
	s.take(first)
	return s
}

// take adds entries to the positions, with zeros.
func (s *solver) take(entries []int) {
	for _, e := range entries {
		s.at[e] = len(s.set)
		s.set = append(s.set, e)
		s.a, s.b = append(s.a, 0), append(s.b, 0)
	}
}

// explicit says that matrices are formed.
func (s *solver) explicit() bool { return len(s.set) <= s.most }

// Quadratic implements [bilevel.JointSolver].
func (s *solver) Quadratic() bool { return s.quadratic }

// shares are the weights of the losses of the two sets.
func shares(w *bilevel.JointWeights) [2]float64 { return [2]float64{w.Validation, w.Train} }

// Solve implements [bilevel.JointSolver].
func (s *solver) Solve(ctx context.Context, w *bilevel.JointWeights) (*bilevel.JointPoint, error) {
	if len(w.Penalties) != len(s.kept) {
		return nil, fmt.Errorf("sparse: %d weights of penalties, expected %d", len(w.Penalties), len(s.kept))
	}
	if !s.minimise(ctx, w) {
		return nil, nil
	}
	pt := &bilevel.JointPoint{Values: bilevel.Values{Train: s.modelled(training), Penalties: s.penalties(s.set, s.b)}}
	if w.Validation > 0 {
		pt.Validation = s.modelled(validating)
	}
	pt.Objective = s.objective(w, pt.Values)
	return pt, nil
}

// Work implements [bilevel.JointSolver].
func (s *solver) Work() float64 { return s.problem.Spent }

// minimise solves with the models. It says whether it came to its end.
func (s *solver) minimise(ctx context.Context, w *bilevel.JointWeights) bool {
	if s.ctx = ctx; ctx.Err() != nil {
		return false
	}
	for k, share := range shares(w) {
		if share > 0 || k == training {
			s.prepare(k)
		}
	}
	if ctx.Err() != nil {
		return false
	}
	linear := s.penalise(w)
	if s.explicit() {
		h, q := s.assemble(w)
		floats.Add(q, linear)
		return s.problem.SolveProducts(ctx, h, q, s.b)
	}
	var rows []glm.Rows
	for k, share := range shares(w) {
		if m := &s.models[k]; share > 0 {
			of := glm.Rows{X: s.sets[k].x.X, Pull: slices.Clone(m.look.slopes), Curve: slices.Clone(m.look.curve)}
			floats.Scale(share, of.Pull)
			floats.Scale(share, of.Curve)
			rows = append(rows, of)
		}
	}
	return s.problem.SolveRows(ctx, rows, s.sets[training].x.Features(s.set), s.a, linear, s.b)
}

// penalise sets the penalties of the problem, and returns the linear term of the distance from the centre.
func (s *solver) penalise(w *bilevel.JointWeights) (linear []float64) {
	n, p := len(s.set), &s.problem
	p.First, p.Second, linear = make([]float64, n), slices.Repeat([]float64{w.Rho}, n), make([]float64, n)
	p.Lower, p.Upper = s.terms.of(s.set, s.k)
	one, two := s.pair(w.Penalties)
	for i, e := range s.set {
		if w.Rho > 0 {
			linear[i] = w.Rho * s.centre(w, e)
		}
		f := s.terms.Factors[e/s.k]
		p.First[i] = f * one
		p.Second[i] += f * two
	}
	return linear
}

// assemble returns the matrix and the linear term of the models. Of losses that are no sums over rows it has a ridge
// about their point, as it may be singular, and the constants of classes add up to 0.
func (s *solver) assemble(w *bilevel.JointWeights) (h, q []float64) {
	n := len(s.set)
	h, q = make([]float64, n*n), make([]float64, n)
	for k, share := range shares(w) {
		if m := &s.models[k]; share > 0 {
			dense.Axpy(share, m.second, h)
			dense.Axpy(share, m.descent, q)
		}
	}
	largest := 0.0
	for i := range n {
		largest = math.Max(largest, h[i*n+i])
	}
	for i, e := range s.set {
		row := h[i*n : (i+1)*n]
		if !s.adds {
			row[i] += leastRidge * (row[i] + leastRidge*largest)
		}
		q[i] += dense.Dot(row, s.a)
		if e >= s.p*s.k && s.k > 1 {
			for l := range s.k {
				row[l] += largest / float64(n)
			}
		}
	}
	return h, q
}

// centre is that of an entry.
func (s *solver) centre(w *bilevel.JointWeights, e int) float64 {
	if first := s.p * s.k; e >= first {
		return w.Centre[1][e-first]
	}
	return w.Centre[0][e]
}

// objective is F at the last solution, where the functions have some values.
func (s *solver) objective(w *bilevel.JointWeights, v bilevel.Values) float64 {
	sum := w.Validation*v.Validation + w.Train*v.Train + floats.Dot(w.Penalties, v.Penalties)
	if w.Rho == 0 {
		return sum
	}
	square := 0.0
	for e, i := range s.at {
		d := s.centre(w, e)
		if i >= 0 {
			d -= s.b[i]
		}
		square += d * d
	}
	return sum + w.Rho/2*square
}

// Curvature implements [bilevel.JointSolver]: with the gradients J of l and the penalties on what is free to move, it
// is J'A^-1 J.
func (s *solver) Curvature(ctx context.Context, w *bilevel.JointWeights) [][]float64 {
	free, order := s.problem.Free(), 1+len(s.kept)
	j, solved, out := make([][]float64, order), make([][]float64, order), make([][]float64, order)
	for r := range out {
		out[r] = make([]float64, order)
	}
	if len(free) == 0 {
		return out
	}
	j[0] = s.gradient(free)
	for _, i := range free {
		f := s.terms.Factors[s.set[i]/s.k]
		slopes := [2]float64{f * sign(s.b[i]), f * s.b[i]}
		for r, k := range s.kept {
			j[1+r] = append(j[1+r], slopes[k])
		}
	}
	for r := range j {
		if r > 0 || w.Rho > 0 || w.Validation > 0 {
			solved[r] = s.problem.Divide(ctx, free, j[r])
		}
	}
	if solved[0] == nil { // the gradients of all terms add up to zero
		solved[0] = make([]float64, len(free))
		for r, m := range w.Penalties {
			floats.AddScaled(solved[0], -m/w.Train, solved[1+r])
		}
	}
	for r := range out {
		for c := range r + 1 {
			out[r][c] = floats.Dot(j[r], solved[c])
			out[c][r] = out[r][c]
		}
	}
	return out
}

func sign(v float64) float64 { return math.Copysign(1, v) }

// X implements [bilevel.JointSolver].
func (s *solver) X() [][]float64 {
	b := make([]float64, len(s.at))
	for i, e := range s.set {
		b[e] = s.b[i]
	}
	return s.point(b)
}

package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/outcome"
)

// Solution is a point, and how near to the optimum it is proven to be.
type Solution struct {
	Status outcome.Stop
	// B are the coefficients, those of a feature after each other, and B0 the constants of the classes.
	B, B0 []float64
	// Objective is the value at B, Gap bounds its distance from the optimum.
	Objective, Gap float64

	// path has found it, and those of the solves that have started from it; it is nil while one of them goes on along it
	path  *atomic.Pointer[glm.Path]
	steps int // of it
}

// defaultTol is the tolerance that 0 stands for.
const defaultTol = 1e-8

// Solve returns a solution at some weights to a gap of tol relative to that at b = 0, 0 for 1e-8, from the start, which
// may be nil. The error is for input without meaning.
func (g *Fit) Solve(ctx context.Context, w *glm.Weights, tol float64, start *Solution) (*Solution, error) {
	n := g.p * g.k
	switch {
	case !(tol >= 0) || math.IsInf(tol, 1):
		return nil, fmt.Errorf("sparse: tolerance %g, expected a finite number that is not negative", tol)
	case start != nil && len(start.B) != n:
		return nil, fmt.Errorf("sparse: the start has %d coefficients, expected %d", len(start.B), n)
	case tol == 0:
		tol = defaultTol
	}
	out := &Solution{
		Status: outcome.Cancelled, B: make([]float64, n), B0: make([]float64, g.k), Objective: g.null, Gap: g.null,
	}
	copy(out.B0, g.start[n:])
	var path *glm.Path
	if out.path = new(atomic.Pointer[glm.Path]); start != nil && start.path != nil {
		out.path = start.path
		path = out.path.Swap(nil)
	}
	if path == nil {
		path = g.data.Path(ctx)
	}
	if start != nil && (path.Steps() == 0 || path.Steps() != start.steps) {
		path.From(ctx, g.toGLM(slices.Concat(start.B, start.B0)))
	}
	tol *= g.scale / g.null // relative to the objective without coefficients
	s, err := path.Solve(ctx, w, tol)
	if ctx.Err() != nil {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.B, out.B0 = g.take(s)
	out.Objective, out.Gap = s.Objective[0], s.Gap*g.null
	if out.steps = path.Steps(); g.quadratic { // without curvatures, which are of use
		out.path = nil
	} else {
		out.path.Store(path)
	}
	switch {
	case s.Gap <= tol:
		out.Status = outcome.Converged
	case s.Solved:
		out.Status = numerics.Exhausted
	default:
		out.Status = outcome.Stalled
	}
	return out, nil
}

// take has the coefficients and constants of a fit of package glm.
func (g *Fit) take(s *glm.Solution) (b, b0 []float64) {
	b, b0 = s.B[0], make([]float64, g.k)
	copy(b0, s.B0[0])
	for j := range g.p + 1 {
		if g.shared(j) {
			of := b0
			if j < g.p {
				of = b[j*g.k : (j+1)*g.k]
			}
			floats.AddConst(-floats.Sum(of)/float64(len(of)), of)
		}
	}
	return b, b0
}

// toGLM has the coefficients, which it changes, as they are in package glm.
func (g *Fit) toGLM(b []float64) []float64 {
	for j := range (len(b) + g.k - 1) / g.k {
		if g.shared(j) {
			floats.AddConst(-b[(j+1)*g.k-1], b[j*g.k:(j+1)*g.k])
		}
	}
	return b
}

// shared says that what adds the same to the coefficients of a feature in all of several classes changes nothing: they
// add up to 0, and in package glm the last is 0.
func (g *Fit) shared(j int) bool {
	return g.k > 1 && g.terms.always(j) && math.IsInf(g.terms.Lower[j], -1) && math.IsInf(g.terms.Upper[j], 1)
}

// Weights are those of package glm for those of the penalties.
func (g *Fit) Weights(of []float64) (*glm.Weights, error) { return g.weights(g.pair(of)) }

func (g *Fit) weights(w1, w2 float64) (*glm.Weights, error) {
	if !(w1 >= 0) || !(w2 >= 0) || !(w1+w2 > 0) || math.IsInf(w1+w2, 1) {
		return nil, fmt.Errorf("sparse: weights %g and %g, expected finite numbers, not negative, one of them positive", w1,
			w2)
	}
	w := &glm.Weights{Norm: make([]float64, g.units()), L2: make([]float64, g.units())}
	for e := range w.Norm {
		f := g.terms.Factors[e/g.k]
		w.Norm[e], w.L2[e] = f*w1, f*w2
	}
	return w, nil
}

// units is the number of coefficients that package glm has: of several classes also constants, but for the last.
func (g *Fit) units() int {
	if g.k > 1 && g.intercept {
		return len(g.all) - 1
	}
	return g.p * g.k
}

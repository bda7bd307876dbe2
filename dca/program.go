package dca

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/lower"
)

// Program is a bilevel program.
type Program struct {
	// Name appears in errors.
	Name string
	// H0 is the start of the hyperparameters h = (r, u), in the units of the P_i and of what u stands for. Nil is a start
	// by the program itself, see [Settings.PathStart]; h then has an entry for each radius and bound, or as many as Lo or
	// Hi have.
	H0 []float64
	// Lo and Hi bound h entry by entry; infinite entries are allowed. Nil means 0 for a radius and -Inf for other entries
	// of Lo, +Inf for Hi. A radius is also kept above a millionth of the largest radius at the start, or of its own scale
	// where the program finds the start: at 0 multipliers need not be bounded.
	Lo, Hi []float64
	// Joint, optional, are convex functions of h alone that are at most 0 wherever a method looks, such as the sum of the
	// radii less a budget: h is moved to the nearest point, relative to its entries, where they are. It does not go with
	// Fit.
	Joint func(h convex.Expr) []convex.Expr
	// Radii is the number of first entries of h that are radii r: v does not grow in
	// them, and the multipliers of their constraints are the lambda of the result.
	Radii int
	// Bounds is the number of entries of h after the radii that stand in constraints P_i(x) - h_i only, as radii do, but
	// are hyperparameters themselves: bounds on single coefficients, for example.
	Bounds int
	// Build puts the functions of the program into m, and constraints on x alone that hold in both problems. It is called
	// once with h a parameter, for the lower level, and once with h a variable; h has the length of H0. Every call has to
	// build the same variables in the same order.
	Build func(m *convex.Model, h convex.Expr) Level
	// Blocks, in the place of Build, are the parts of a lower level whose parts have nothing in common
	// but h, as the folds of a cross-validation: l and L are the sums of theirs, X and
	// the constraints all of theirs, one part after the other. At each h the parts are solved side by side.
	Blocks []func(m *convex.Model, h convex.Expr) Level
	// Outline, optional, builds only Level.X and Level.Constraints, those of all Blocks, the same as Build or Blocks do:
	// [Program.Kinds] and [Program.Penalties] then need no copy of the data in the losses.
	Outline func(m *convex.Model, h convex.Expr) Level
	// Path are weights lambda > 0 of the penalties, one or as many as there are radii in each entry,
	// for the data-driven start, see [Settings.PathStart]; nil where the model has none. Neighbours
	// should be close, as each solve starts from the one before. The start needs h to be radii only, and
	// Constraints, in each block, to be the P_i(x) - r_i in their order.
	Path [][]float64
	// PathRise, if positive, leaves a part of Path after so many points in a row without a smaller validation value than
	// the part has had. A part ends where the first weight grows. It is for models whose solutions take long at small
	// weights.
	PathRise int
	// Fit, if not nil, solves the lower level faster than conic programs: the penalty form, with a weight for each radius,
	// and where the fit has it the constrained form at radii that are all positive. Its points have the values of the
	// variables of Level.X. What it does not solve is left for conic programs. For programs whose h are radii only, or
	// radii and Bounds where the fit has parts, see [lower.Traits], with all of them as its hyperparameters. FitTol is the
	// relative gap of the penalty form; 0 asks for 1e-9.
	Fit    lower.Fit
	FitTol float64
}

// builders returns the blocks of the lower level.
func (p *Program) builders() []func(m *convex.Model, h convex.Expr) Level {
	if p.Blocks != nil {
		return p.Blocks
	}
	return []func(m *convex.Model, h convex.Expr) Level{p.Build}
}

// build puts all blocks into one model.
func (p *Program) build(m *convex.Model, h convex.Expr) (Level, error) {
	var all Level
	for i, build := range p.builders() {
		l := build(m, h)
		if err := p.check(&l); err != nil {
			return all, err
		}
		if i == 0 {
			all = l
			continue
		}
		all.X = append(all.X, l.X...)
		all.Train, all.Validation = convex.Add(all.Train, l.Train), convex.Add(all.Validation, l.Validation)
		all.Constraints = append(all.Constraints, l.Constraints...)
	}
	return all, nil
}

// outline puts the variables and constraints of all blocks into one model, without the losses where the program can
// tell them apart.
func (p *Program) outline(m *convex.Model, h convex.Expr) (Level, error) {
	if p.Outline == nil {
		return p.build(m, h)
	}
	l := p.Outline(m, h)
	if len(l.X) == 0 {
		return l, p.errorf("Outline returns no lower-level variables in Level.X")
	}
	return l, nil
}

// Level holds the functions of a bilevel program, or of one of its blocks, in one model.
type Level struct {
	// X are the lower-level variables.
	X []*convex.Variable
	// Train is l and Validation is L, both scalar.
	Train, Validation convex.Expr
	// Constraints are P_i(x, h) - r_i and g(x, h), in any order and grouping; each
	// entry is bounded by 0 in the lower level, and by t in the second problem.
	Constraints []convex.Expr
	// Residuals, optional, vanish all together exactly where l = 0, as the rows of least squares do. Where the lower level
	// interpolates, its solutions are then those of linear equations, which are easier on a solver than l <= 0.
	Residuals []convex.Expr
}

// Started is the program with numbers for H0, which where there are none are 1, or the nearest within Lo and Hi.
func (p Program) Started() Program {
	if p.H0 == nil {
		p.H0 = slices.Repeat([]float64{1}, max(p.Radii+p.Bounds, len(p.Lo), len(p.Hi)))
		for j, h := range p.H0 {
			if j < len(p.Lo) {
				h = math.Max(h, p.Lo[j])
			}
			if j < len(p.Hi) {
				h = math.Min(h, p.Hi[j])
			}
			p.H0[j] = h
		}
	}
	return p
}

// bounds returns the bounds of h with the defaults filled in.
func (p *Program) bounds() (lo, hi []float64) {
	n := len(p.H0)
	lo, hi = make([]float64, n), make([]float64, n)
	for j := range n {
		lo[j], hi[j] = math.Inf(-1), math.Inf(1)
		if j < p.Radii {
			lo[j] = 0
		}
		if p.Lo != nil {
			lo[j] = p.Lo[j]
		}
		if p.Hi != nil {
			hi[j] = p.Hi[j]
		}
	}
	return lo, hi
}

// validate checks shapes and the start.
func (p *Program) validate() error {
	n := len(p.H0)
	switch {
	case n == 0:
		return p.errorf("there are no hyperparameters: Radii is 0, and H0, Lo and Hi are empty")
	case p.Joint != nil && p.Fit != nil:
		return p.errorf("Joint is for conic programs, and does not go with Fit")
	case p.Build == nil && len(p.Blocks) == 0:
		return p.errorf("Build is nil")
	case p.Build != nil && p.Blocks != nil:
		return p.errorf("Build and Blocks are both given, expected one of them")
	case p.Radii < 0 || p.Radii > n:
		return p.errorf("Radii is %d, expected 0 to %d, the length of H0", p.Radii, n)
	case p.Bounds < 0 || p.Radii+p.Bounds > n:
		return p.errorf("Bounds is %d, expected 0 to %d, the length of H0 without the radii", p.Bounds, n-p.Radii)
	case p.Fit != nil && p.Radii < n && !(p.Radii+p.Bounds == n && p.Fit.Dim() == n && p.Fit.Traits().Parts != nil):
		return p.errorf("Fit is for programs whose hyperparameters are radii, or radii and bounds where it has "+
			"parts with as many; there are %d radii and %d hyperparameters", p.Radii, n)
	case p.Lo != nil && len(p.Lo) != n:
		return p.errorf("Lo has length %d, H0 has %d", len(p.Lo), n)
	case p.Hi != nil && len(p.Hi) != n:
		return p.errorf("Hi has length %d, H0 has %d", len(p.Hi), n)
	}
	lo, hi := p.bounds()
	for j, h := range p.H0 {
		switch {
		case math.IsNaN(h) || math.IsInf(h, 0):
			return p.errorf("H0[%d] is %v, expected a finite number", j, h)
		case !(lo[j] <= hi[j]):
			return p.errorf("bounds [%v, %v] of hyperparameter %d", lo[j], hi[j], j)
		case j < p.Radii && lo[j] < 0:
			return p.errorf("Lo[%d] is %v, but a radius is not negative", j, lo[j])
		case h < lo[j] || h > hi[j]:
			return p.errorf("H0[%d] is %v, outside its bounds [%v, %v]", j, h, lo[j], hi[j])
		}
	}
	return nil
}

// check rejects a level that the algorithm cannot use.
func (p *Program) check(l *Level) error {
	if len(l.X) == 0 {
		return p.errorf("Build returns no lower-level variables in Level.X")
	}
	if n := l.Train.Len(); n != 1 {
		return p.errorf("Level.Train has length %d, expected a scalar", n)
	}
	if n := l.Validation.Len(); n != 1 {
		return p.errorf("Level.Validation has length %d, expected a scalar", n)
	}
	return nil
}

func (p *Program) errorf(format string, args ...any) error {
	return fmt.Errorf("dca: %s: "+format, append([]any{cmp.Or(p.Name, "program")}, args...)...)
}

// point assigns values to the variables of one of the two models.
func point(vars []*convex.Variable, x [][]float64) convex.Point {
	pt := make(convex.Point, len(vars)+2)
	for i, v := range vars {
		pt[v] = x[i]
	}
	return pt
}

package compile

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex/internal/affine"
)

// compiler turns expressions into rows of a conic program.
type compiler struct {
	*Program
	shared map[*Atom]*affine.Variable            // epigraphs of whole atoms
	bounds map[*affine.Variable]*affine.Variable // those of the program for arguments that are functions
	known  map[*Atom]*Atom                       // atoms with those as arguments
}

// resolve puts variables of the program in the place of those that bound functions, as arguments of others: u >= f.
func (c *compiler) resolve(f Function) Function {
	f.Aff, f.Atoms = c.resolved(f.Aff), slices.Clone(f.Atoms)
	for i := range f.Atoms {
		f.Atoms[i].Atom = c.atom(f.Atoms[i].Atom)
	}
	return f
}

// resolved is resolve for affine expressions.
func (c *compiler) resolved(a affine.Expr) affine.Expr {
	for i, t := range a.Vars {
		if t.V.Bounds == nil {
			continue
		}
		u := c.bounds[t.V]
		if u == nil {
			switch of := t.V.Bounds.(type) {
			case Prefix:
				of.Of = c.resolved(of.Of)
				u = c.bounding(t.V)
				c.emit(backends.Zero(u.N), of.Equation(u.Expr()))
			case Function:
				f := c.resolve(of)
				u = c.bounding(t.V)
				c.lessEqual(f.plus(u.Expr().Neg()), sink{})
			}
		}
		a.Vars = slices.Clone(a.Vars)
		a.Vars[i].V = u
	}
	return a
}

// bounding adds the variable of the program in the place of one that no model has.
func (c *compiler) bounding(v *affine.Variable) *affine.Variable {
	c.bounds[v] = c.auxiliary(v.Name, v.N)
	return c.bounds[v]
}

// atom is resolve for atoms, the same one where the argument is none.
func (c *compiler) atom(a *Atom) *Atom {
	out := c.known[a]
	if out == nil {
		copied := *a
		copied.Arg, copied.Of = c.resolved(a.Arg), c.resolve(a.Of)
		out = &copied
		c.known[a] = out
	}
	return out
}

// sink says where the multipliers of an inequality go: row r to entry first + step*r of c. The zero value drops them.
type sink struct {
	c           *Constraint
	first, step int
}

// row is the sink of row r alone.
func (s sink) row(r int) sink { return sink{c: s.c, first: s.first + s.step*r} }

// emit adds rows s = expr in a cone, of which the dimension does not count.
func (c *compiler) emit(cone backends.Cone, expr affine.Expr) *Group {
	g := &Group{Kind: cone.Kind, Expr: expr, shape: cone}
	c.Groups = append(c.Groups, g)
	return g
}

// nonnegative adds the rows expr >= 0 with their multipliers.
func (c *compiler) nonnegative(expr affine.Expr, to sink) {
	c.refer(to, c.emit(backends.Nonnegative(expr.N), expr), 0, expr.N, 1)
}

func (c *compiler) refer(to sink, g *Group, row, rows int, coef float64) {
	if to.c != nil {
		c.Refs[to.c] = append(c.Refs[to.c], dualRef{G: g, Row: row, Rows: rows, Coef: coef, First: to.first, Step: to.step})
	}
}

func (c *compiler) constraint(con *Constraint) {
	c.Refs[con] = nil
	to, f := sink{c: con, step: 1}, c.resolve(con.F)
	switch {
	case con.Equal:
		// s = b - a = 0, so that the derivative in the right side b is -z.
		g := c.emit(backends.Zero(con.N), f.Aff.Neg())
		c.refer(to, g, 0, con.N, 1)
	case con.Cone != nil:
		c.refer(to, c.emit(*con.Cone, f.Aff), 0, con.N, 1)
	default:
		c.lessEqual(f, to)
	}
}

// lessEqual adds f <= 0.
func (c *compiler) lessEqual(f Function, to sink) {
	f = c.unweighted(f)
	if len(f.Atoms) == 0 {
		c.nonnegative(f.Aff.Neg(), to)
		return
	}
	if f.N == 1 {
		c.scalar(f, to)
		return
	}
	if len(f.Atoms) == 1 {
		if t := f.Atoms[0]; t.Off == 0 && t.Height() == f.N && !t.Sum {
			c.expand(t, f.Aff, to)
			return
		}
	}
	sum := []affine.Expr{f.Aff}
	for _, t := range f.Atoms { // several become linear by epigraphs
		e := c.epigraph(t)
		sum = append(sum, affine.Stack(affine.Expr{N: t.Off}, e, affine.Expr{N: f.N - t.Off - e.N}))
	}
	c.nonnegative(affine.Total(sum...).Neg(), to)
}

// scalar adds f <= 0 for f of length 1 with atoms. A single atom, or all sums of squares together, is expanded in
// place; the others get epigraphs.
func (c *compiler) scalar(f Function, to sink) {
	sum := []affine.Expr{f.Aff}
	var squares []AtomTerm
	for _, t := range f.Atoms {
		switch {
		case t.Atom.Kind == SquaresAtom:
			squares = append(squares, t)
		case t.Atom.Kind == HuberAtom:
			square, rest := c.splitHuber(t)
			squares, sum = append(squares, square), append(sum, rest)
		case len(f.Atoms) == 1 && t.count() == 1:
			t.Off, t.Sum = 0, false
			c.expand(t, f.Aff, to)
			return
		default:
			sum = append(sum, c.epigraph(t))
		}
	}
	aff := affine.Total(sum...)
	if len(squares) > 0 {
		c.squaresBelow(squares, aff.Neg(), to)
		return
	}
	c.nonnegative(aff.Neg(), to)
}

// unweighted replaces atoms with parameters as weights by their epigraphs.
func (c *compiler) unweighted(f Function) Function {
	if f.Weighted() == nil {
		return f
	}
	out, sum := Function{N: f.N}, []affine.Expr{f.Aff}
	for _, t := range f.Atoms {
		if t.W == nil {
			out.Atoms = append(out.Atoms, t)
			continue
		}
		e := c.weighted(t)
		sum = append(sum, affine.Stack(affine.Expr{N: t.Off}, e, affine.Expr{N: f.N - t.Off - e.N}))
	}
	out.Aff = affine.Total(sum...)
	return out
}

// weighted stands for a term with parameters as weights, see epigraph.
func (c *compiler) weighted(t AtomTerm) affine.Expr {
	c.weights = append(c.weights, t.W)
	if !t.Each {
		return t.W.Times(c.epigraph(t))
	}
	u := c.bound(t).Times(t.Scale) // w[at] u[0] + w[at+1] u[1] + ..
	return t.W.Dot(affine.Stack(affine.Expr{N: t.At}, u, affine.Expr{N: t.W.N - t.At - u.N}))
}

// expand adds scale*atom[k] + g[k] <= 0 for the selected entries k.
func (c *compiler) expand(t AtomTerm, g affine.Expr, to sink) {
	h := g.Neg()
	switch t.Atom.Kind {
	case AbsAtom: // scale*a <= h, -scale*a <= h
		a := t.argument().Times(t.Scale)
		c.nonnegative(h.Minus(a), to)
		c.nonnegative(h.Plus(a), to)
	case PosAtom: // 0 <= h, scale*a <= h
		c.nonnegative(h, to)
		c.nonnegative(h.Minus(t.argument().Times(t.Scale)), to)
	case NormsAtom: // |scale*a_group| <= h
		var as []affine.Expr
		if t.Atom.Groups != nil {
			as = t.Atom.Arg.Times(t.Scale).Entries()
		}
		for k, h := range h.Entries() {
			rows := []affine.Expr{h}
			if as == nil {
				rows = append(rows, t.Atom.Arg.Times(t.Scale))
			} else {
				for _, i := range t.Atom.Groups[t.entry(k)] {
					rows = append(rows, as[i])
				}
			}
			cone := c.emit(backends.SecondOrder(0), affine.Stack(rows...))
			c.refer(to.row(k), cone, 0, 1, 1)
		}
	case NuclearAtom: // |scale*a|_* <= h
		a := t.Atom.Arg.Times(t.Scale)
		rows := t.Atom.Rows // which are columns of the cone's matrix
		cone := c.emit(backends.NuclearNorm(a.N/rows, rows), affine.Stack(h, a))
		c.refer(to.row(0), cone, 0, 1, 1)
		c.noteMatrix(cone, a)
	case MaxAtom: // scale*f_i <= h for all i
		to.step = 0
		c.lessEqual(t.Atom.Of.Times(t.Scale).plus(g), to)
	case SquaresAtom:
		c.squaresBelow([]AtomTerm{t}, h, to)
	case GraphAtom:
		c.nonnegative(h.Minus(c.graph(t).Times(t.Scale)), to)
	case HuberAtom:
		for k, h := range h.Entries() {
			entry := t
			entry.sel = []int{t.entry(k)}
			square, rest := c.splitHuber(entry)
			c.squaresBelow([]AtomTerm{square}, h.Minus(rest), to.row(k))
		}
	}
}

// typical is the share of a sum of squares at zero that a fit leaves. First-order solvers depend on it: with
// 1 in its place SCS stalls on programs whose solution interpolates; interior points hardly change.
const typical = 0.01

// squaresBelow adds sum_k w_k |a_k|^2 <= h as
//
//	|((h - c)/2, sqrt(c w_1) a_1, sqrt(c w_2) a_2, ..)| <= (h + c)/2
//
// for a constant c > 0. The multiplier of the inequality is the derivative of
// -b'z in h, (z_0 + z_1)/2. The cone is well centred where h is near c. The value of the left side at
// zero bounds it in a regression, which may end anywhere below, so c is the share typical of that,
// or 1 where the value is zero.
func (c *compiler) squaresBelow(squares []AtomTerm, h affine.Expr, to sink) {
	parts := make([]affine.Expr, 0, len(squares)+2)
	curves := make([]Curve, len(squares))
	scale := 0.0
	for k, t := range squares {
		a := affine.Compress(t.Atom.Arg)
		curves[k] = Curve{Square: Square{Arg: a, Scale: t.Scale}}
		for _, v := range a.C {
			scale += t.Scale * v * v
		}
		parts = append(parts, a)
	}
	if scale *= typical; scale == 0 || affine.NotFinite(scale) {
		scale = 1
	}
	for k, t := range squares {
		parts[k] = parts[k].Times(math.Sqrt(scale * t.Scale))
	}
	half := h.Times(0.5)
	shift := affine.Constant(scale / 2)
	g := c.emit(backends.SecondOrder(0), affine.Stack(append([]affine.Expr{half.Plus(shift), half.Minus(shift)},
		parts...)...))
	c.refer(to, g, 0, 1, 0.5)
	c.refer(to, g, 1, 1, 0.5)
	for k := range curves {
		curves[k].Cone = g
	}
	c.Curves = append(c.Curves, curves...)
}

// epigraph returns an affine expression that stands for the term, of the same height, in terms of a new variable u >=
// atom.
func (c *compiler) epigraph(t AtomTerm) affine.Expr {
	e := c.bound(t)
	if t.Sum {
		e = e.Sum()
	}
	return e.Times(t.Scale)
}

// bound returns the variable u of epigraph, an entry for each of the term.
func (c *compiler) bound(t AtomTerm) affine.Expr {
	if t.Atom.Kind == GraphAtom {
		return c.graph(t)
	}
	u := c.shared[t.Atom]
	if u == nil || t.sel != nil {
		u = c.auxiliary("a bound on "+t.Atom.String(), t.count())
		if t.sel == nil {
			c.shared[t.Atom] = u
		}
		whole := t
		whole.Off, whole.Scale, whole.Sum = 0, 1, false
		first := len(c.Groups)
		c.expand(whole, u.Expr().Neg(), sink{})
		if t.sel == nil && t.Sum {
			c.noteSparse(t.Atom, u, first)
		}
	}
	return u.Expr()
}

// noteSparse records u >= |scale*v| for a whole variable v, whose rows start at the given group.
func (c *compiler) noteSparse(a *Atom, u *affine.Variable, first int) {
	if a.Kind != AbsAtom || !c.whole(a.Arg) || !a.Arg.Fixed() || floats.Norm(a.Arg.C, 1) != 0 {
		return
	}
	t := a.Arg.Vars[0]
	use := absUse{U: u, Scale: t.Scale, Plus: c.Groups[first], Minus: c.Groups[first+1]}
	use.Plus.Own, use.Minus.Own = true, true
	for _, s := range c.Sparse {
		if s.V == t.V {
			s.Uses = append(s.Uses, use)
			return
		}
	}
	c.Sparse = append(c.Sparse, &SparseVariable{V: t.V, Uses: []absUse{use}})
}

// minimize adds the objective.
func (c *compiler) minimize(f Function) {
	sum := []affine.Expr{f.Aff}
	for _, t := range f.Atoms {
		switch square := t.Atom.Kind == SquaresAtom; {
		case square || t.Atom.Kind == HuberAtom && !t.Each:
			if t.W != nil {
				c.weights = append(c.weights, t.W)
			}
			if square {
				c.minimizeSquares(t)
				continue
			}
			square, rest := c.splitHuber(t)
			c.minimizeSquares(square)
			if t.W != nil {
				rest = t.W.Times(rest)
			}
			sum = append(sum, rest)
		case t.W != nil:
			t.Sum = t.Sum || t.count() != 1
			sum = append(sum, c.weighted(t))
		default:
			t.Off, t.Sum = 0, t.Sum || t.count() != 1
			sum = append(sum, c.epigraph(t))
		}
	}
	c.Objective = affine.Total(sum...)
}

// minimizeSquares adds scale*|a|^2 to the objective: directly where each entry
// of a is one entry of a variable, and otherwise as |e|^2 with a - e = 0.
func (c *compiler) minimizeSquares(t AtomTerm) {
	a := t.Atom.Arg
	e := a
	if !a.Selection() {
		a = affine.Compress(a)
		e = c.Residual(a)
	}
	c.Curves = append(c.Curves, Curve{Square: Square{Arg: a, Scale: t.Scale, W: t.W}})
	c.Squares = append(c.Squares, Square{Arg: e, Scale: t.Scale, W: t.W})
}

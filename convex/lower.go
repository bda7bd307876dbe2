package convex

import (
	"math"

	"github.com/conetune/conetune/backends"
)

// compiler turns expressions into rows of a conic program.
type compiler struct {
	*Program
	model  *Model
	shared map[*atom]*Variable // epigraphs of whole atoms
}

// sink says where the multipliers of an inequality go: row r to entry
// first + step*r of c. The zero value drops them.
type sink struct {
	c           *Constraint
	first, step int
}

// row is the sink of row r alone.
func (s sink) row(r int) sink { return sink{c: s.c, first: s.first + s.step*r} }

// emit adds rows s = expr in a cone.
func (c *compiler) emit(kind backends.ConeKind, expr Affine) *group {
	g := &group{kind: kind, expr: expr}
	c.groups = append(c.groups, g)
	return g
}

// nonnegative adds the rows expr >= 0 with their multipliers.
func (c *compiler) nonnegative(expr Affine, to sink) *group {
	g := c.emit(backends.NonnegativeCone, expr)
	c.refer(to, g, 0, expr.n, 1)
	return g
}

func (c *compiler) refer(to sink, g *group, row, rows int, coef float64) {
	if to.c != nil {
		c.refs[to.c] = append(c.refs[to.c], dualRef{g: g, row: row, rows: rows, coef: coef, first: to.first, step: to.step})
	}
}

// auxiliary adds a variable of the compiled program.
func (c *compiler) auxiliary(name string, n int) *Variable {
	v := &Variable{m: c.model, id: len(c.vars), name: name, n: n}
	c.vars = append(c.vars, v)
	return v
}

func (c *compiler) constraint(con *Constraint) {
	c.refs[con] = nil
	to := sink{c: con, step: 1}
	switch {
	case con.kind == equality:
		// s = b - a = 0, so that the derivative in the right side b is -z.
		g := c.emit(backends.ZeroCone, con.f.aff.Neg())
		c.refer(to, g, 0, con.n, 1)
	case con.sides != nil:
		// f <= t <= a_i
		t := c.auxiliary("a bound", 1).Expr()
		c.lessEqual(con.f.MinusAffine(t), sink{})
		c.nonnegative(con.sides.Minus(t), to)
	default:
		c.lessEqual(con.f, to)
	}
}

// lessEqual adds f <= 0.
func (c *compiler) lessEqual(f Convex, to sink) {
	if len(f.atoms) == 0 {
		c.nonnegative(f.aff.Neg(), to)
		return
	}
	if f.n == 1 {
		c.scalar(f, to)
		return
	}
	if len(f.atoms) == 1 {
		if t := f.atoms[0]; t.off == 0 && t.height() == f.n && !t.sum {
			c.expand(t, f.aff, to)
			return
		}
	}
	// Several atoms: those with many rows become linear by an epigraph, the
	// others are taken row by row.
	rest := Convex{n: f.n, aff: f.aff}
	for _, t := range f.atoms {
		if t.sum || t.height() == 1 {
			rest.atoms = append(rest.atoms, t)
			continue
		}
		e := c.epigraph(t)
		rest.aff = rest.aff.Plus(Stack(Affine{n: t.off}, e, Affine{n: f.n - t.off - e.n}))
	}
	if len(rest.atoms) == 0 {
		c.nonnegative(rest.aff.Neg(), to)
		return
	}
	for i := range f.n {
		c.lessEqual(rest.At(i), to.row(i))
	}
}

// scalar adds f <= 0 for f of length 1 with atoms. One atom, or all sums of
// squares together, is expanded in place; the others get epigraphs.
func (c *compiler) scalar(f Convex, to sink) {
	keep, aff := -1, f.aff
	var squares []atomTerm
	for i, t := range f.atoms {
		if t.atom.kind == squaresAtom {
			squares = append(squares, t)
		} else if t.atom.kind == huberAtom {
			square, rest := c.splitHuber(t)
			squares, aff = append(squares, square), aff.Plus(rest)
		} else if t.count() == 1 && (keep < 0 || t.atom.kind.preference() > f.atoms[keep].atom.kind.preference()) {
			keep = i
		}
	}
	for i, t := range f.atoms {
		if t.atom.kind != squaresAtom && t.atom.kind != huberAtom && (i != keep || len(squares) > 0) {
			aff = aff.Plus(c.epigraph(t))
		}
	}
	switch {
	case len(squares) > 0:
		c.squaresBelow(squares, aff.Neg(), to)
	case keep >= 0:
		t := f.atoms[keep]
		t.off, t.sum = 0, false
		c.expand(t, aff, to)
	default:
		c.nonnegative(aff.Neg(), to)
	}
}

// preference orders the atoms by what their expansion in place saves.
func (k atomKind) preference() int {
	switch k {
	case nuclearAtom:
		return 4
	case normsAtom, logisticAtom, expAtom:
		return 3
	case maxAtom:
		return 2
	case absAtom:
		return 1
	}
	return 0
}

// expand adds scale*atom[k] + g[k] <= 0 for the selected entries k.
func (c *compiler) expand(t atomTerm, g Affine, to sink) {
	h := g.Neg()
	pick := func(a Affine) Affine {
		if t.sel != nil {
			a = a.Pick(t.sel)
		}
		return a.Scale(t.scale)
	}
	switch t.atom.kind {
	case absAtom: // scale*a <= h, -scale*a <= h
		a := pick(t.atom.arg)
		c.nonnegative(h.Minus(a), to)
		c.nonnegative(h.Plus(a), to)
	case posAtom: // 0 <= h, scale*a <= h
		c.nonnegative(h, to)
		c.nonnegative(h.Minus(pick(t.atom.arg)), to)
	case normsAtom: // |scale*a_group| <= h
		for k := range t.count() {
			a, entry := t.atom.arg, k
			if t.sel != nil {
				entry = t.sel[k]
			}
			if t.atom.groups != nil {
				a = a.Pick(t.atom.groups[entry])
			}
			cone := c.emit(backends.SecondOrderCone, Stack(h.At(k), a.Scale(t.scale)))
			c.refer(to.row(k), cone, 0, 1, 1)
		}
	case nuclearAtom: // |scale*a|_* <= h
		a := t.atom.arg.Scale(t.scale)
		cone := c.emit(backends.NuclearNormCone, Stack(h, a))
		cone.rows = t.atom.rows
		c.refer(to.row(0), cone, 0, 1, 1)
		c.noteMatrix(cone, a)
	case maxAtom: // scale*f_i <= h for all i
		to.step = 0
		c.lessEqual(t.atom.of.Scale(t.scale).PlusAffine(g), to)
	case squaresAtom:
		c.squaresBelow([]atomTerm{t}, h, to)
	case logisticAtom:
		c.expandLogistic(t, h, to)
	case expAtom: // exp(a) <= h/scale
		a := t.atom.arg
		if t.sel != nil {
			a = a.Pick(t.sel)
		}
		for k := range t.count() {
			cone := c.emit(backends.ExponentialCone, Stack(a.At(k), Const(1), h.At(k).Scale(1/t.scale)))
			c.refer(to.row(k), cone, 2, 1, 1/t.scale)
		}
	case huberAtom:
		for k := range t.count() {
			entry := t
			if entry.sel = []int{k}; t.sel != nil {
				entry.sel = t.sel[k : k+1]
			}
			square, rest := c.splitHuber(entry)
			c.squaresBelow([]atomTerm{square}, h.At(k).Minus(rest), to.row(k))
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
func (c *compiler) squaresBelow(squares []atomTerm, h Affine, to sink) {
	parts := make([]Affine, 0, len(squares)+2)
	curves := make([]curve, len(squares))
	scale := 0.0
	for k, t := range squares {
		a := compress(t.atom.arg)
		curves[k] = curve{arg: a, scale: t.scale}
		for _, v := range a.c {
			scale += t.scale * v * v
		}
		parts = append(parts, a)
	}
	if scale *= typical; scale == 0 || notFinite(scale) {
		scale = 1
	}
	for k, t := range squares {
		parts[k] = parts[k].Scale(math.Sqrt(scale * t.scale))
	}
	half := h.Scale(0.5)
	shift := Const(scale / 2)
	g := c.emit(backends.SecondOrderCone, Stack(append([]Affine{half.Plus(shift), half.Minus(shift)}, parts...)...))
	g.squared = scale
	c.refer(to, g, 0, 1, 0.5)
	c.refer(to, g, 1, 1, 0.5)
	for k := range curves {
		curves[k].cone = g
	}
	c.curves = append(c.curves, curves...)
}

// epigraph returns an affine expression that stands for the term, of the same
// height, in terms of a new variable u >= atom.
func (c *compiler) epigraph(t atomTerm) Affine {
	e := c.bound(t)
	if t.sum {
		e = e.Sum()
	}
	return e.Scale(t.scale)
}

// bound returns the variable u of epigraph, an entry for each of the term.
func (c *compiler) bound(t atomTerm) Affine {
	u := c.shared[t.atom]
	if u == nil || t.sel != nil {
		u = c.auxiliary("a bound on "+t.atom.String(), t.count())
		if t.sel == nil {
			c.shared[t.atom] = u
		}
		whole := t
		whole.off, whole.scale, whole.sum = 0, 1, false
		first := len(c.groups)
		c.expand(whole, u.Expr().Neg(), sink{})
		if t.sel == nil && t.sum {
			c.noteSparse(t.atom, u, first)
		}
		if t.sel == nil {
			c.noteHinge(t.atom, u, first)
		}
	}
	return u.Expr()
}

// noteSparse records u >= |scale*v| for a whole variable v, whose rows start at
// the given group.
func (c *compiler) noteSparse(a *atom, u *Variable, first int) {
	if a.kind != absAtom || len(a.arg.vars) != 1 || !a.arg.fixed() || !a.arg.vars[0].identity() {
		return
	}
	for _, v := range a.arg.c {
		if v != 0 {
			return
		}
	}
	t := a.arg.vars[0]
	use := absUse{u: u, scale: t.scale, plus: c.groups[first], minus: c.groups[first+1]}
	use.plus.own, use.minus.own = true, true
	for _, s := range c.sparse {
		if s.v == t.v {
			s.uses = append(s.uses, use)
			return
		}
	}
	c.sparse = append(c.sparse, &sparseVariable{v: t.v, uses: []absUse{use}})
}

// minimize adds the objective.
func (c *compiler) minimize(f Convex) {
	c.objective = f.aff
	for _, t := range f.atoms {
		if t.w != nil {
			c.weights = append(c.weights, t.w)
		}
		if t.atom.kind == squaresAtom {
			c.minimizeSquares(t)
			continue
		}
		if t.atom.kind == huberAtom && !t.each {
			square, rest := c.splitHuber(t)
			c.minimizeSquares(square)
			if t.w != nil {
				rest = t.w.Times(rest)
			}
			c.objective = c.objective.Plus(rest)
			continue
		}
		if t.each { // w[at] u[0] + w[at+1] u[1] + ..
			u := c.bound(t).Scale(t.scale)
			c.objective = c.objective.Plus(t.w.Dot(Stack(Affine{n: t.at}, u, Affine{n: t.w.n - t.at - u.n})))
			continue
		}
		t.off, t.sum = 0, t.sum || t.count() != 1
		e := c.epigraph(t)
		if t.w != nil {
			e = t.w.Times(e)
		}
		c.objective = c.objective.Plus(e)
	}
}

// minimizeSquares adds scale*|a|^2 to the objective: directly where each entry
// of a is one entry of a variable, and otherwise as |e|^2 with a - e = 0.
func (c *compiler) minimizeSquares(t atomTerm) {
	a := t.atom.arg
	of := curve{arg: a, scale: t.scale, w: t.w}
	if !a.selection() {
		a = compress(a)
		of.arg = a
		of.residual = c.auxiliary("residuals", a.n)
		e := of.residual.Expr()
		of.rows = c.emit(backends.ZeroCone, a.Minus(e))
		a = e
	}
	c.curves = append(c.curves, of)
	c.squares = append(c.squares, square{arg: a, scale: t.scale, w: t.w})
}

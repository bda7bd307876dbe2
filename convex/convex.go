package convex

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/convex/internal/affine"
	"github.com/conetune/conetune/convex/internal/compile"
)

// Convex is a vector of convex expressions: an affine part plus atoms with
// nonnegative weights. It is immutable, and an error made in building it stays
// with everything built from it, as in [Affine].
type Convex struct {
	f   compile.Function
	m   *Model // nil for constants
	err error
}

// Linear returns an affine expression as a convex one.
func Linear(a Affine) Convex {
	return Convex{f: compile.Function{N: a.e.N, Aff: a.e}, m: a.m, err: a.err}
}

// Len returns the number of entries.
func (f Convex) Len() int { return f.f.N }

// Err returns the first error made in building the expression, or nil.
func (f Convex) Err() error { return f.err }

// String names the expression in messages.
func (f Convex) String() string { return f.f.String() }

// failed returns an expression of length n that carries the error.
func failed(n int, m *Model, format string, args ...any) Convex {
	return broken(n, m, fmt.Errorf("convex: "+format, args...))
}

func broken(n int, m *Model, err error) Convex {
	return Convex{f: compile.Function{N: n, Aff: affine.Expr{N: n}}, m: m, err: err}
}

// Plus returns f + g. An operand of length 1 is added to every entry of the other.
func (f Convex) Plus(g Convex) Convex {
	n := max(f.f.N, g.f.N)
	m, err := common("sum", f.linear(), g.linear())
	switch {
	case err != nil:
		return broken(n, m, err)
	case unlike(f.f.N, g.f.N):
		return failed(n, f.m, "sum of %v and %v: the lengths differ", f, g)
	}
	return Convex{f: f.f.Plus(g.f), m: m}
}

// linear is the affine part.
func (f Convex) linear() Affine { return Affine{e: f.f.Aff, m: f.m, err: f.err} }

// PlusAffine returns f + a.
func (f Convex) PlusAffine(a Affine) Convex { return f.Plus(Linear(a)) }

// MinusAffine returns f - a.
func (f Convex) MinusAffine(a Affine) Convex { return f.Plus(Linear(a.Neg())) }

// Scale returns c times f. Where f is not affine, c must not be negative.
func (f Convex) Scale(c float64) Convex {
	switch scaled := f.linear().Scale(c); {
	case f.err != nil:
		return f
	case c < 0 && len(f.f.Atoms) > 0:
		return failed(f.f.N, f.m, "%v times %v is non-convex", c, f)
	case scaled.err != nil:
		return broken(f.f.N, f.m, scaled.err)
	}
	f.f = f.f.Times(c)
	return f
}

// weigh checks that the parameter can weigh f, and returns the part that is affine.
func (f Convex) weigh(op string, p *Parameter, a func(Affine) Affine) Convex {
	n := a(Affine{e: affine.Expr{N: f.f.N}}).e.N
	switch w := f.f.Weighted(); {
	case f.m != nil && f.m != p.m:
		return failed(n, f.m, "%s: parameter %s and %v belong to different models", op, p.p.Name, f)
	case w != nil:
		return failed(n, f.m, "%s: product of parameters %s and %s", op, p.p.Name, w.Name)
	}
	return Linear(a(f.linear()))
}

// Weight returns p times f, where the parameter p has length 1, a value that is
// set and not negative when the model is solved, and f is without parameters
// as weights. It may stand in objectives only, where p changes P and q of the
// conic program but not its constraints. Keep it positive where f has no other
// part in the objective: a norm of weight zero has an unbounded epigraph. It panics if p is nil or zero.
func (f Convex) Weight(p *Parameter) Convex {
	if p.of(); f.err != nil {
		return f
	}
	if p.p.N != 1 {
		return failed(f.f.N, f.m, "Weight: parameter %s has length %d, expected 1", p.p.Name, p.p.N)
	}
	out := f.weigh("Weight", p, p.Times)
	for _, t := range f.f.Atoms {
		t.W = p.p
		out.f.Atoms = append(out.f.Atoms, t)
	}
	return out
}

// WeightedSum returns sum_i p[i] f[i], where the parameter p has the length of f and values that
// are set and not negative when the model is solved. The terms of f must be affine or atoms with a value for
// each entry, such as [Abs] and [GroupNorms], which it does not take apart as a sum of f.At(i) with
// weights of their own would. What [Convex.Weight] says about objectives and weights of zero holds here, too.
func (f Convex) WeightedSum(p *Parameter) Convex {
	if p.of(); f.err != nil {
		return f.Sum()
	}
	if p.p.N != f.f.N {
		return failed(1, f.m, "WeightedSum: parameter %s has length %d, %v has %d", p.p.Name, p.p.N, f, f.f.N)
	}
	out := f.weigh("WeightedSum", p, p.Dot)
	for _, t := range f.f.Atoms {
		if t.Sum || t.Atom.Kind == compile.SquaresAtom || t.Atom.Kind == compile.MaxAtom {
			return failed(1, f.m, "WeightedSum: %v has one value, expected one for each entry", t.Atom)
		}
		t.W, t.Each, t.At = p.p, true, t.Off
		t.Off, t.Sum = 0, true
		out.f.Atoms = append(out.f.Atoms, t)
	}
	return out
}

// Sum returns the sum of the entries.
func (f Convex) Sum() Convex {
	if f.err != nil {
		return broken(1, f.m, f.err)
	}
	f.f = f.f.Sum()
	return f
}

// Dot returns sum_i c[i] f[i], where c has the length of f. Where f is not affine, no entry of c may be negative.
func (f Convex) Dot(c []float64) Convex {
	switch scaled := f.linear().Dot(c); {
	case f.err != nil:
		return broken(1, f.m, f.err)
	case scaled.err != nil:
		return broken(1, f.m, scaled.err)
	case len(f.f.Atoms) > 0 && slices.ContainsFunc(c, func(v float64) bool { return v < 0 }):
		return failed(1, f.m, "a sum of %v with negative weights is non-convex", f)
	}
	f.f = f.f.Dot(c)
	return f
}

// At returns entry i.
func (f Convex) At(i int) Convex {
	switch {
	case f.err != nil:
		return broken(1, f.m, f.err)
	case i < 0 || i >= f.f.N:
		return failed(1, f.m, "entry %d of %v", i, f)
	}
	f.f = f.f.Pick([]int{i})
	return f
}

// Eval returns the exact value at a point, with the parameters' current values.
// It returns nil if the expression has an error.
func (f Convex) Eval(pt Point) []float64 {
	if f.err != nil {
		return nil
	}
	return f.f.Eval(pt.of(f.m))
}

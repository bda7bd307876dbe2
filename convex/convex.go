package convex

import (
	"fmt"
	"slices"
)

// Convex is a vector of convex expressions: an affine part plus atoms with
// nonnegative weights. It is immutable, and an error made in building it stays
// with everything built from it, as in [Affine].
type Convex struct {
	n     int
	aff   Affine
	atoms []atomTerm
	err   error
}

// atomTerm adds entries of an atom to a Convex: entry k of the selection to row
// off+k, or all of them to row off when sum is set.
type atomTerm struct {
	atom  *atom
	sel   []int // nil: all entries
	off   int
	scale float64
	w     *Parameter // weight of length 1, or with each one of another length; nil without
	sum   bool
	each  bool // entry k has the weight w[at+k]
	at    int
}

// count is the number of entries selected.
func (t *atomTerm) count() int {
	if t.sel != nil {
		return len(t.sel)
	}
	return t.atom.n
}

// height is the number of rows the term adds to.
func (t *atomTerm) height() int {
	if t.sum {
		return 1
	}
	return t.count()
}

// weight is the factor of entry k at the parameter's current value.
func (t *atomTerm) weight(k int) float64 {
	switch {
	case t.w == nil:
		return t.scale
	case t.each:
		return t.scale * t.w.values[t.at+k]
	}
	return t.scale * t.w.values[0]
}

// Linear returns an affine expression as a convex one.
func Linear(a Affine) Convex { return Convex{n: a.n, aff: a, err: a.err} }

// Convex returns the affine expression as a convex one.
func (a Affine) Convex() Convex { return Linear(a) }

// Len returns the number of entries.
func (f Convex) Len() int { return f.n }

// Err returns the first error made in building the expression, or nil.
func (f Convex) Err() error { return f.err }

// String names the expression in messages.
func (f Convex) String() string {
	if len(f.atoms) == 0 {
		return f.aff.String()
	}
	return fmt.Sprintf("a convex expression of length %d with %v", f.n, f.atoms[0].atom)
}

func failed(n int, m *Model, format string, args ...any) Convex {
	err := fmt.Errorf("convex: "+format, args...)
	return Convex{n: n, aff: Affine{n: n, m: m, err: err}, err: err}
}

// model returns the model of the expression, nil for constants.
func (f Convex) model() *Model { return f.aff.m }

// Plus returns f + g. An operand of length 1 is added to every entry of the other.
func (f Convex) Plus(g Convex) Convex {
	n := max(f.n, g.n)
	for _, err := range []error{f.err, g.err} {
		if err != nil {
			return Convex{n: n, aff: f.aff, err: err}
		}
	}
	if f.n != g.n && f.n != 1 && g.n != 1 {
		return failed(n, f.model(), "sum of %v and %v: the lengths differ", f, g)
	}
	f, g = f.broadcast(n), g.broadcast(n)
	out := Convex{n: n, aff: f.aff.Plus(g.aff), atoms: slices.Concat(f.atoms, g.atoms)}
	out.err = out.aff.err
	return out
}

// broadcast repeats an expression of length 1.
func (f Convex) broadcast(n int) Convex {
	if f.n == n {
		return f
	}
	return f.pick(make([]int, n))
}

// PlusAffine returns f + a.
func (f Convex) PlusAffine(a Affine) Convex { return f.Plus(Linear(a)) }

// MinusAffine returns f - a.
func (f Convex) MinusAffine(a Affine) Convex { return f.Plus(Linear(a.Neg())) }

// Scale returns c times f. Where f is not affine, c must not be negative.
func (f Convex) Scale(c float64) Convex {
	if f.err != nil || c == 1 {
		return f
	}
	if c < 0 && len(f.atoms) > 0 {
		return failed(f.n, f.model(), "%v times %v is non-convex", c, f)
	}
	out := Convex{n: f.n, aff: f.aff.Scale(c)}
	if out.err = out.aff.err; out.err != nil || c == 0 {
		return out
	}
	for _, t := range f.atoms {
		t.scale *= c
		out.atoms = append(out.atoms, t)
	}
	return out
}

// Weight returns p times f, where the parameter p has length 1, a value that is
// set and not negative when the model is solved, and f is without parameters
// as weights. It may stand in objectives only, where p changes P and q of the
// conic program but not its constraints. Keep it positive where f has no other
// part in the objective: a norm of weight zero has an unbounded epigraph.
func (f Convex) Weight(p *Parameter) Convex {
	switch {
	case f.err != nil:
		return f
	case p.n != 1:
		return failed(f.n, f.model(), "Weight: parameter %s has length %d, expected 1", p.name, p.n)
	case f.model() != nil && f.model() != p.m:
		return failed(f.n, f.model(), "Weight: parameter %s and %v belong to different models", p.name, f)
	case f.weighted() != nil:
		return failed(f.n, f.model(), "Weight: product of parameters %s and %s", p.name, f.weighted().name)
	}
	out := Convex{n: f.n, aff: p.Times(f.aff)}
	out.err = out.aff.err
	for _, t := range f.atoms {
		t.w = p
		out.atoms = append(out.atoms, t)
	}
	return out
}

// WeightedSum returns sum_i p[i] f[i], where the parameter p has the length of f and values that
// are set and not negative when the model is solved. The terms of f must be affine or atoms with a value for
// each entry, such as [Abs] and [GroupNorms], which it does not take apart as a sum of f.At(i) with
// weights of their own would. What [Convex.Weight] says about objectives and weights of zero holds here, too.
func (f Convex) WeightedSum(p *Parameter) Convex {
	switch {
	case f.err != nil:
		return f.Sum()
	case p.n != f.n:
		return failed(1, f.model(), "WeightedSum: parameter %s has length %d, %v has %d", p.name, p.n, f, f.n)
	case f.model() != nil && f.model() != p.m:
		return failed(1, f.model(), "WeightedSum: parameter %s and %v belong to different models", p.name, f)
	case f.weighted() != nil:
		return failed(1, f.model(), "WeightedSum: product of parameters %s and %s", p.name, f.weighted().name)
	}
	out := Convex{n: 1, aff: p.Dot(f.aff)}
	out.err = out.aff.err
	for _, t := range f.atoms {
		if t.sum || t.atom.kind == squaresAtom || t.atom.kind == maxAtom {
			return failed(1, f.model(), "WeightedSum: %v has one value, expected one for each entry", t.atom)
		}
		t.w, t.each, t.at = p, true, t.off
		t.off, t.sum = 0, true
		out.atoms = append(out.atoms, t)
	}
	return out
}

// weighted returns a parameter that weighs an atom, if there is one.
func (f Convex) weighted() *Parameter {
	for _, t := range f.atoms {
		if t.w != nil {
			return t.w
		}
	}
	return nil
}

// Sum returns the sum of the entries.
func (f Convex) Sum() Convex {
	if f.err != nil {
		f.n = 1
		return f
	}
	out := Convex{n: 1, aff: f.aff.Sum()}
	out.err = out.aff.err
	for _, t := range f.atoms {
		t.off = 0
		t.sum = t.sum || t.count() != 1
		out.atoms = append(out.atoms, t)
	}
	return out
}

// At returns entry i.
func (f Convex) At(i int) Convex {
	if f.err != nil {
		f.n = 1
		return f
	}
	if i < 0 || i >= f.n {
		return failed(1, f.model(), "entry %d of %v", i, f)
	}
	return f.pick([]int{i})
}

// pick returns the given rows, which are in range. A term of many entries becomes
// one term for each run of rows that it adds to, others are repeated.
func (f Convex) pick(rows []int) Convex {
	out := Convex{n: len(rows), aff: f.aff.Pick(rows), err: f.err}
	for _, t := range f.atoms {
		for k := 0; k < len(rows); k++ {
			if rows[k] < t.off || rows[k] >= t.off+t.height() {
				continue
			}
			part := t
			part.off = k
			if !t.sum && t.count() > 1 {
				part.sel = nil
				for ; k < len(rows) && rows[k] >= t.off && rows[k] < t.off+t.height(); k++ {
					entry := rows[k] - t.off
					if t.sel != nil {
						entry = t.sel[entry]
					}
					part.sel = append(part.sel, entry)
				}
				k--
			}
			out.atoms = append(out.atoms, part)
		}
	}
	return out
}

// Eval returns the exact value at a point, with the parameters' current values.
// It returns nil if the expression has an error.
func (f Convex) Eval(pt Point) []float64 {
	if f.err != nil {
		return nil
	}
	out := f.aff.Eval(pt)
	for i := range f.atoms {
		t := &f.atoms[i]
		value := t.atom.eval(pt)
		for k := range t.count() {
			entry, row := k, t.off+k
			if t.sel != nil {
				entry = t.sel[k]
			}
			if t.sum {
				row = t.off
			}
			out[row] += t.weight(k) * value[entry]
		}
	}
	return out
}

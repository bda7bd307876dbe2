package compile

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/affine"
)

// Function is a vector of convex functions: an affine part plus atoms with nonnegative weights. It is immutable.
type Function struct {
	N     int
	Aff   affine.Expr
	Atoms []AtomTerm
}

// AtomTerm adds entries of an atom to a Function: entry k of the selection to row
// off+k, or all of them to row off when sum is set.
type AtomTerm struct {
	Atom  *Atom
	sel   []int // nil: all entries
	Off   int
	Scale float64
	W     *affine.Parameter // weight of length 1, or with each one of another length; nil without
	Sum   bool
	Each  bool // entry k has the weight w[at+k]
	At    int
}

// atomKind names a convex function.
type atomKind int

const (
	SquaresAtom atomKind = iota // scalar, sum of squares
	AbsAtom                     // vector, |a_i|
	PosAtom                     // vector, max(0, a_i)
	NormsAtom                   // vector, one norm for each group
	NuclearAtom                 // scalar, the sum of the singular values
	MaxAtom                     // scalar, the largest entry of a function
	HuberAtom                   // vector: a_i^2/2 up to the threshold, linear beyond
	GraphAtom                   // what Graph says
)

// Atom is a vector-valued convex function of an affine argument, or the maximum of a Function. Identity of the pointer
// lets a program share one epigraph among all uses.
type Atom struct {
	Kind   atomKind
	N      int
	Arg    affine.Expr
	Groups [][]int  // normsAtom; nil is one group of all entries
	Rows   int      // nuclearAtom; the matrix has n(arg)/rows columns
	Of     Function // maxAtom
	Delta  float64  // huberAtom
	Graph  *Graph   // graphAtom
}

// names of the atoms in messages.
var names = [...]string{SquaresAtom: "SumSquares", AbsAtom: "Abs", PosAtom: "Pos", NormsAtom: "a norm",
	NuclearAtom: "NuclearNorm",
	MaxAtom:     "Max", HuberAtom: "Huber"}

// String names the atom in messages.
func (a *Atom) String() string {
	if a.Kind == MaxAtom {
		return "Max of " + a.Of.String()
	}
	if a.Kind == GraphAtom {
		return a.Graph.Name + " of " + a.Arg.String()
	}
	return names[a.Kind] + " of " + a.Arg.String()
}

// String names the function in messages.
func (f Function) String() string {
	if len(f.Atoms) == 0 {
		return f.Aff.String()
	}
	return fmt.Sprintf("a convex expression of length %d with %v", f.N, f.Atoms[0].Atom)
}

// Weighted returns the term with a parameter of length 1 as its weight, or else the sum of its entries with one each.
func (t AtomTerm) Weighted(p *affine.Parameter, scale float64) AtomTerm {
	if t.W, t.Scale = p, t.Scale*scale; p.N != 1 {
		t.Each, t.At = true, t.Off
		t.Off, t.Sum = 0, true
	}
	return t
}

// Entries says that the term has a value for each entry.
func (t *AtomTerm) Entries() bool {
	return !t.Sum && t.Atom.Kind != SquaresAtom && t.Atom.Kind != MaxAtom
}

// count is the number of entries selected.
func (t *AtomTerm) count() int {
	if t.sel != nil {
		return len(t.sel)
	}
	return t.Atom.N
}

// entry is entry k of the selection.
func (t *AtomTerm) entry(k int) int {
	if t.sel != nil {
		return t.sel[k]
	}
	return k
}

// argument is that of the entries selected, of an atom with one for each.
func (t *AtomTerm) argument() affine.Expr {
	if t.sel != nil {
		return t.Atom.Arg.Pick(t.sel)
	}
	return t.Atom.Arg
}

// Height is the number of rows the term adds to.
func (t *AtomTerm) Height() int {
	if t.Sum {
		return 1
	}
	return t.count()
}

// Row is the row that entry r of the selection adds to.
func (t *AtomTerm) Row(r int) int { return t.Off + r }

// weight is the factor of entry k.
func (t *AtomTerm) weight(at affine.Values, k int) float64 {
	switch {
	case t.W == nil:
		return t.Scale
	case t.Each:
		return t.Scale * at.Entry(t.W, t.At+k)
	}
	return t.Scale * at.Entry(t.W, 0)
}

// Total returns the sum of functions, from the first one on, operands of length 1 being broadcast.
func Total(fs ...Function) Function {
	out, parts := Function{N: fs[0].N}, make([]affine.Expr, len(fs))
	for i, f := range fs {
		if out.N == 1 && f.N != 1 {
			out = Function{N: 1, Aff: affine.Expr{N: 1}, Atoms: out.Atoms}.broadcast(f.N)
		}
		parts[i] = f.Aff
		out.Atoms = append(out.Atoms, Function{N: f.N, Aff: affine.Expr{N: f.N}, Atoms: f.Atoms}.broadcast(out.N).Atoms...)
	}
	out.Aff = affine.Total(parts...)
	return out
}

// Stack returns the entries of all functions, one after the other.
func Stack(fs ...Function) Function {
	var out Function
	parts := make([]affine.Expr, len(fs))
	for i, f := range fs {
		for _, t := range f.Atoms {
			t.Off += out.N
			out.Atoms = append(out.Atoms, t)
		}
		parts[i], out.N = f.Aff, out.N+f.N
	}
	out.Aff = affine.Stack(parts...)
	return out
}

// broadcast repeats a function of length 1.
func (f Function) broadcast(n int) Function {
	if f.N == n {
		return f
	}
	return f.Pick(make([]int, n))
}

// plus returns f + a, an operand of length 1 being broadcast.
func (f Function) plus(a affine.Expr) Function { return Total(f, Function{N: a.N, Aff: a}) }

// Times returns c f, for c >= 0 where f is not affine.
func (f Function) Times(c float64) Function {
	if c == 1 {
		return f
	}
	out := Function{N: f.N, Aff: f.Aff.Times(c)}
	if c == 0 {
		return out
	}
	for _, t := range f.Atoms {
		t.Scale *= c
		out.Atoms = append(out.Atoms, t)
	}
	return out
}

// Weighted returns a parameter that weighs an atom, if there is one.
func (f Function) Weighted() *affine.Parameter {
	for _, t := range f.Atoms {
		if t.W != nil {
			return t.W
		}
	}
	return nil
}

// Sum returns the sum of the entries.
func (f Function) Sum() Function {
	out := Function{N: 1, Aff: f.Aff.Sum()}
	for _, t := range f.Atoms {
		t.Off = 0
		t.Sum = t.Sum || t.count() != 1
		out.Atoms = append(out.Atoms, t)
	}
	return out
}

// Dot returns sum_i c_i f_i, for c_i >= 0 where f is not affine: of each atom a term for each value of c.
func (f Function) Dot(c []float64) Function {
	out := Function{N: 1, Aff: f.Aff.Dot(c)}
	if len(f.Atoms) == 0 {
		return out
	}
	rows := map[float64][]int{}
	for i, v := range c {
		if v != 0 {
			rows[v] = append(rows[v], i)
		}
	}
	atoms := Function{N: f.N, Aff: affine.Expr{N: f.N}, Atoms: f.Atoms}.Index()
	for _, v := range slices.Sorted(maps.Keys(rows)) {
		out.Atoms = append(out.Atoms, atoms.Pick(rows[v]).Sum().Times(v).Atoms...)
	}
	return out
}

// Index is a function in which terms are found by their rows.
type Index struct {
	of     Function
	affine *affine.Index
	atoms  *affine.Places
}

// Index makes that of a function.
func (f Function) Index() *Index {
	return &Index{f, f.Aff.Index(), affine.NewPlaces(f.N, len(f.Atoms), func(t int) affine.Spread { return &f.Atoms[t] })}
}

// Pick returns the given rows, which are in range. A term of many entries becomes
// one term for each run of rows that it adds to, others are repeated.
func (x *Index) Pick(rows []int) Function {
	out := Function{N: len(rows), Aff: x.affine.Pick(rows)}
	for _, p := range x.atoms.Pick(rows) {
		t := x.of.Atoms[p.Term]
		for from := 0; from < len(p.Into); {
			part, to := t, from+1
			part.Off = p.Into[from]
			if !t.Sum && t.count() > 1 {
				for to < len(p.Into) && p.Into[to] == p.Into[to-1]+1 {
					to++
				}
				part.sel = make([]int, to-from)
				for i, r := range p.Own[from:to] {
					part.sel[i] = t.entry(r)
				}
			}
			out.Atoms, from = append(out.Atoms, part), to
		}
	}
	return out
}

// Pick is that of an index for it alone.
func (f Function) Pick(rows []int) Function { return f.Index().Pick(rows) }

// Eval returns the exact value at the point that of gives.
func (f Function) Eval(at affine.Values, of func(*affine.Variable) []float64) []float64 {
	out := f.Aff.Eval(at, of)
	known := map[*Atom][]float64{} // several terms may be of the same one
	for _, t := range f.Atoms {
		value, ok := known[t.Atom]
		if !ok {
			value = t.Atom.eval(at, of)
			known[t.Atom] = value
		}
		for k := range t.count() {
			row := t.Off + k
			if t.Sum {
				row = t.Off
			}
			out[row] += t.weight(at, k) * value[t.entry(k)]
		}
	}
	return out
}

// eval returns the entries at a point.
func (a *Atom) eval(at affine.Values, of func(*affine.Variable) []float64) []float64 {
	if a.Kind == MaxAtom {
		return []float64{floats.Max(a.Of.Eval(at, of))}
	}
	x := a.Arg.Eval(at, of)
	switch a.Kind {
	case SquaresAtom:
		return []float64{floats.Dot(x, x)}
	case AbsAtom:
		for i, v := range x {
			x[i] = math.Abs(v)
		}
	case PosAtom:
		for i, v := range x {
			x[i] = max(0, v)
		}
	case HuberAtom:
		for i, v := range x {
			x[i] = huber(v, a.Delta)
		}
	case NuclearAtom:
		return []float64{nuclearNorm(x, a.Rows)}
	case GraphAtom:
		return a.Graph.Value(x)
	case NormsAtom:
		if a.Groups == nil {
			return []float64{floats.Norm(x, 2)}
		}
		norms := make([]float64, len(a.Groups))
		for g, group := range a.Groups {
			for _, i := range group {
				norms[g] = math.Hypot(norms[g], x[i])
			}
		}
		return norms
	}
	return x
}

// huber is a^2/2 up to delta, and linear beyond.
func huber(v, delta float64) float64 {
	if v = math.Abs(v); v > delta {
		return delta * (v - delta/2)
	}
	return v * v / 2
}

// nuclearNorm returns the sum of the singular values of a matrix given by rows.
func nuclearNorm(x []float64, rows int) float64 {
	for _, v := range x {
		if affine.NotFinite(v) {
			return math.NaN()
		}
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(rows, len(x)/rows, x), mat.SVDNone) {
		return math.NaN()
	}
	return floats.Sum(svd.Values(nil))
}

// Range says whether no entry is below zero, and whether none is above, as far as that is known without solving.
func (f Function) Range() (low, high bool) {
	low, high = f.Aff.Range()
	for _, t := range f.Atoms {
		l, h := t.Atom.signs()
		low, high = low && (l || t.Scale == 0), high && (h || t.Scale == 0)
	}
	return low, high
}

// signs is Range of an atom.
func (a *Atom) signs() (low, high bool) {
	switch a.Kind {
	case MaxAtom:
		return a.Of.Range()
	case GraphAtom:
		return a.Graph.Sign > 0, a.Graph.Sign < 0
	}
	return true, false
}

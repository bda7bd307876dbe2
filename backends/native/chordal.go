package native

import (
	"iter"
	"math"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/factor"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/stop"
)

// component is a set of columns of a semidefinite cone that used rows connect. What is between two sets is zero in s,
// and may be zero in z.
//
// The matrix S of a component whose used entries are few is semidefinite if and only if it is a sum of semidefinite
// matrices, each with entries between the columns of one maximal clique of a chordal pattern that has the used entries
// (Agler, Helton, McCullough and Rodman 1988), and what is not used of Z can be filled in if and only if the parts of Z
// at the cliques are semidefinite (Grone, Johnson, Sa and Wolkowicz 1984). So the component may become a cone for each
// clique (Fukuda, Kojima, Murota and Nakata 2001; Kim, Kojima, Mevissen and Yamashita 2011). Along a tree of the
// cliques, with a variable v for each entry that a clique has in common with its parent, and b - Ax in the clique
// nearest to the root,
//
//	S_clique = its part of b - Ax + v - the v of its children,
//
// and the columns of v say that the parts of Z are the same where they meet.
//
// Where all entries are used, but many by variables that are nowhere else, as those of a matrix variable without costs
// and other rows, Z is zero there, and S what can be filled in: the component is open. It may become a cone for each
// clique of the other entries with the rows as they are, each row as often as there are cliques with its entry.
type component struct {
	columns []int    // from the root down where there are cliques, which have places in this list
	cliques []clique // parents first; none for a cone of all columns
	start   int      // the first row of the whole cone in the caller's problem
	order   int      // of the whole cone
	whole   clique   // all columns
	open    bool     // the sides are the other way round, see above
}

// link has the rows of a variable v of a component.
type link struct{ parent, child int32 }

// componentsOf finds those of the semidefinite cones, by the number of the cone. It is nil without such cones.
func (f *form) componentsOf(p *backends.Problem) (all map[int][]component) {
	if f.uses == nil {
		return nil
	}
	all = map[int][]component{}
	var sparse owners
	start := 0
	for at, c := range p.Cones {
		if c.Kind == backends.PSDCone && c.Dim > 1 {
			all[at] = f.connected(backends.PSDOrder(c.Dim), start)
			for k := range all[at] {
				sparse.add(&all[at][k], f.uses, f.stop)
			}
		}
		if start += c.Dim; f.stop.Reached(1) {
			return nil
		}
	}
	sparse.findVariables(p, f.stop)
	for _, t := range sparse.components {
		t.merge(f.stop)
	}
	return all
}

// connected returns the components of a cone of matrices of an order.
func (f *form) connected(n, start int) (out []component) {
	sets, uses := indices.NewSets(n), f.uses[start:]
	for j := range n {
		if f.stop.Reached(n - j) {
			return nil
		}
		for i := j + 1; i < n; i++ {
			if uses[svecPlace(n, i, j)] != 0 {
				a, b := sets.First(i), sets.First(j)
				sets.Join(min(a, b), max(a, b))
			}
		}
	}
	for _, columns := range sets.Lists() {
		out = append(out, component{columns: columns, start: start, order: n})
	}
	return out
}

// owners are the cliques of components that may have a cone for each.
type owners struct {
	components []*component
	row        []int32 // by row of the caller, the number and one of the clique whose own entry it is
	cliques    []*clique
	wholes     []*component // by clique
}

// add finds the cliques of a component, if it may be worth it.
func (o *owners) add(t *component, uses []rowUse, s *stop.Stop) {
	n := len(t.columns)
	t.whole.own = make([]int32, n)
	if decomposedWork*t.whole.work() < workOfCone {
		return
	}
	at := func(a, b int32) int {
		i, j := t.columns[a], t.columns[b]
		return t.start + svecPlace(t.order, max(i, j), min(i, j))
	}
	pattern := func(of func(use rowUse) bool) (ptr, ind []int32) {
		ptr = []int32{0}
		for b := range int32(n) {
			for a := range b {
				if of(uses[at(a, b)]) {
					ind = append(ind, a)
				}
			}
			if ptr = append(ptr, int32(len(ind))); s.Reached(n) {
				return nil, nil
			}
		}
		return ptr, ind
	}
	ptr, ind := pattern(func(use rowUse) bool { return use != 0 })
	if t.open = len(ind) == triangle(n-1); t.open {
		ptr, ind = pattern(func(use rowUse) bool { return use&freeRow == 0 })
	}
	if ptr == nil || len(ind) == triangle(n-1) {
		return
	}
	cliques, of, number := cliquesOf(n, ptr, ind, s)
	if len(cliques) < 2 {
		return
	}
	if o.row == nil {
		o.row = make([]int32, len(uses))
	}
	before := int32(len(o.cliques)) + 1
	for b := range int32(n) {
		o.row[at(b, b)] = before + of[b]
		for _, a := range ind[ptr[b]:ptr[b+1]] {
			first := a
			if number[b] < number[a] {
				first = b
			}
			o.row[at(a, b)] = before + of[first]
		}
	}
	t.cliques = cliques
	o.components = append(o.components, t)
	for k := range cliques {
		cliques[k].open = t.open
		o.cliques, o.wholes = append(o.cliques, &cliques[k]), append(o.wholes, t)
	}
}

// findVariables finds those that have entries in the rows of each clique, and of all of a component, or where that is
// open the other rows of these variables.
func (o *owners) findVariables(p *backends.Problem, s *stop.Stop) {
	if len(o.cliques) == 0 || p.A == nil {
		return
	}
	a := p.A.RawMatrix()
	for j := range int32(len(p.Q)) {
		if s.Reached(vectorWork + 2*(a.Indptr[j+1]-a.Indptr[j])) {
			return
		}
		rows := a.Ind[a.Indptr[j]:a.Indptr[j+1]]
		for _, i := range rows {
			k := o.row[i] - 1
			if k < 0 {
				continue
			}
			for _, c := range [2]*clique{o.cliques[k], &o.wholes[k].whole} {
				switch at := len(c.variables); {
				case o.wholes[k].open:
					for _, other := range rows {
						if o.row[other] == 0 {
							c.variables = append(c.variables, int32(other))
						}
					}
				case at == 0 || c.variables[at-1] != j:
					c.variables = append(c.variables, j)
				}
			}
		}
	}
	for k, c := range o.cliques {
		for _, c := range [2]*clique{c, &o.wholes[k].whole} {
			slices.Sort(c.variables)
			c.variables = slices.Compact(c.variables)
		}
	}
}

// merge leaves cliques that are worth a cone each, and numbers their columns from the root down.
func (t *component) merge(s *stop.Stop) {
	t.cliques = merge(t.cliques, t.whole.work(), s)
	if len(t.cliques) == 0 {
		return
	}
	place, sorted := make([]int32, len(t.columns)), make([]int, 0, len(t.columns))
	for k := range t.cliques {
		c := &t.cliques[k]
		for i, j := range c.own {
			place[j], c.own[i] = int32(len(sorted)), int32(len(sorted))
			sorted = append(sorted, t.columns[j])
		}
		for i, j := range c.separator {
			c.separator[i] = place[j]
		}
	}
	t.columns = sorted
}

// sortComponent makes the rows of one: an inequality for a column alone, a cone for all columns or for each clique.
func (f *form) sortComponent(rows *[places][]rowOrigin, t *component) (cones []backends.Cone) {
	if len(t.cliques) == 0 {
		place := otherRows
		if len(t.columns) == 1 {
			place = inequalityRows
		} else {
			cones = append(cones, backends.PSD(len(t.columns)))
		}
		for k, j := range t.columns {
			for _, i := range t.columns[k:] {
				rows[place] = append(rows[place], rowOrigin{user: int32(t.start + svecPlace(t.order, i, j)), sign: 1})
			}
		}
		return cones
	}
	list := rows[otherRows]
	at := make([]int, len(t.columns)) // of the columns, in the parent
	for k := range t.cliques {
		c := &t.cliques[k]
		c.row = len(list)
		cones = append(cones, backends.PSD(c.order()))
		var parent clique
		if c.parent >= 0 {
			parent = t.cliques[c.parent]
			for place, j := range parent.columns() {
				at[j] = place
			}
		}
		for i, j := range c.entries() {
			r := rowOrigin{user: int32(t.start + t.svec(i, j)), sign: 1, linked: !t.open && i < c.own[0]}
			if r.linked { // and j is of the separator, too
				place := svecPlace(parent.order(), max(at[i], at[j]), min(at[i], at[j]))
				f.links = append(f.links, link{int32(parent.row + place), int32(len(list))})
			}
			list = append(list, r)
		}
		if f.stop.Reached(vectorWork * triangle(c.order())) {
			return nil
		}
	}
	rows[otherRows] = list
	f.decomposed = append(f.decomposed, t)
	return cones
}

// bytesOfCliques is what the links take, and the matrices while they are expanded.
func (f *form) bytesOfCliques() int64 {
	largest := int64(0)
	for _, t := range f.decomposed {
		largest = max(largest, int64(len(t.columns)))
	}
	return 64*int64(len(f.links)) + 8*largest*largest
}

// columns are those of a clique, in the order of its rows.
func (c *clique) columns() []int32 { return slices.Concat(c.separator, c.own) }

// entries are the pairs of columns of a clique, the later one first, in the order of its rows.
func (c *clique) entries() iter.Seq2[int32, int32] {
	return func(yield func(i, j int32) bool) {
		columns := c.columns()
		for k, j := range columns {
			for _, i := range columns[k:] {
				if !yield(i, j) {
					return
				}
			}
		}
	}
}

// expand writes s and z of the component, given those of the rows of the form, and what makes them those of the caller;
// where it is open, s alone. The matrix whole is zero, and work space.
//
// z, of an open one s, is filled in from the root down: a clique's own columns have in the rows above those of its
// separator times T^-1 C, where T are the columns of the separator in its rows, and C the own columns there. Where a
// clique has other numbers at its separator than its parent, by rounding or as the residuals are not zero, T + aI with
// a as large in the place of T keeps T^-1 C small, and Z + aI semidefinite.
func (t *component) expand(s, z []float64, units func(row int) (ofS, ofZ float64), whole []float64,
	out *backends.Solution) {
	n := len(t.columns)
	given, filled := z, out.Z[t.start:]
	if t.open {
		given, filled = s, out.S[t.start:]
	}
	apart, largest := 0.0, 0.0
	for k := range t.cliques {
		c, row := &t.cliques[k], t.cliques[k].row
		ofS, unit := units(row)
		if t.open {
			unit = ofS
		} else {
			t.addUp(c, s[row:], ofS, out.S[t.start:])
		}
		for i, j := range c.entries() {
			value, shared := given[row]*unit, i < c.own[0]
			if i != j {
				value /= math.Sqrt2
			}
			if shared {
				apart = max(apart, math.Abs(whole[int(j)*n+int(i)]-value)*float64(len(c.separator)))
			} else {
				whole[int(j)*n+int(i)], whole[int(i)*n+int(j)] = value, value
			}
			largest = max(largest, math.Abs(value))
			row++
		}
	}
	for k := range t.cliques {
		if largest > 0 {
			t.cliques[k].fill(whole, n, apart+completionShift*largest)
		}
	}
	for j := range n {
		for i := j; i < n; i++ {
			value := whole[j*n+i]
			if i != j {
				value *= math.Sqrt2
			}
			filled[t.svec(int32(i), int32(j))] = value
		}
	}
}

// addUp adds s of a clique to that of the component, where no clique above has its own columns.
func (t *component) addUp(c *clique, s []float64, unit float64, out []float64) {
	row := 0
	for i, j := range c.entries() {
		at := &out[t.svec(i, j)]
		if i >= c.own[0] {
			*at = 0
		}
		*at += s[row] * unit
		row++
	}
}

// completionShift is the shift for what rounding makes of a matrix, as a part of its largest entry.
const completionShift = 1e-15

// svec is the place of the entry of two columns in the rows of the whole cone.
func (t *component) svec(i, j int32) int {
	a, b := t.columns[i], t.columns[j]
	return svecPlace(t.order, max(a, b), min(a, b))
}

// fill fills in what is not used of the clique's own columns in the rows above them of a matrix of order n.
func (c *clique) fill(whole []float64, n int, shift float64) {
	first, k := int(c.own[0]), len(c.separator)
	if k == first {
		return
	}
	var of factor.Definite
	for !of.Factor(k, func(j int, column []float64) {
		for i, u := range c.separator[j:] {
			column[j+i] = whole[int(c.separator[j])*n+int(u)]
		}
		column[j] += shift
	}) && shift <= math.MaxFloat64 {
		shift *= 4
	}
	allocated := make([]float64, 2*k)
	used, weights := allocated[:k], allocated[k:]
	for _, j := range c.own {
		column := whole[int(j)*n:][:first]
		for i, u := range c.separator {
			used[i] = column[u]
		}
		copy(weights, used)
		of.Solve(weights)
		clear(column)
		for i, u := range c.separator {
			dense.Axpy(weights[i], whole[int(u)*n:][:first], column)
		}
		for i, u := range c.separator {
			column[u] = used[i]
		}
		for u, v := range column {
			whole[u*n+int(j)] = v
		}
	}
}

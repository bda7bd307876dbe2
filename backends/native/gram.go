package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
)

// gram adds the matrix with entries sign tr(F_i X F_j Y), F_i sparse symmetric,
// to the matrix of the Newton systems.
//
// As in SDPA (Fujisawa, Kojima and Nakata 1997), for each F_j, in the order of
// falling numbers of nonzeros, the cheaper of two ways is taken to its products
// with the F_i that come after it. Let k be the number of rows in which F_j has nonzeros,
// C these rows and columns of it, and T = X_.k C, n x k:
//
//	full:   U = T Y_k. is formed by one matrix product, and its entries are picked;
//	picked: only the entries (T Y_k.)_pq of U that F_i has, as products of k terms.
//
// Both ways use k instead of n, so that an F_j with one entry costs k = 1 or 2.
type gram struct {
	n       int
	sign    float64
	members []gramMember // in the order of their unknowns
	order   []int32      // members by falling numbers of entries
	place   []int32      // of the pair (i, j), i >= j, at i(i+1)/2 + j, in the values of K
	full    []bool       // by member: U is formed
	chunk   int          // members between two looks at the stop, of about chunkEntries entries
	works   []gramWork   // one for each thread, where threads share members
	gramWork
}

// gramWork is what the products of a member need.
type gramWork struct {
	pack   []float64 // C and Y_.k
	t, u   []float64
	vec    []float64 // svec of U
	within dense.Within
}

const chunkEntries = 1 << 16

// gramMember is one F. Its entries are kept twice, as svec and as a matrix.
type gramMember struct {
	unknown int32 // of K
	item    int32 // the column or row of A that F is made of
	row     []int32
	from    []int32   // entries of A
	vec     []float64 // entry k of F is vec[k] at row[k] of svec
	p, q    []int32   // its place in the matrix, p >= q
	val     []float64 // its value there
	support []int32   // the rows with nonzeros
	lp, lq  []int32   // p and q as places in support
}

// prepare computes what depends on the pattern alone: the members have their
// unknown, item, row and from.
func (g *gram) prepare() {
	n := g.n
	slices.SortFunc(g.members, func(a, b gramMember) int { return int(a.unknown - b.unknown) })
	all := 1
	for k := range g.members {
		all += len(g.members[k].row)
	}
	g.chunk = 1 + chunkEntries*len(g.members)/all
	p, q := make([]int32, 0, n*(n+1)/2), make([]int32, 0, n*(n+1)/2)
	for j := range int32(n) {
		for i := j; i < int32(n); i++ {
			p, q = append(p, i), append(q, j)
		}
	}
	local := make([]int32, n)
	widest := 0
	for k := range g.members {
		m := &g.members[k]
		if g.within.Stop.Reached(200 + 100*len(m.row)) {
			return
		}
		m.vec, m.val = make([]float64, len(m.row)), make([]float64, len(m.row))
		for _, r := range m.row {
			m.p, m.q = append(m.p, p[r]), append(m.q, q[r])
		}
		m.support = slices.Concat(m.p, m.q)
		slices.Sort(m.support)
		m.support = slices.Compact(m.support)
		for l, i := range m.support {
			local[i] = int32(l)
		}
		for e := range m.row {
			m.lp, m.lq = append(m.lp, local[m.p[e]]), append(m.lq, local[m.q[e]])
		}
		widest = max(widest, len(m.support))
		g.order = append(g.order, int32(k))
	}
	// of as many entries, the last unknown first: its products with those before it are side by side in K
	slices.SortFunc(g.order, func(a, b int32) int {
		return cmp.Or(len(g.members[b].row)-len(g.members[a].row), int(b-a))
	})
	g.full = make([]bool, len(g.members))
	entries := 0 // of the members after this one
	anyFull := false
	for o := len(g.order) - 1; o >= 0; o-- {
		m := &g.members[g.order[o]]
		entries += len(m.row)
		k := float64(len(m.support))
		form := float64(n)*float64(n)*k/gemmGain + pickCost*float64(entries)
		pick := float64(n)*k + (k+pickCost)*float64(entries)
		g.full[g.order[o]] = form < pick
		anyFull = anyFull || form < pick
	}
	room := func(within dense.Within) gramWork {
		w := gramWork{make([]float64, max(n, widest)*widest), make([]float64, n*widest), make([]float64, n*widest), nil,
			within}
		if anyFull {
			w.u, w.vec = make([]float64, n*n), make([]float64, n*(n+1)/2)
		}
		return w
	}
	if g.gramWork = room(g.within); len(g.members) < sharedMembers {
		return
	}
	for len(g.works) < g.within.Threads && g.within.Threads > 1 {
		g.works = append(g.works, room(dense.Within{}))
	}
}

const (
	// How many multiplications of a matrix product take the time of one in a loop.
	gemmGain = 12
	// The time, in multiplications, to pick an entry.
	pickCost = 3
	// An F with more entries than this part of its support is multiplied as a dense matrix.
	denseMember = 6
	// From so many members on threads take one each, and not a part of the same product.
	sharedMembers = 16
)

// set takes the current entries of the F: entry e of a member is values(m, e).
func (g *gram) set(value func(m *gramMember, e int) float64) {
	for k := range g.members {
		m := &g.members[k]
		if g.within.Stop.Reached(8 * len(m.row)) {
			return
		}
		for e := range m.row {
			v := value(m, e)
			m.vec[e] = v
			if m.p[e] != m.q[e] {
				v *= 1 / math.Sqrt2
			}
			m.val[e] = v
		}
	}
}

// each calls f for all members, side by side where threads have work space for them, each call with a gram that has its
// own.
func (g *gram) each(f func(g *gram, o int)) {
	if len(g.works) == 0 {
		for o := range g.order {
			f(g, o)
		}
		return
	}
	own := make([]gram, len(g.works))
	for k := range own {
		own[k] = *g
		own[k].gramWork = g.works[k]
		own[k].within.Stop = g.within.Stop.Copy()
	}
	crew.By(len(g.order), len(own), func(worker, o int) { f(&own[worker], o) })
	g.within.Stop.Look()
}

// add adds the matrix to the values of K.
func (g *gram) add(values, x, y []float64) {
	g.each(func(g *gram, o int) {
		j := g.order[o]
		m := &g.members[j]
		if len(m.row) == 0 || g.within.Stop.Reached(2*g.n*len(m.support)) {
			return
		}
		g.multiply(m, x)
		if g.full[j] {
			g.addFull(values, y, o)
		} else {
			g.addPicked(values, y, o)
		}
	})
}

// multiply computes T = X_.k C.
func (g *gram) multiply(m *gramMember, x []float64) {
	n, k := g.n, len(m.support)
	t := g.t[:n*k]
	clear(t)
	if len(m.row)*denseMember > k*k && k > 8 {
		c, xk := g.pack[:k*k], g.u[:n*k]
		clear(c)
		for e, v := range m.val { // -C, as the kernel subtracts
			c[int(m.lp[e])+int(m.lq[e])*k] = -v
			c[int(m.lq[e])+int(m.lp[e])*k] = -v
		}
		for l, i := range m.support {
			copy(xk[l*n:(l+1)*n], x[int(i)*n:])
		}
		g.within.GemmNT(n, k, k, xk, n, c, k, t, n)
		return
	}
	for e, v := range m.val {
		p, q := int(m.p[e]), int(m.q[e])
		lp, lq := int(m.lp[e]), int(m.lq[e])
		dense.Axpy(v, x[p*n:p*n+n], t[lq*n:lq*n+n])
		if p != q {
			dense.Axpy(v, x[q*n:q*n+n], t[lp*n:lp*n+n])
		}
	}
}

// addFull forms -U = -T Y_k. and adds the products of the o-th member with those from
// it on in the order.
func (g *gram) addFull(values, y []float64, o int) {
	n, m := g.n, &g.members[g.order[o]]
	k := len(m.support)
	yk := g.pack[:n*k]
	for l, i := range m.support {
		copy(yk[l*n:(l+1)*n], y[int(i)*n:int(i)*n+n])
	}
	u := g.u[:n*n]
	clear(u)
	g.within.GemmNT(n, n, k, g.t, n, yk, n, u, n)
	g.within.Stop.Reached(n * n * (1 + k/16))
	packMean(g.vec, u, n)
	g.products(values, o, g.chunk, func(f *gramMember) float64 { return -f.dot(g.vec) })
}

// products adds those of the o-th member with the ones from it on in the order, so many between two looks at the stop.
func (g *gram) products(values []float64, o, step int, with func(f *gramMember) float64) {
	for j := g.order[o]; o < len(g.order) && !g.within.Stop.Reached(chunkEntries); o += step {
		for _, i := range g.order[o:min(o+step, len(g.order))] {
			values[g.at(i, j)] += g.sign * with(&g.members[i])
		}
	}
}

// addPicked does the same without forming U.
func (g *gram) addPicked(values, y []float64, o int) {
	n, m := g.n, &g.members[g.order[o]]
	k := len(m.support)
	if k == 1 {
		t, yk := g.t[:n], y[int(m.support[0])*n:][:n]
		g.products(values, o, g.chunk, func(f *gramMember) float64 {
			sum := 0.0
			for e, v := range f.val {
				p, q := f.p[e], f.q[e]
				if p == q {
					sum += v * t[p] * yk[p]
				} else {
					sum += v * (t[p]*yk[q] + t[q]*yk[p])
				}
			}
			return sum
		})
		return
	}
	// T and Y_.k by rows, so that the k numbers of a product are together
	tk, yk := g.pack[:n*k], g.u[:n*k]
	for l, s := range m.support {
		col, t := y[int(s)*n:int(s)*n+n], g.t[l*n:l*n+n]
		at := l
		for i, v := range t {
			tk[at], yk[at] = v, col[i]
			at += k
		}
	}
	g.products(values, o, 1+g.chunk/k, func(f *gramMember) float64 {
		sum := 0.0
		for e, v := range f.val {
			p, q := int(f.p[e])*k, int(f.q[e])*k
			tp, yq := tk[p:p+k], yk[q:q+k]
			inner := 0.0
			for l, a := range tp {
				inner += a * yq[l]
			}
			if p != q {
				tq, yp := tk[q:q+k], yk[p:p+k]
				for l, a := range tq {
					inner += a * yp[l]
				}
			}
			sum += v * inner
		}
		return sum
	})
}

// at returns the place of a pair of members.
func (g *gram) at(i, j int32) int32 {
	if i < j {
		i, j = j, i
	}
	return g.place[int(i)*(int(i)+1)/2+int(j)]
}

// mulAdd adds the svec of sum_i x_i F_i to v, x by item.
func (g *gram) mulAdd(v, x []float64, a float64) {
	for k := range g.members {
		m := &g.members[k]
		if g.within.Stop.Reached(2 + len(m.row)) {
			return
		}
		if xi := a * x[m.item]; xi != 0 {
			for e, r := range m.row {
				v[r] += xi * m.vec[e]
			}
		}
	}
}

// dotAdd adds a <F_i, V>, V as svec, to out at the unknown of each member.
func (g *gram) dotAdd(out, v []float64, a float64) {
	for k := range g.members {
		m := &g.members[k]
		if g.within.Stop.Reached(2 + len(m.row)) {
			return
		}
		out[m.unknown] += a * m.dot(v)
	}
}

// dot returns <F, V>.
func (m *gramMember) dot(v []float64) (sum float64) {
	for e, r := range m.row {
		sum += m.vec[e] * v[r]
	}
	return sum
}

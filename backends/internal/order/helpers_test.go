package order

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
)

// pattern is a symmetric pattern for the tests, the entries above the diagonal
// in compressed columns.
type pattern struct {
	n              int
	colptr, rowidx []int32
}

// fromEdges compresses edges given in any order and direction.
func fromEdges(n int, edges [][2]int) pattern {
	cols := make([][]int32, n)
	for _, e := range edges {
		i, j := min(e[0], e[1]), max(e[0], e[1])
		cols[j] = append(cols[j], int32(i))
	}
	p := pattern{n: n, colptr: make([]int32, n+1)}
	for j, c := range cols {
		slices.Sort(c)
		p.rowidx = append(p.rowidx, slices.Compact(c)...)
		p.colptr[j+1] = int32(len(p.rowidx))
	}
	return p
}

func (p pattern) edges() [][2]int {
	var e [][2]int
	for j := range p.n {
		for _, i := range p.rowidx[p.colptr[j]:p.colptr[j+1]] {
			e = append(e, [2]int{int(i), j})
		}
	}
	return e
}

func (p pattern) amd() []int32 { return AMD(p.n, p.colptr, p.rowidx, Options{}) }

// permuted returns the pattern of PAP'.
func (p pattern) permuted(perm []int32) pattern {
	place := make([]int, p.n)
	for k, i := range perm {
		place[i] = k
	}
	edges := p.edges()
	for i, e := range edges {
		edges[i] = [2]int{place[e[0]], place[e[1]]}
	}
	return fromEdges(p.n, edges)
}

// cost returns the entries of L in the given order, diagonal included, and the
// sum of the squared column counts.
func (p pattern) cost(perm []int32) (entries int, flops float64) {
	_, _, counts := p.permuted(perm).tree()
	for _, c := range counts {
		entries += int(c)
		flops += float64(c) * float64(c)
	}
	return entries, flops
}

// tree returns the elimination tree, a postorder of it and the counts of the columns of L.
func (p pattern) tree() (parent, post, counts []int32) {
	parent = Etree(p.n, p.colptr, p.rowidx, nil)
	post = Postorder(parent, nil)
	return parent, post, ColCounts(p.n, p.colptr, p.rowidx, parent, post, nil)
}

// bitset rows of the adjacency, with which the tests do the obvious thing.
func (p pattern) bitsets() [][]uint64 {
	b := make([][]uint64, p.n)
	for i := range b {
		b[i] = make([]uint64, (p.n+63)/64)
	}
	for _, e := range p.edges() {
		if e[0] != e[1] {
			b[e[0]][e[1]/64] |= 1 << (e[1] % 64)
			b[e[1]][e[0]/64] |= 1 << (e[0] % 64)
		}
	}
	return b
}

func count(set []uint64) (c int) {
	for _, w := range set {
		c += bits.OnesCount64(w)
	}
	return c
}

// eliminate joins the neighbours of v to a clique and takes v out.
func eliminate(b [][]uint64, v int) {
	for w, word := range b[v] {
		for ; word != 0; word &= word - 1 {
			i := 64*w + bits.TrailingZeros64(word)
			for k, x := range b[v] {
				b[i][k] |= x
			}
			b[i][i/64] &^= 1 << (i % 64)
			b[i][v/64] &^= 1 << (v % 64)
		}
	}
}

// naiveCounts eliminates in the given order on the explicit graph and returns
// the parent and the count of each column, by place in the order.
func naiveCounts(p pattern) (parent, counts []int32) {
	b := p.bitsets()
	parent, counts = make([]int32, p.n), make([]int32, p.n)
	for v := range p.n {
		counts[v] = int32(count(b[v]) + 1)
		parent[v] = -1
		for w := len(b[v]) - 1; w >= 0; w-- {
			if b[v][w] != 0 {
				parent[v] = int32(64*w + bits.TrailingZeros64(b[v][w]))
			}
		}
		eliminate(b, v)
	}
	return parent, counts
}

// minimumDegree is exact minimum degree with ties to the lowest index. It
// returns the order and the entries of L.
func minimumDegree(p pattern) (perm []int32, entries int) {
	b := p.bitsets()
	degree := make([]int, p.n)
	for i := range degree {
		degree[i] = count(b[i])
	}
	for range p.n {
		best := -1
		for i, d := range degree {
			if d >= 0 && (best < 0 || d < degree[best]) {
				best = i
			}
		}
		perm = append(perm, int32(best))
		entries += degree[best] + 1
		eliminate(b, best)
		for w, word := range b[best] {
			for ; word != 0; word &= word - 1 {
				i := 64*w + bits.TrailingZeros64(word)
				degree[i] = count(b[i])
			}
		}
		degree[best] = -1
	}
	return perm, entries
}

func requirePermutation(t require.TestingT, n int, perm []int32) {
	require.Len(t, perm, n)
	seen := make([]bool, n)
	for _, i := range perm {
		require.False(t, i < 0 || int(i) >= n || seen[i], "entry %d of %v", i, perm)
		seen[i] = true
	}
}

// Patterns.

func grid2D(rows, cols int) pattern {
	var e [][2]int
	for i := range rows {
		for j := range cols {
			v := i*cols + j
			if j+1 < cols {
				e = append(e, [2]int{v, v + 1})
			}
			if i+1 < rows {
				e = append(e, [2]int{v, v + cols})
			}
		}
	}
	return fromEdges(rows*cols, e)
}

func randomPattern(n, edges int, seed uint64) pattern {
	r := rand.New(rand.NewPCG(seed, 1))
	e := make([][2]int, 0, edges)
	for len(e) < edges && n > 1 {
		if i, j := r.IntN(n), r.IntN(n); i != j {
			e = append(e, [2]int{i, j})
		}
	}
	return fromEdges(n, e)
}

func complete(n int) pattern {
	var e [][2]int
	for j := range n {
		for i := range j {
			e = append(e, [2]int{i, j})
		}
	}
	return fromEdges(n, e)
}

// bipartite is [I A'; A -I] with A of the given size and density.
func bipartite(rows, cols int, density float64, seed uint64) pattern {
	r := rand.New(rand.NewPCG(seed, 2))
	var e [][2]int
	for i := range rows {
		for j := range cols {
			if r.Float64() < density {
				e = append(e, [2]int{j, cols + i})
			}
		}
	}
	return fromEdges(rows+cols, e)
}

// lasso is the KKT system of min |Ax-b|^2 + sum u, -u <= x <= u with dense A: the
// unknowns x and u, two rows for each pair, and the rows of A.
func lasso(rows, cols int) pattern {
	var e [][2]int
	x, u := 0, cols
	low, high, fit := 2*cols, 3*cols, 4*cols
	for j := range cols {
		e = append(e, [2]int{x + j, low + j}, [2]int{u + j, low + j}, [2]int{x + j, high + j}, [2]int{u + j, high + j})
		for i := range rows {
			e = append(e, [2]int{x + j, fit + i})
		}
	}
	return fromEdges(4*cols+rows, e)
}

func identity(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	return p
}

func shuffled(p pattern, seed uint64) pattern {
	perm := identity(p.n)
	r := rand.New(rand.NewPCG(seed, 3))
	r.Shuffle(p.n, func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
	return p.permuted(perm)
}

// blocks is the KKT pattern of count dense rows x cols systems whose rows all
// have the same few link columns.
func blocks(count, rows, cols, links int) pattern {
	var e [][2]int
	n := links
	for range count {
		col, row := n, n+cols
		n += cols + rows
		for i := range rows {
			for j := range cols {
				e = append(e, [2]int{col + j, row + i})
			}
			for l := range links {
				e = append(e, [2]int{l, row + i})
			}
		}
	}
	return fromEdges(n, e)
}

// Tree and counts against elimination on the explicit graph.
func TestEtreeAndColCounts(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		edges := rapid.IntRange(0, 3*n).Draw(t, "edges")
		p := randomPattern(n, edges, rapid.Uint64().Draw(t, "seed"))
		wantParent, wantCounts := naiveCounts(p)
		parent := Etree(n, p.colptr, p.rowidx, nil)
		require.Equal(t, wantParent, parent)
		post := Postorder(parent, nil)
		requirePermutation(t, n, post)
		require.Equal(t, wantCounts, ColCounts(n, p.colptr, p.rowidx, parent, post, nil))
	})
}

func TestEtreeIgnoresTheLowerTriangle(t *testing.T) {
	p := randomPattern(40, 70, 1)
	full := pattern{n: p.n, colptr: []int32{0}}
	b := p.bitsets()
	for j := range p.n {
		for i := p.n - 1; i >= 0; i-- { // unsorted, with the diagonal
			if i == j || b[j][i/64]>>(i%64)&1 == 1 {
				full.rowidx = append(full.rowidx, int32(i))
			}
		}
		full.colptr = append(full.colptr, int32(len(full.rowidx)))
	}
	parent := Etree(p.n, p.colptr, p.rowidx, nil)
	require.Equal(t, parent, Etree(p.n, full.colptr, full.rowidx, nil))
	post := Postorder(parent, nil)
	assert.Equal(t, ColCounts(p.n, p.colptr, p.rowidx, parent, post, nil), ColCounts(p.n, full.colptr, full.rowidx, parent,
		post, nil))
}

// A path of this length would overflow a recursive postorder of most languages,
// and in all of them cost a frame a node.
func TestPostorderOfALongPath(t *testing.T) {
	const n = 1_000_000
	parent := make([]int32, n)
	for j := range parent {
		parent[j] = int32(j) + 1
	}
	parent[n-1] = -1
	assert.True(t, slices.Equal(identity(n), Postorder(parent, nil)))
}

func ExampleColCounts() {
	// A ring of four: eliminating 0 joins 1 and 3.
	colptr := []int32{0, 0, 1, 2, 4}
	rowidx := []int32{0, 1, 0, 2}
	parent := Etree(4, colptr, rowidx, nil)
	post := Postorder(parent, nil)
	fmt.Println("tree:", parent)
	fmt.Println("entries in the columns of L:", ColCounts(4, colptr, rowidx, parent, post, nil))
	// Output:
	// tree: [1 2 3 -1]
	// entries in the columns of L: [3 3 2 1]
}

package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

func TestAMDNoFill(t *testing.T) {
	arrow := func(n, head int) pattern {
		var e [][2]int
		for i := range n {
			if i != head {
				e = append(e, [2]int{i, head})
			}
		}
		return fromEdges(n, e)
	}
	path := make([][2]int, 0)
	for i := range 500 {
		path = append(path, [2]int{i, i + 1})
	}
	tree := make([][2]int, 0)
	for i := 1; i < 1000; i++ {
		tree = append(tree, [2]int{(i - 1) / 3, i})
	}
	var cliques [][2]int // ten of ten, unconnected
	for c := range 10 {
		for _, e := range complete(10).edges() {
			cliques = append(cliques, [2]int{10*c + e[0], 10*c + e[1]})
		}
	}
	for _, c := range []struct {
		name string
		p    pattern
	}{
		{"empty", fromEdges(0, nil)},
		{"single", fromEdges(1, nil)},
		{"diagonal", fromEdges(50, nil)},
		{"arrow up", arrow(100, 0)},
		{"arrow down", arrow(100, 99)},
		{"star with a row set aside", arrow(5000, 17)},
		{"path", shuffled(fromEdges(501, path), 1)},
		{"tree", shuffled(fromEdges(1000, tree), 1)},
		{"complete", complete(60)},
		{"cliques", shuffled(fromEdges(100, cliques), 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			perm := c.p.amd()
			requirePermutation(t, c.p.n, perm)
			entries, _ := c.p.cost(perm)
			assert.Equal(t, c.p.n+len(c.p.rowidx), entries)
		})
	}
}

func TestAMDIsAPermutation(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "n")
		var rows [][2]int
		if n > 0 {
			node := rapid.IntRange(0, n-1)
			// Diagonal, lower and repeated entries are allowed in the input.
			rows = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
				return [2]int{node.Draw(t, "i"), node.Draw(t, "j")}
			}), 0, 5*n).Draw(t, "entries")
			for range rapid.IntRange(0, 3).Draw(t, "hubs") {
				hub := node.Draw(t, "hub")
				for i := range n {
					rows = append(rows, [2]int{hub, i})
				}
			}
		}
		cols := make([][]int32, n)
		for _, e := range rows {
			cols[e[1]] = append(cols[e[1]], int32(e[0]))
		}
		p := pattern{n: n, colptr: []int32{0}}
		for _, c := range cols {
			p.rowidx = append(p.rowidx, c...)
			p.colptr = append(p.colptr, int32(len(p.rowidx)))
		}
		colptr, rowidx := slices.Clone(p.colptr), slices.Clone(p.rowidx)
		perm := p.amd()
		requirePermutation(t, n, perm)
		require.Equal(t, perm, p.amd(), "not deterministic")
		require.Equal(t, colptr, p.colptr)
		require.Equal(t, rowidx, p.rowidx)
	})
}

func TestAMDNearExactMinimumDegree(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(seed uint64) pattern
		limit float64 // entries of L against exact minimum degree, summed over the seeds
	}{
		{"grid 30x30", func(s uint64) pattern { return shuffled(grid2D(30, 30), s) }, 1.05},
		{"random, 2 entries a row", func(s uint64) pattern { return randomPattern(200, 400, s) }, 1.1},
		{"random, 5 entries a row", func(s uint64) pattern { return randomPattern(200, 1000, s) }, 1.05},
		{"random, 20 entries a row", func(s uint64) pattern { return randomPattern(200, 4000, s) }, 1.05},
		{"bipartite", func(s uint64) pattern { return bipartite(60, 150, 0.2, s) }, 1.05},
		{"bipartite with few holes", func(s uint64) pattern { return bipartite(60, 150, 0.9, s) }, 1.02},
		{"more rows aside than classes", func(s uint64) pattern { return bipartite(100, 400, 0.5, s) }, 1.02},
		{"lasso", func(s uint64) pattern { return shuffled(lasso(40, 100), s) }, 1.001},
		{"blocks", func(s uint64) pattern { return shuffled(blocks(5, 20, 60, 5), s) }, 1.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			exact, ours := 0, 0
			for seed := range uint64(3) {
				p := c.make(seed)
				_, entries := minimumDegree(p)
				exact += entries
				perm := p.amd()
				requirePermutation(t, p.n, perm)
				entries, _ = p.cost(perm)
				ours += entries
			}
			assert.LessOrEqual(t, float64(ours), c.limit*float64(exact), "%d entries, exact minimum degree %d", ours, exact)
		})
	}
}

// The exact answers: all columns first, then the rows, gives no fill outside the
// block of the rows.
func TestAMDKeepsTheRowsOfDenseDataLast(t *testing.T) {
	for _, rows := range []int{50, 100, 200} {
		for _, cols := range []int{50, 120, 250, 1000} {
			p := shuffled(lasso(rows, cols), 1)
			entries, _ := p.cost(p.amd())
			// Per column: x, u and two bounds; the rows or, if there are fewer
			// columns, the columns make the dense block.
			few := min(rows, cols)
			best := 4*cols + 5*cols + rows + rows*cols + few*(few-1)/2
			assert.LessOrEqual(t, entries, best, "%d x %d", rows, cols)
		}
	}
	for _, density := range []float64{1, 0.9, 0.5} {
		p := shuffled(bipartite(40, 900, density, 1), 1)
		entries, _ := p.cost(p.amd())
		assert.LessOrEqual(t, entries, p.n+len(p.rowidx)+40*39/2, "density %g", density)
	}
}

// Rows set aside must not be joined to one clique when the rest is not: here
// each block keeps its own, and the links between the blocks come last.
func TestAMDSeparatesTheRowsOfBlocks(t *testing.T) {
	const count, rows, cols, links = 10, 20, 1000, 20
	p := shuffled(blocks(count, rows, cols, links), 1)
	entries, _ := p.cost(p.amd())
	assert.Equal(t, count*(cols*(rows+1)+rows*(rows+1)/2+rows*links)+links*(links+1)/2, entries)
}

// The entries of L, diagonal included, that the AMD of SuiteSparse leaves, as
// found in the Python package qdldl 0.1.9.post1.
func TestAMDAgainstSuiteSparse(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     pattern
		peer  int
		limit float64 // entries of ours against the peer's
	}{
		{"grid2D(100, 100)", grid2D(100, 100), 206332, 1.02},
		{"grid2D(300, 300)", grid2D(300, 300), 2928059, 1.02},
		{"randomPattern(1000, 20000, 1)", randomPattern(1000, 20000, 1), 346419, 1.02},
		{"randomPattern(5000, 10000, 1)", randomPattern(5000, 10000, 1), 668541, 1.02},
		{"bipartite(150, 150, 0.1, 1)", bipartite(150, 150, 0.1, 1), 21117, 1.02},
		{"bipartite(100, 250, 1, 1)", bipartite(100, 250, 1, 1), 30300, 1},
		{"lasso(100, 250)", lasso(100, 250), 32300, 1},
		{"lasso(100, 2500)", lasso(100, 2500), 777550, 0.4},
		{"blocks(10, 20, 1000, 20)", blocks(10, 20, 1000, 20), 234120, 1},
	} {
		entries, _ := c.p.cost(c.p.amd())
		assert.LessOrEqual(t, float64(entries), c.limit*float64(c.peer), "%s: %d", c.name, entries)
	}
}

// Small stamps reach the overflow guard, a crowded list store the compaction.
func TestQuotientGraphHousekeeping(t *testing.T) {
	p := shuffled(grid2D(40, 40), 5)
	want := p.amd()
	for _, c := range []struct {
		name    string
		disturb func(g *graph)
	}{
		{"stamps", func(g *graph) { g.stamp = 1<<31 - 1 - int32(4*p.n) - 50 }},
		{"compaction", func(g *graph) { g.lists = g.lists[:g.free+p.n/8] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGraph(p.n, nil, nil)
			g.load(p.colptr, p.rowidx, make([]int32, p.n), p.n)
			c.disturb(g)
			g.eliminateAll(0)
			assert.Equal(t, want, g.assemblyOrder())
		})
	}
}

func ExampleAMD() {
	// A star with its centre in row 0, to be eliminated first, would fill the
	// whole matrix.
	colptr := []int32{0, 0, 1, 2, 3, 4}
	rowidx := []int32{0, 0, 0, 0}
	perm := AMD(5, colptr, rowidx, Options{})
	fmt.Println("pivots:", perm)
	// Output: pivots: [1 2 3 0 4]
}

// TestStopAnywhere ends the analysis at every look at the context, of which there is one
// wherever the code allows: nothing comes out, nothing panics, and there is no further look.
func TestStopAnywhere(t *testing.T) {
	for name, p := range map[string]pattern{
		"grid": grid2D(8, 8), "random": randomPattern(40, 120, 1), "lasso": lasso(6, 30),
		"rows aside": bipartite(3, 400, 0.5, 1), "empty": randomPattern(30, 0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			wantPerm := p.amd()
			q := p.permuted(wantPerm)
			wantParent := Etree(q.n, q.colptr, q.rowidx, nil)
			wantPost := Postorder(wantParent, nil)
			wantCounts := ColCounts(q.n, q.colptr, q.rowidx, wantParent, wantPost, nil)
			s := stop.Every(1)
			for name, c := range map[string]struct {
				want []int32
				run  func() []int32
			}{
				"AMD":       {wantPerm, func() []int32 { return AMD(p.n, p.colptr, p.rowidx, Options{Stop: s}) }},
				"Etree":     {wantParent, func() []int32 { return Etree(q.n, q.colptr, q.rowidx, s) }},
				"Postorder": {wantPost, func() []int32 { return Postorder(wantParent, s) }},
				"ColCounts": {wantCounts, func() []int32 { return ColCounts(q.n, q.colptr, q.rowidx, wantParent, wantPost, s) }},
			} {
				at := 0
				for {
					ctx := stoptest.After(at)
					s.Begin(ctx, 0)
					got := c.run()
					if ctx.Looks() <= at {
						require.Equal(t, c.want, got, "%s, not stopped", name)
						break
					}
					require.Nil(t, got, "%s, stopped at look %d", name, at)
					require.Equal(t, at+1, ctx.Looks(), name)
					at++
				}
				require.GreaterOrEqual(t, at, p.n, "%s: looks", name)
			}
		})
	}
}

// expand replaces each node by as many twins as it weighs: they have the same
// neighbours and are not joined. start says where those of a node are.
func (p pattern) expand(weights []int32) (q pattern, start []int) {
	start = make([]int, p.n+1)
	for i, w := range weights {
		start[i+1] = start[i] + int(w)
	}
	var e [][2]int
	for _, edge := range p.edges() {
		for i := start[edge[0]]; i < start[edge[0]+1]; i++ {
			for j := start[edge[1]]; j < start[edge[1]+1]; j++ {
				e = append(e, [2]int{i, j})
			}
		}
	}
	return fromEdges(start[p.n], e), start
}

// ones is a slice of n weights 1 but for those in heavy.
func ones(n int, heavy map[int]int32) []int32 {
	w := make([]int32, n)
	for i := range w {
		w[i] = 1
		if h, ok := heavy[i]; ok {
			w[i] = h
		}
	}
	return w
}

// The order of a weighted pattern is as good for the pattern that it stands for
// as the order of that.
func TestAMDWithWeights(t *testing.T) {
	random := func(nodes, edges int, most int32) func(seed uint64) (pattern, []int32) {
		return func(seed uint64) (pattern, []int32) {
			r := rand.New(rand.NewPCG(seed, 5))
			w := make([]int32, nodes)
			for i := range w {
				w[i] = 1
				if r.IntN(4) == 0 {
					w[i] += r.Int32N(most)
				}
			}
			return randomPattern(nodes, edges, seed), w
		}
	}
	lassoOf := func(rows, cols int) func(seed uint64) (pattern, []int32) {
		return func(uint64) (pattern, []int32) {
			p := lasso(1, cols)
			return p, ones(p.n, map[int]int32{p.n - 1: int32(rows)})
		}
	}
	for _, c := range []struct {
		name  string
		make  func(seed uint64) (pattern, []int32)
		limit float64 // entries of L, summed over the seeds, against those without weights
	}{
		{"lasso 100 x 250", lassoOf(100, 250), 1},
		{"lasso 100 x 2500", lassoOf(100, 2500), 1},
		{"lasso 200 x 300", lassoOf(200, 300), 1},
		{"lasso 300 x 60", lassoOf(300, 60), 1},
		{"lasso 1000 x 80", lassoOf(1000, 80), 1},
		{"dense", func(uint64) (pattern, []int32) { return fromEdges(2, [][2]int{{0, 1}}), []int32{300, 40} }, 1},
		{"blocks", func(seed uint64) (pattern, []int32) {
			p := blocks(5, 1, 60, 5)
			heavy := map[int]int32{}
			for b := range 5 {
				heavy[5+61*b+60] = 20
			}
			return p, ones(p.n, heavy)
		}, 1.02},
		{"random, light", random(300, 600, 5), 1.03},
		{"random, heavy", random(300, 600, 60), 1.03},
		{"random, more entries", random(200, 1000, 30), 1.03},
		{"grid", func(seed uint64) (pattern, []int32) {
			_, w := random(900, 0, 10)(seed)
			return grid2D(30, 30), w
		}, 1.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			weighted, whole := 0, 0
			for seed := range uint64(3) {
				p, w := c.make(seed)
				q, start := p.expand(w)
				var perm []int32
				for _, i := range AMD(p.n, p.colptr, p.rowidx, Options{Weights: w}) {
					for k := start[i]; k < start[i+1]; k++ {
						perm = append(perm, int32(k))
					}
				}
				requirePermutation(t, q.n, perm)
				entries, _ := q.cost(perm)
				weighted += entries
				entries, _ = q.cost(q.amd())
				whole += entries
			}
			assert.LessOrEqual(t, float64(weighted), c.limit*float64(whole), "%d entries, %d without weights", weighted, whole)
		})
	}
}

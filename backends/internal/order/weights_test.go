package order

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
)

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

func TestAMDWithEqualWeights(t *testing.T) {
	for seed := range uint64(5) {
		p := shuffled(grid2D(20, 30), seed)
		assert.Equal(t, p.amd(), AMD(p.n, p.colptr, p.rowidx, Options{Weights: ones(p.n, nil)}))
	}
}

func TestAMDWithWeightsIsAPermutation(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		p := randomPattern(n, rapid.IntRange(0, 6*n).Draw(t, "edges"), rapid.Uint64().Draw(t, "seed"))
		w := rapid.SliceOfN(rapid.Int32Range(1, 300), n, n).Draw(t, "weights")
		o := Options{Weights: w}
		perm := AMD(n, p.colptr, p.rowidx, o)
		requirePermutation(t, n, perm)
		require.Equal(t, perm, AMD(n, p.colptr, p.rowidx, o), "not deterministic")
	})
}

func TestAMDRejectsBadWeights(t *testing.T) {
	for _, w := range [][]int32{{}, {1}, {1, 0}, {1, -1}, {1 << 30, 1 << 30}} {
		assert.Panics(t, func() { AMD(2, []int32{0, 0, 1}, []int32{0}, Options{Weights: w}) }, fmt.Sprint(w))
	}
}

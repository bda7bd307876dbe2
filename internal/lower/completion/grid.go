package completion

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/indices"
)

// grid divides the entries of a set into blocks: rows and columns are cut into as many ranges, and a block has the
// entries of a range of each. The blocks of a diagonal have no row and no column in common. So whatever is added to
// rows of A and of B can be added block by block side by side, diagonal after diagonal, with the same sums for any
// number of threads (Gemulla, Haas, Nijkamp and Sismanis, KDD 2011). A block is also so small that a processor keeps
// its rows of the factors at hand.
type grid struct {
	ranges int
	start  []int // where each block begins in the order, diagonal after diagonal, and the end
	order  []int // the entries by blocks, then rows, then columns; nil where they lie in this order
}

const (
	// rangeLength is the length of a range of rows or columns; there are no fewer than rangesLeast, and no more than
	// rangesMost.
	rangeLength, rangesLeast, rangesMost = 512, 8, 128
	// gridLeast is the number of entries up to which there is one block.
	gridLeast = 4096
	// besideLeast is the number of multiplications from which on several threads pay.
	besideLeast = 1 << 20
)

// newGrid divides the entries of an m x n matrix at these places.
func newGrid(m, n int, row, col []int) *grid {
	ranges := 1
	if len(row) > gridLeast {
		ranges = min(rangesMost, max(rangesLeast, (max(m, n)+rangeLength-1)/rangeLength))
	}
	g := &grid{ranges: ranges, order: indices.Range(0, len(row))}
	block := make([]int, len(row))
	for e := range row {
		down, across := int(int64(row[e])*int64(ranges)/int64(m)), int(int64(col[e])*int64(ranges)/int64(n))
		block[e] = (across-down+ranges)%ranges*ranges + down
	}
	slices.SortStableFunc(g.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(block[a], block[b]), cmp.Compare(row[a], row[b]), cmp.Compare(col[a], col[b]))
	})
	g.start = make([]int, ranges*ranges+1)
	for _, b := range block {
		g.start[b+1]++
	}
	for b := range ranges * ranges {
		g.start[b+1] += g.start[b]
	}
	return g
}

// entry is the entry at a place of the order.
func (g *grid) entry(at int) int {
	if g.order == nil {
		return at
	}
	return g.order[at]
}

// each calls do for each block with its places in the order. Those of a diagonal are done side by side where so many
// multiplications for each entry are worth it.
func (g *grid) each(work int, do func(from, to int)) {
	workers := 1
	if g.start[len(g.start)-1]*work >= besideLeast {
		workers = runtime.GOMAXPROCS(0)
	}
	for d := range g.ranges {
		start := g.start[d*g.ranges : (d+1)*g.ranges+1]
		crew.Each(g.ranges, workers, func(i int) {
			if start[i] < start[i+1] {
				do(start[i], start[i+1])
			}
		})
	}
}

// entries calls do for each entry so.
func (g *grid) entries(work int, do func(e int)) {
	g.each(work, func(from, to int) {
		for at := from; at < to; at++ {
			do(g.entry(at))
		}
	})
}

package order

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/internal/proptest"
)

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

func TestPostorder(t *testing.T) {
	for _, n := range []int{0, 1, 50, 300} {
		p := randomPattern(n, 2*n, 7)
		parent := Etree(n, p.colptr, p.rowidx, nil)
		post := Postorder(parent, nil)
		requirePermutation(t, n, post)
		place := make([]int32, n)
		for k, j := range post {
			place[j] = int32(k)
		}
		size := make([]int32, n)
		for _, j := range post {
			size[j]++
			if f := parent[j]; f >= 0 {
				require.Greater(t, place[f], place[j])
				size[f] += size[j]
			}
		}
		for j, f := range parent { // subtrees are contiguous
			if f >= 0 {
				require.Greater(t, place[j], place[f]-size[f])
			}
		}
		// The tree renumbered by its postorder is in postorder.
		renumbered := make([]int32, n)
		for j, f := range parent {
			renumbered[place[j]] = -1
			if f >= 0 {
				renumbered[place[j]] = place[f]
			}
		}
		require.True(t, slices.Equal(identity(n), Postorder(renumbered, nil)))
	}
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

func TestShapePanics(t *testing.T) {
	assert.Panics(t, func() { Postorder([]int32{1, 0}, nil) }, "cycle")
	assert.Panics(t, func() { Postorder([]int32{2, -1}, nil) }, "range")
	assert.Panics(t, func() { ColCounts(1, []int32{0, 0}, nil, nil, nil, nil) })
	assert.Panics(t, func() { Etree(1, []int32{0}, nil, nil) })
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

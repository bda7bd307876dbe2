package order

import (
	"cmp"
	"math"
	"slices"
)

// assemblyOrder returns the order of the nodes: pivots in a postorder of the
// assembly tree, each with the nodes merged into it. The largest child comes
// last, next to its parent, because the two are most likely to share a
// supernode. The rest follows as sortRest has it.
func (g *graph) assemblyOrder() []int32 {
	g.shortenMerges()
	if g.stop.Reached(0) {
		return nil
	}
	child, sibling := g.hashHead, g.queue.next
	for i := range child {
		child[i], sibling[i] = -1, -1
	}
	for i := g.n - 1; i >= 0; i-- {
		if f := g.parent[i]; g.weight[i] > 0 && f >= 0 {
			sibling[i], child[f] = child[f], int32(i)
		}
	}
	for i := range g.n {
		if g.stop.Reached(nodeWork) {
			return nil
		}
		if g.weight[i] > 0 {
			g.largestChildLast(int32(i), child, sibling)
		}
	}
	nodes := g.work // in the block of each pivot
	clear(nodes)
	for i := range g.n {
		if g.weight[i] > 0 {
			nodes[i]++
		} else {
			nodes[g.parent[i]]++
		}
	}
	// Place of each pivot's block, and then of the nodes in it, pivot first.
	place := g.bucket
	at := int32(0)
	var rest []int32
	for root := range int32(g.n) {
		switch {
		case g.weight[root] == 0 || g.parent[root] >= 0:
		case g.elements[root] >= 0:
			rest = append(rest, root)
		default:
			for i := range tree(root, g.parent, child, sibling) {
				if g.stop.Reached(nodeWork) {
					return nil
				}
				place[i] = at
				at += nodes[i]
			}
		}
	}
	g.sortRest(rest)
	for _, i := range rest {
		place[i] = at
		at += nodes[i]
	}
	perm := make([]int32, g.n)
	for i := range g.n {
		if g.stop.Reached(nodeWork) {
			return nil
		}
		if g.weight[i] > 0 {
			perm[place[i]] = int32(i)
			place[i]++
		}
	}
	for i := range g.n {
		if r := g.parent[i]; g.weight[i] == 0 {
			perm[place[r]] = int32(i)
			place[r]++
		}
	}
	return perm
}

// sortRest sorts the rows set aside by their degrees, those of about the same one as they are numbered, and then what
// is left. Of dense data with holes both rows and columns are aside, and either should be together.
func (g *graph) sortRest(rest []int32) {
	for _, i := range rest {
		if !g.aside[i] {
			g.degree[i] = math.MaxInt32
		}
	}
	order := func(i, j int32) int { return cmp.Or(cmp.Compare(g.degree[i], g.degree[j]), cmp.Compare(i, j)) }
	slices.SortFunc(rest, order)
	same, last := int32(0), 0
	for _, i := range rest {
		d := g.degree[i]
		if int(d) > last+last/sameDegree {
			same = d
		}
		last, g.degree[i] = int(d), same
	}
	slices.SortFunc(rest, order)
}

// sameDegree is the part of a degree by which another may be larger and about the same.
const sameDegree = 16

// shortenMerges makes the parent of each merged variable the pivot with which it
// was eliminated.
func (g *graph) shortenMerges() {
	for i := range int32(g.n) {
		if g.stop.Reached(nodeWork) {
			return
		}
		pivot := i
		for g.weight[pivot] == 0 {
			pivot = g.parent[pivot]
		}
		for j := i; g.weight[j] == 0; {
			j, g.parent[j] = g.parent[j], pivot
		}
	}
}

// descend follows first children to a leaf.
func descend(i int32, child []int32) int32 {
	for child[i] >= 0 {
		i = child[i]
	}
	return i
}

// largestChildLast moves the child of i with the largest front to the end of
// the list of children.
func (g *graph) largestChildLast(i int32, child, sibling []int32) {
	best, beforeBest, last := int32(-1), int32(-1), int32(-1)
	bestSize := int32(-1)
	for c := child[i]; c >= 0; c = sibling[c] {
		if size := g.weight[c] + g.front[c]; size >= bestSize {
			best, beforeBest, bestSize = c, last, size
		}
		last = c
	}
	if best == last {
		return // also without children
	}
	if beforeBest < 0 {
		child[i] = sibling[best]
	} else {
		sibling[beforeBest] = sibling[best]
	}
	sibling[last], sibling[best] = best, -1
}

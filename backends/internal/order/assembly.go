package order

// assemblyOrder returns the order of the nodes: pivots in a postorder of the
// assembly tree, each with the nodes merged into it. The largest child comes
// last, next to its parent, because the two are most likely to share a
// supernode.
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
	for root := range g.n {
		if g.weight[root] > 0 && g.parent[root] < 0 {
			for i := range tree(int32(root), g.parent, child, sibling) {
				if g.stop.Reached(nodeWork) {
					return nil
				}
				place[i] = at
				at += nodes[i]
			}
		}
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

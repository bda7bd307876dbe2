package order

// mergeTwins merges the variables of the new element p that cannot be told apart
// from here on: those with the same elements and the same variables in their
// lists. Only variables in the same hash bucket are compared.
func (g *graph) mergeTwins(p int32) {
	next := g.queue.next // chains of the buckets: none of these is in the queue
	for _, i := range g.members(p) {
		if g.weight[i] == 0 {
			continue
		}
		b := g.bucket[i]
		first := g.hashHead[b]
		g.hashHead[b] = -1 // the whole bucket is done at once
		for ; first >= 0 && next[first] >= 0; first = next[first] {
			if g.stop.Reached(int(g.size[first])) {
				return
			}
			for _, x := range g.members(first) {
				g.stamps[x] = g.stamp
			}
			last := first
			for j := next[first]; j >= 0; j = next[j] {
				if g.stop.Reached(int(g.size[j])) {
					return
				}
				if g.twins(first, j) {
					g.parent[j] = first
					g.weight[first] += g.weight[j]
					g.weight[j] = 0
					g.size[j] = 0
					next[last] = next[j]
				} else {
					last = j
				}
			}
			g.stamp++
		}
	}
}

// twins says whether the list of j is that of i, whose nodes are marked.
func (g *graph) twins(i, j int32) bool {
	if g.size[i] != g.size[j] || g.elements[i] != g.elements[j] || g.reach[i] != g.reach[j] {
		return false
	}
	for _, x := range g.members(j) {
		if g.stamps[x] != g.stamp {
			return false
		}
	}
	return true
}

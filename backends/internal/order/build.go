package order

// load builds the graph of the rows with up to limit entries, of which it is told the numbers, and of twins that weigh
// more than their neighbours; the others are set aside.
func (g *graph) load(colptr, rowidx, counts []int32, limit int) {
	n, aside := g.n, 0
	for i := range n {
		g.rank[i] = -1
		if int(counts[i]) > limit && g.weight[i] <= g.degree[i] {
			g.rank[i] = int32(aside)
			aside++
		} else {
			g.degree[i] = 0
		}
	}
	for i, r := range g.rank {
		if r >= 0 {
			g.classWeight[class(int(r), aside)] += g.weight[i]
			g.wait += int(g.weight[i])
		}
	}
	each := func(do func(i, j int32)) { // both ways for each entry between rows in the graph
		for j := range int32(n) {
			if g.stop.Reached(nodeWork + 2*int(colptr[j+1]-colptr[j])) {
				return
			}
			for _, i := range rowidx[colptr[j]:colptr[j+1]] {
				if i >= j {
					continue
				}
				switch ri, rj := g.rank[i], g.rank[j]; {
				case ri < 0 && rj < 0:
					do(i, j)
					do(j, i)
				case ri < 0:
					g.reach[i] |= 1 << class(int(rj), aside)
				case rj < 0:
					g.reach[j] |= 1 << class(int(ri), aside)
				}
			}
		}
	}
	each(func(i, j int32) { g.size[i]++; g.degree[i] += g.weight[j] })
	if g.stop.Reached(n) {
		return
	}
	for i := range n {
		g.start[i] = g.free
		g.free += int(g.size[i])
		g.size[i] = 0
	}
	// An element is written before those that it replaces are dropped, hence n;
	// the fifth saves compactions.
	g.lists = make([]int32, g.free+g.free/5+n)
	each(func(i, j int32) {
		g.lists[g.start[i]+int(g.size[i])] = j
		g.size[i]++
	})
	// Backwards, so that of equal degrees the first index goes first.
	for i := n - 1; i >= 0; i-- {
		if g.stop.Reached(nodeWork) {
			return
		}
		if g.rank[i] < 0 {
			g.degree[i] = min(g.degree[i], int32(g.left-g.wait)-g.weight[i]) // less for duplicates
			g.queue.insert(int32(i), g.priority(int32(i)))
		}
	}
}

// class maps the r-th of k rows set aside to one of 64 classes.
func class(r, k int) int {
	if k <= 64 {
		return r
	}
	return r * 64 / k
}

package order

// load builds the graph of the rows with up to limit entries, of which it is told the numbers, and of twins that weigh
// more than their neighbours; the others are set aside.
func (g *graph) load(colptr, rowidx, counts []int32, limit int) {
	n := g.n
	for i := range n {
		if g.aside[i] = int(counts[i]) > limit && g.weight[i] <= g.degree[i]; g.aside[i] {
			g.wait += int(g.weight[i])
		} else {
			g.degree[i] = 0
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
				switch {
				case !g.aside[i] && !g.aside[j]:
					do(i, j)
					do(j, i)
				case !g.aside[i]:
					g.reach[i] = min(g.reach[i]+g.weight[j], int32(g.wait))
				case !g.aside[j]:
					g.reach[j] = min(g.reach[j]+g.weight[i], int32(g.wait))
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
	clear(g.reach)
	each(func(i, j int32) {
		g.lists[g.start[i]+int(g.size[i])] = j
		g.size[i]++
	})
	// Backwards, so that of equal degrees the first index goes first.
	for i := n - 1; i >= 0; i-- {
		if g.stop.Reached(nodeWork) {
			return
		}
		if !g.aside[i] {
			g.degree[i] = min(g.degree[i], int32(g.left-g.wait)-g.weight[i]) // less for duplicates
			g.queue.insert(int32(i), g.priority(int32(i)))
		}
	}
}

package order

import "math"

// load builds the graph of the rows with degrees up to limit; the others are set
// aside. Degrees are numbers of entries here, those of the graph are weights.
func (g *graph) load(colptr, rowidx, degrees []int32, limit int) {
	n, aside := g.n, 0
	for i := range n {
		g.rank[i] = -1
		if int(degrees[i]) > limit {
			g.rank[i] = int32(aside)
			aside++
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

// lightestAside returns the least degree, by weight, of the rows set aside.
func (g *graph) lightestAside(colptr, rowidx []int32) int {
	degree := g.work
	clear(degree)
	for j := range int32(g.n) {
		if g.stop.Reached(nodeWork + 2*int(colptr[j+1]-colptr[j])) {
			break
		}
		for _, i := range rowidx[colptr[j]:colptr[j+1]] {
			if i < j {
				degree[i] += g.weight[j]
				degree[j] += g.weight[i]
			}
		}
	}
	lightest := math.MaxInt
	for i, r := range g.rank {
		if r >= 0 {
			lightest = min(lightest, int(degree[i]))
		}
	}
	return lightest
}

// class maps the r-th of k rows set aside to one of 64 classes.
func class(r, k int) int {
	if k <= 64 {
		return r
	}
	return r * 64 / k
}

// reload builds the graph of all rows that are left. Each connected part of the
// eliminated rows, the tree of an element that no other has absorbed, is an
// element of it.
func (g *graph) reload(colptr, rowidx []int32) {
	n := g.n
	g.splitLeft()
	if g.stop.Reached(n) {
		return
	}
	adjacent := g.adjacencyOfLeft(colptr, rowidx)
	if g.stop.Reached(n) {
		return
	}
	if need := 2*len(adjacent) + n; need > len(g.lists) {
		g.lists = make([]int32, need)
	}

	// Variables: first their elements, then the variables.
	root, seen := g.work, g.bucket
	copy(root, g.parent)
	for i := range seen {
		seen[i] = -1
	}
	for i := range int32(n) {
		if g.rank[i] < 0 {
			continue
		}
		if g.stop.Reached(8 * int(g.size[i])) {
			return
		}
		list := adjacent[g.start[i] : g.start[i]+int(g.size[i])]
		g.start[i] = g.free
		for _, j := range list {
			if g.rank[j] >= 0 {
				continue
			}
			if e := findRoot(root, j); seen[e] != i {
				seen[e] = i
				g.degree[e] += g.weight[i]
				g.size[e]++
				g.lists[g.free] = e
				g.free++
			}
		}
		g.elements[i] = int32(g.free - g.start[i])
		for _, j := range list {
			if g.rank[j] >= 0 && seen[j] != i {
				seen[j] = i
				g.lists[g.free] = j
				g.free++
			}
		}
		g.size[i] = int32(g.free - g.start[i])
	}
	g.loadElements()

	for i := n - 1; i >= 0; i-- {
		if g.stop.Reached(nodeWork) {
			return
		}
		if g.rank[i] >= 0 {
			g.degree[i] = g.countNeighbours(int32(i), seen)
			g.queue.insert(int32(i), g.priority(int32(i)))
		}
	}
}

// splitLeft sets rank to -1 for eliminated nodes and to 0 for the others, splits
// the variables that have been merged but not eliminated, and empties the graph.
func (g *graph) splitLeft() {
	g.shortenMerges()
	for i := range g.n {
		g.rank[i] = 0
		if p := g.parent[i]; g.elements[i] < 0 || g.weight[i] == 0 && g.elements[p] < 0 {
			g.rank[i] = -1
		}
	}
	for i := range g.n {
		g.size[i], g.elements[i], g.degree[i], g.stamps[i] = 0, 0, 0, 0
		if g.rank[i] == 0 {
			g.weight[i], g.parent[i], g.stamps[i] = g.initialWeight(i), -1, 1
		}
	}
	g.wait, g.free = 0, 0
	g.classWeight, g.cachedReach, g.cachedWeight = [64]int32{}, 0, 0
	g.largest, g.stamp = 0, 2
	clear(g.reach)
	g.queue.reset()
}

// adjacencyOfLeft returns the neighbours of the nodes that are left, eliminated
// or not; start and size say where those of a node are.
func (g *graph) adjacencyOfLeft(colptr, rowidx []int32) (adjacent []int32) {
	each := func(do func(i, j int32)) {
		for j := range int32(g.n) {
			if g.stop.Reached(nodeWork + int(colptr[j+1]-colptr[j])) {
				return
			}
			for _, i := range rowidx[colptr[j]:colptr[j+1]] {
				if i >= j {
					continue
				}
				if g.rank[i] == 0 {
					do(i, j)
				}
				if g.rank[j] == 0 {
					do(j, i)
				}
			}
		}
	}
	total := 0
	each(func(i, _ int32) { g.size[i]++; total++ })
	if g.stop.Reached(g.n) {
		return nil
	}
	adjacent = make([]int32, total)
	end := 0
	for i, size := range g.size {
		end += int(size)
		g.start[i] = end
	}
	each(func(i, j int32) { g.start[i]--; adjacent[g.start[i]] = j })
	return adjacent
}

// loadElements makes the lists of the elements from those of the variables, with
// the sizes and degrees of the elements counted already.
func (g *graph) loadElements() {
	for i := range int32(g.n) {
		if g.stop.Reached(nodeWork + int(g.elements[i])) {
			return
		}
		for _, e := range g.members(i)[:g.elements[i]] {
			if g.stamps[e] == 0 {
				g.free += int(g.size[e])
				g.start[e] = g.free // moves down to where the list starts
				g.largest = max(g.largest, g.degree[e])
				g.stamps[e] = 1
			}
		}
	}
	for i := int32(g.n) - 1; i >= 0; i-- {
		if g.stop.Reached(nodeWork + int(g.elements[i])) {
			return
		}
		for _, e := range g.members(i)[:g.elements[i]] {
			g.start[e]--
			g.lists[g.start[e]] = i
		}
	}
}

// countNeighbours returns the degree of variable i of a graph that has just been
// loaded. Where that would take long, the count stops; by
// then it has met the neighbours that many elements share. The sum of the sizes
// of the elements, the usual bound, would say that a variable in many small
// equal cliques has a high degree.
func (g *graph) countNeighbours(i int32, seen []int32) (degree int32) {
	mark := -2 - i // not used yet
	seen[i] = mark
	list := g.members(i)
	variables := list[g.elements[i]:]
	for _, j := range variables {
		seen[j] = mark
		degree += g.weight[j]
	}
	all := int32(g.left) - g.weight[i]
	budget := 8*len(list) + 4*g.left
	for _, e := range list[:g.elements[i]] {
		if budget < 0 || degree == all {
			break
		}
		for _, j := range g.members(e) {
			if seen[j] != mark {
				seen[j] = mark
				degree += g.weight[j]
			}
		}
		budget -= int(g.size[e])
		if g.stop.Reached(int(g.size[e])) {
			break
		}
	}
	return degree
}

// findRoot follows root to the root of i and shortens the path.
func findRoot(root []int32, i int32) int32 {
	r := i
	for root[r] >= 0 {
		r = root[r]
	}
	for i != r {
		i, root[i] = root[i], r
	}
	return r
}

package order

import (
	"math"

	"github.com/conetune/conetune/internal/stop"
)

// graph is a quotient graph: what is left of the pattern after some pivots. A
// node is
//
//   - a variable, not yet eliminated: a set of indistinguishable original nodes,
//     of weight[i] > 0 together. Its list holds the elements it is in, elements[i] of them,
//     and then the variables it is joined to by an entry of the matrix;
//   - an element, a pivot: its list holds the variables of the clique that its
//     elimination made;
//   - absorbed: an element inside a newer one, or a variable merged into another
//     node; its list is empty and parent says where it went.
//
// Two variables are neighbours if one is in the list of the other or if they
// share an element. Absorbed variables are dropped from a list when it is next
// rewritten; a list never grows.
type graph struct {
	n     int
	total int // the weight of all nodes
	left  int // the weight of those that are not yet eliminated
	wait  int // the weight of those of them that are set aside

	lists []int32 // all lists; lists[free:] is free
	free  int
	start []int   // where the list of a node starts
	size  []int32 // its length

	elements []int32 // how many entries of a variable's list are elements; -1 for a pivot
	// of the original nodes in a variable or pivot; 0 if merged into another; negated while in the current element
	weight []int32
	degree []int32 // of a variable: bound on the external degree; of an element: weight of its list
	reach  []int32 // of the rows set aside, the weight that the elimination of the node fills, at least
	parent []int32 // where the node was absorbed, or -1
	front  []int32 // of a pivot: bound on the entries below its block in L

	// During a pivot, stamps[e] - stamp is the weight of element e outside the
	// current element, if that is not negative. stamps[e] = 0 marks dead
	// elements. The merging step marks nodes of both kinds with stamp.
	stamps  []int32
	stamp   int32
	largest int32 // bound on the degrees of the elements

	queue degreeQueue

	hashHead []int32 // first variable of each hash bucket, or -1
	bucket   []int32 // hash bucket of a variable of the current element
	aside    []bool  // the row is set aside
	work     []int32

	stop *stop.Stop // once it is reached, whatever is under way is left unfinished
}

// newGraph returns a graph of n nodes with all lists empty. The weights are 1 if
// they are nil.
func newGraph(n int, weights []int32, s *stop.Stop) *graph {
	total := n
	for _, w := range weights {
		total += int(w) - 1
	}
	room := func(n int) []int32 {
		if s.Reached(n) { // it takes time
			return nil
		}
		return make([]int32, n)
	}
	take := func() []int32 { return room(n) }
	g := &graph{
		n: n, total: total, left: total, stop: s, start: make([]int, n), aside: make([]bool, n),
		size: take(), elements: take(), weight: take(), degree: take(), parent: take(), front: take(), stamps: take(),
		queue:    degreeQueue{head: room(total), next: take(), prev: take(), key: take()},
		hashHead: take(), bucket: take(), reach: take(), work: take(),
	}
	for i := range n {
		if s.Reached(nodeWork) {
			break
		}
		g.weight[i], g.parent[i], g.hashHead[i], g.stamps[i] = 1, -1, -1, 1
	}
	copy(g.weight, weights)
	g.stamp = 2
	g.queue.reset()
	return g
}

// eliminateAll eliminates the variables, but for the last few if they are twice as expensive as any before: they link
// the rows set aside, and come behind them.
func (g *graph) eliminateAll(few int) {
	highest := 0
	for {
		p, degree := g.queue.pop()
		if p < 0 || degree > 2*highest && g.left-g.wait <= few || g.stop.Reached(nodeWork+int(g.size[p])) {
			return
		}
		highest = max(highest, degree)
		g.eliminate(p)
	}
}

// eliminate makes variable p an element and updates its neighbours.
func (g *graph) eliminate(p int32) {
	g.makeRoom(p)
	weight := g.weight[p]
	g.gather(p)
	g.measure(p)
	if g.stop.Reached(0) {
		return
	}
	weight += g.update(p)
	g.stamp += g.largest + 1 // beyond every stamps[e]
	if g.stop.Reached(0) {
		return
	}
	g.mergeTwins(p)
	if g.stop.Reached(0) {
		return
	}
	g.left -= int(weight)
	g.finish(p, weight)
}

// makeRoom makes room for the element of p and for the stamps that its
// elimination uses, which are fewer than 4 times the total weight.
func (g *graph) makeRoom(p int32) {
	need := int(g.size[p])
	for _, e := range g.members(p)[:g.elements[p]] {
		need += int(g.size[e])
	}
	if g.free+min(need, g.left, g.n) > len(g.lists) {
		g.compact()
	}
	if int64(g.stamp)+4*int64(g.total) > math.MaxInt32 {
		g.resetStamps()
	}
}

// gather makes p an element: its list becomes the union of the lists of its
// elements, which it absorbs, and of its variables. The weights of the variables
// in it are negated, and they leave the queue.
func (g *graph) gather(p int32) {
	g.weight[p] = -g.weight[p]
	own := g.members(p)
	begin := g.free
	total := int32(0)
	add := func(list []int32) {
		for _, i := range list {
			if w := g.weight[i]; w > 0 {
				g.weight[i] = -w
				total += w
				g.lists[g.free] = i
				g.free++
				g.queue.remove(i)
			}
		}
	}
	for _, e := range own[:g.elements[p]] {
		add(g.members(e))
		g.absorb(e, p)
	}
	add(own[g.elements[p]:])
	g.start[p], g.size[p] = begin, int32(g.free-begin)
	g.degree[p] = total
	g.elements[p] = -1
	g.largest = max(g.largest, total)
}

// absorb drops element e, which is part of p.
func (g *graph) absorb(e, p int32) {
	g.parent[e] = p
	g.stamps[e] = 0
	g.size[e] = 0
}

// members returns the list of a node.
func (g *graph) members(i int32) []int32 {
	end := g.start[i] + int(g.size[i])
	return g.lists[g.start[i]:end:end]
}

// measure computes |Le \ Lp| for the elements e next to the new element p: it
// starts from |Le| and takes off what each variable in Lp weighs.
func (g *graph) measure(p int32) {
	for _, i := range g.members(p) {
		if g.stop.Reached(2 * int(g.elements[i])) {
			return
		}
		w := -g.weight[i]
		for _, e := range g.lists[g.start[i] : g.start[i]+int(g.elements[i])] {
			switch s := g.stamps[e]; {
			case s >= g.stamp:
				g.stamps[e] = s - w
			case s != 0:
				g.stamps[e] = g.degree[e] + g.stamp - w
			}
		}
	}
}

// update rewrites the lists of the variables in the new element p and bounds
// their degrees,
//
//	d_i = |A_i \ Lp| + sum over elements e of i other than p of |Le \ Lp|,
//
// without the |Lp \ i| that finish adds. Variables that have become leaves of p
// are eliminated with it; the weight of these is returned. The others go to hash
// buckets.
func (g *graph) update(p int32) (merged int32) {
	reach := g.reach[p]
	for _, i := range g.members(p) {
		if g.stop.Reached(2 * int(g.size[i])) {
			return merged
		}
		g.reach[i] = max(g.reach[i], reach)
		begin := g.start[i]
		mid, end := begin+int(g.elements[i]), begin+int(g.size[i])
		to := begin
		hash := uint32(g.reach[i])
		degree := int32(0)
		for _, e := range g.lists[begin:mid] {
			if g.stamps[e] == 0 {
				continue
			}
			outside := g.stamps[e] - g.stamp
			if outside == 0 && g.reach[e] <= reach {
				g.absorb(e, p) // all of it is in p: aggressive absorption
				continue
			}
			degree += outside
			hash += uint32(e)
			g.lists[to] = e
			to++
		}
		newMid := to
		for _, j := range g.lists[mid:end] {
			if w := g.weight[j]; w > 0 { // neither absorbed nor in p
				degree += w
				hash += uint32(j)
				g.lists[to] = j
				to++
			}
		}
		if to == begin && g.reach[i] == reach {
			// No neighbour but those of p: mass elimination.
			merged -= g.weight[i]
			g.degree[p] += g.weight[i]
			g.parent[i] = p
			g.weight[i] = 0
			g.size[i] = 0
			continue
		}
		// p becomes the last element; there is room because p itself or an
		// element that it absorbed was in the list.
		if to > newMid {
			g.lists[to] = g.lists[newMid]
		}
		g.lists[newMid] = p
		g.elements[i] = int32(newMid + 1 - begin)
		g.size[i] = int32(to + 1 - begin)
		g.degree[i] = min(g.degree[i], degree)
		b := int32(hash % uint32(g.n))
		g.bucket[i] = b
		g.queue.next[i] = g.hashHead[b]
		g.hashHead[b] = i
	}
	return merged
}

// finish puts the variables of the new element p back into the queue and drops
// the others from its list.
func (g *graph) finish(p, weight int32) {
	g.weight[p] = weight
	list := g.members(p)
	kept := 0
	for _, i := range list {
		w := -g.weight[i]
		if w <= 0 {
			continue
		}
		g.weight[i] = w
		g.degree[i] = min(g.degree[i]+g.degree[p]-w, int32(g.left-g.wait)-w)
		g.queue.insert(i, g.priority(i))
		list[kept] = i
		kept++
	}
	g.size[p] = int32(kept)
	g.free = g.start[p] + kept
	g.front[p] = g.degree[p] + g.reach[p]
	if kept == 0 {
		g.stamps[p] = 0 // a root
	}
}

// priority is the degree by which variable i waits for elimination: the external
// degree d and the rows set aside that it reaches, but at least 5/4 of its own
// weight w if its list has several entries.
//
// A block that is wider than its border is small may have a small d and still be
// the wrong choice. In the KKT matrix of a dense A it is the block of all rows,
// which would go as soon as fewer columns than rows are left; then the d columns
// fill each other, while they cause no fill when they go first. The usual blocks,
// of w < 4/5 d, are not concerned, nor are those whose border is one clique. Nor
// are twins of the matrix as long as none of their neighbours is eliminated: they
// are no block, and leave one after the other at d each.
func (g *graph) priority(i int32) int {
	p := int(g.degree[i] + g.reach[i])
	if w := int(g.weight[i]); g.size[i] > 1 && g.elements[i] > 0 {
		p = max(p, w+w/4)
	}
	return min(p, g.total-1)
}

// resetStamps restarts the stamps before they overflow.
func (g *graph) resetStamps() {
	for i, s := range g.stamps {
		if s != 0 {
			g.stamps[i] = 1
		}
	}
	g.stamp = 2
}

// compact moves the lists together, in the order in which they are stored. The
// first entry of each list is swapped for a mark with the node's number.
func (g *graph) compact() {
	g.stop.Reached(g.n + g.free) // the sum of all such calls counts, one does not take long
	for i := range g.n {
		if g.size[i] > 0 {
			at := g.start[i]
			g.start[i] = int(g.lists[at])
			g.lists[at] = ^int32(i)
		}
	}
	to := 0
	for from := 0; from < g.free; {
		i := ^g.lists[from]
		if i < 0 {
			from++ // left over from a list that is shorter now
			continue
		}
		g.lists[to] = int32(g.start[i])
		g.start[i] = to
		size := int(g.size[i])
		copy(g.lists[to+1:to+size], g.lists[from+1:from+size])
		to += size
		from += size
	}
	g.free = to
}

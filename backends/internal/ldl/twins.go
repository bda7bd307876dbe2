package ldl

import (
	"slices"

	"github.com/conetune/conetune/internal/stop"
)

// twinShare decides whether twins are worth their bookkeeping: they are left out
// of the analysis if that leaves out at least one entry in twinShare.
const twinShare = 8

// groups says which nodes of a pattern are twins: they have the same neighbours,
// and are not neighbours of each other, as the rows of dense data. The analysis
// takes the first of each group for all, and so has to look at far fewer entries.
//
// A node with a single neighbour, as the slack of a row, does not count in this.
// It is eliminated before all others, which changes no more than the pivot of
// its neighbour.
type groups struct {
	first []int32 // the first member of the group of each node
	early []int32 // the neighbour of a node that goes before all others, or -1
	// What is left are the columns of the reduced pattern: members[ptr[c]:ptr[c+1]]
	// are those of group c, ascending. column is the group of each node.
	ptr, members []int32
	column       []int32
	weight       []int32 // number of members, nil if all groups have one
	stop         *stop.Stop
}

// of returns the members of group c.
func (g *groups) of(c int32) []int32 { return g.members[g.ptr[c]:g.ptr[c+1]] }

// findGroups returns the groups of twins of the pattern, or each node alone if
// there are few of them. Only nodes with more than smallRows neighbours are put
// together, and only if none of these has an index between theirs and the columns
// list them in the same order; in a KKT matrix with sorted columns that is so.
func findGroups(n int, ptr, ind []int32, s *stop.Stop) *groups {
	g := &groups{first: make([]int32, n), early: make([]int32, n), column: make([]int32, n), stop: s}
	for i := range int32(n) {
		g.first[i], g.early[i] = i, -1
	}
	t := summarise(n, ptr, ind, s)
	if t.candidates() > 1 {
		for _, step := range []func(){
			func() { g.match(t, ptr, ind) }, func() { g.verifyLater(t, ptr, ind) }, func() { g.settle(t, len(ind)-n) },
		} {
			if s.Reached(n) {
				return g
			}
			step()
		}
	}
	if !s.Reached(n) {
		g.number()
	}
	return g
}

// summary holds what is known of each node without a look at its neighbours.
type summary []struct {
	key    uint64 // a sum over the neighbours, the later ones times laterFactor
	degree int32
	later  int32 // neighbours with a larger index
	last   int32 // one of the neighbours
}

// laterFactor, odd and with bits all over, makes the two sums of a key independent.
const laterFactor = 0xd6e8feb86659fd93

func summarise(n int, ptr, ind []int32, s *stop.Stop) summary {
	t := make(summary, n)
	code := make([]uint64, n)
	for i := range code {
		code[i] = mix(uint64(i))
	}
	for j := range int32(n) { // what comes later is added later
		if s.Reached(entryWork * (2 + int(ptr[j+1]-ptr[j]))) {
			return nil
		}
		own := &t[j]
		own.last = -1
		for _, i := range ind[ptr[j]:ptr[j+1]] {
			if i == j {
				continue
			}
			own.key += code[i]
			own.degree++
			own.last = i
			at := &t[i]
			at.key += code[j] * laterFactor
			at.later++
			at.last = j
		}
	}
	for i := range t {
		t[i].degree += t[i].later
	}
	return t
}

// strictUpper returns column j without the diagonal, if that comes last.
func strictUpper(j int32, ptr, ind []int32) []int32 {
	list := ind[ptr[j]:ptr[j+1]]
	if k := len(list) - 1; k >= 0 && list[k] == j {
		return list[:k]
	}
	return list
}

// candidates counts the nodes with many neighbours.
func (t summary) candidates() (count int) {
	for i := range t {
		if t[i].degree > smallRows {
			count++
		}
	}
	return count
}

// match takes the nodes with a single neighbour out of the summary and puts nodes
// with equal keys and equal earlier neighbours together.
func (g *groups) match(t summary, ptr, ind []int32) {
	for i := range t {
		if q := t[i].last; t[i].degree == 1 && t[q].degree > smallRows+1 {
			g.early[i] = q
		}
	}
	for i, q := range g.early {
		if q >= 0 {
			code := mix(uint64(i))
			if int(q) < i {
				code *= laterFactor
				t[q].later--
			}
			t[q].key -= code
			t[q].degree--
		}
	}
	known := make(map[uint64]int32, t.candidates())
	for i := range int32(len(t)) {
		if g.stop.Reached(entryWork + int(ptr[i+1]-ptr[i])) {
			return
		}
		if t[i].degree > smallRows {
			if f := firstOf(known, t[i].key, i); f != i && t[f].degree == t[i].degree && g.sameList(f, i, ptr, ind) {
				g.first[i] = f
			}
		}
	}
}

// sameList says whether columns a and b list the same entries above the diagonal,
// early nodes apart.
func (g *groups) sameList(a, b int32, ptr, ind []int32) bool {
	la, lb := strictUpper(a, ptr, ind), strictUpper(b, ptr, ind)
	if slices.Equal(la, lb) {
		return true
	}
	for {
		la, lb = g.skip(a, la), g.skip(b, lb)
		if len(la) == 0 || len(lb) == 0 {
			return len(la) == len(lb)
		}
		if la[0] != lb[0] {
			return false
		}
		la, lb = la[1:], lb[1:]
	}
}

// skip drops the diagonal and early nodes from the beginning of column j.
func (g *groups) skip(j int32, list []int32) []int32 {
	for len(list) > 0 && (list[0] == j || g.early[list[0]] >= 0) {
		list = list[1:]
	}
	return list
}

// verifyLater takes nodes whose later neighbours are not those of the first of
// their group out of it.
func (g *groups) verifyLater(t summary, ptr, ind []int32) {
	n := int32(len(t))
	end := slices.Repeat([]int32{-1}, len(t)) // where the list of a node ends so far, -1 without one
	total := int32(0)
	open := func(i int32) {
		if end[i] < 0 {
			end[i] = total
			total += t[i].later
		}
	}
	for i := range n {
		if f := g.first[i]; f != i {
			open(f)
			open(i)
		}
	}
	if total == 0 {
		return
	}
	lists := make([]int32, total)
	for j := range n {
		if g.early[j] >= 0 {
			continue
		}
		if g.stop.Reached(entryWork + int(ptr[j+1]-ptr[j])) {
			return
		}
		for _, i := range ind[ptr[j]:ptr[j+1]] {
			if i != j && end[i] >= 0 {
				lists[end[i]] = j
				end[i]++
			}
		}
	}
	list := func(i int32) []int32 { return lists[end[i]-t[i].later : end[i]] }
	for i := range n {
		if f := g.first[i]; f != i {
			if g.stop.Reached(int(t[i].later)) {
				return
			}
			if !slices.Equal(list(i), list(f)) {
				g.first[i] = i
			}
		}
	}
}

// settle keeps the groups if they save enough of the entries off the diagonal,
// and early only the nodes next to members of groups.
func (g *groups) settle(t summary, entries int) {
	saved := 0
	grouped := make([]bool, len(t))
	for i, f := range g.first {
		if int(f) != i {
			saved += int(t[i].degree)
			grouped[i], grouped[f] = true, true
		}
	}
	if saved == 0 || saved*twinShare < entries {
		for i := range g.first {
			g.first[i], g.early[i] = int32(i), -1
		}
		return
	}
	for i, q := range g.early {
		if q >= 0 && !grouped[q] {
			g.early[i] = -1
		}
	}
}

// number gives the groups their numbers and lists their members.
func (g *groups) number() {
	n := int32(len(g.first))
	g.ptr = make([]int32, 1, n+1)
	single := true
	for i := range n {
		switch f := g.first[i]; {
		case g.early[i] >= 0:
			g.column[i] = -1
		case f != i:
			g.column[i] = g.column[f]
			g.ptr[g.column[f]+1]++
			single = false
		default:
			g.column[i] = int32(len(g.ptr) - 1)
			g.ptr = append(g.ptr, 1)
		}
	}
	count := len(g.ptr) - 1
	if !single {
		g.weight = slices.Clone(g.ptr[1:])
	}
	for c := range count {
		g.ptr[c+1] += g.ptr[c]
	}
	g.members = make([]int32, g.ptr[count])
	next := slices.Clone(g.ptr[:count])
	for i, c := range g.column {
		if c >= 0 {
			g.members[next[c]] = int32(i)
			next[c]++
		}
	}
}

// loose says which columns of the permuted reduced pattern stand for twins that
// no elimination has joined. They have no child in the elimination tree; all
// others are a clique when their turn comes.
func (g *groups) loose(perm, parent []int32) []bool {
	loose := make([]bool, len(perm))
	if g.weight == nil {
		return loose
	}
	for j, c := range perm {
		loose[j] = g.weight[c] > 1
	}
	for _, p := range parent {
		if p >= 0 {
			loose[p] = false
		}
	}
	return loose
}

// reduce returns the pattern of the first members of the groups.
func (g *groups) reduce(ptr, ind []int32) pattern {
	if g.weight == nil {
		return pattern{ptr, ind}
	}
	p := pattern{ptr: make([]int32, 1, len(g.ptr)), ind: make([]int32, 0, 4*len(g.ptr))}
	for j, c := range g.column {
		if c < 0 || int(g.first[j]) != j {
			continue
		}
		if g.stop.Reached(entryWork + int(ptr[j+1]-ptr[j])) {
			break
		}
		for _, i := range ind[ptr[j]:ptr[j+1]] {
			if g.first[i] == i && g.column[i] >= 0 {
				p.ind = append(p.ind, g.column[i])
			}
		}
		p.ptr = append(p.ptr, int32(len(p.ind)))
	}
	return p
}

// firstOf returns the index that was first given with the key, i if there is none.
func firstOf(known map[uint64]int32, key uint64, i int32) int32 {
	if first, ok := known[key]; ok {
		return first
	}
	known[key] = i
	return i
}

// mix spreads the bits of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

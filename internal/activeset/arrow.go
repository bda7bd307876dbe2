package activeset

import (
	"slices"

	"github.com/conetune/conetune/internal/factor"
)

// The arrow.
//
// Variables that stand together in hinges or squares are a block; with several blocks, as the folds of a
// cross-validation, the variables of none are links, such as hyperparameters that all folds share. Where constraints but a few
// are on one block and links, the equations of a step are solved block by block, with a small system for the links; see
// factor.go. A program of one block has no links.

// mostGlobal is the number of limits without hinges over several blocks, or of several links alone, up to which
// blocks are taken apart.
const mostGlobal = 4

// fewestBlocks is the number of blocks from which on they are taken apart: with two, one factor of everything takes no more time.
const fewestBlocks = 3

// none stands for no block, limit or variable.
const none = -1

// block is a set of variables with the constraints in its factor.
type block struct {
	vars   []int
	rows   []entry
	pinned []int           // variables
	ch     factor.Cholesky // of S = N'M^-1 N + delta

	// For step, valid unless dirty: S^-1 beta, for each global constraint S^-1 q, and what they put into the system of the links.
	dirty    bool
	a        []float64
	e        [][]float64
	f        []float64   // over links
	u        [][]float64 // over links
	g        []float64
	delta    [][]float64
	dm, miss []float64
}

// arrow is the form of a program.
type arrow struct {
	blocks  []*block
	blockOf []int // of each variable; none for links
	links   []int // variables
	linkAt  []int // of each variable among the links
	// leaf is for each limit the variable that it can pin: that of its block, if it has one such, or its only link.
	leaf []int
	// homes are the blocks of limits; none for those on several, on links alone, or with hinges.
	home []int
	// ballHome and ballRow are the block of each ball and the columns of its normal.
	ballHome []int
	ballCols [][]int
}

// arrange finds the form.
func (p *Problem) arrange() *arrow {
	a := p.components()
	if p.Whole || len(a.blocks) < fewestBlocks || !p.limitsOf(a) {
		a = p.whole()
		p.limitsOf(a)
	}
	return a
}

// components takes the program apart.
func (p *Problem) components() *arrow {
	n := len(p.D)
	parent, met := make([]int, n), make([]bool, n)
	for j := range parent {
		parent[j] = j
	}
	find := func(j int) int {
		for parent[j] != j {
			parent[j] = parent[parent[j]]
			j = parent[j]
		}
		return j
	}
	join := func(cols []int) {
		for _, j := range cols {
			met[j] = true
			parent[find(j)] = find(cols[0])
		}
	}
	for _, h := range p.Hinges {
		join(p.Ind[p.Ptr[h.Row]:p.Ptr[h.Row+1]])
	}
	for _, q := range p.Balls {
		join(q.Index)
	}
	a := &arrow{blockOf: make([]int, n), linkAt: make([]int, n)}
	number := make(map[int]int)
	for j := range n {
		a.blockOf[j], a.linkAt[j] = none, none
		if !met[j] {
			a.linkAt[j] = len(a.links)
			a.links = append(a.links, j)
			continue
		}
		root := find(j)
		k, ok := number[root]
		if !ok {
			k = len(a.blocks)
			number[root] = k
			a.blocks = append(a.blocks, &block{})
		}
		a.blockOf[j] = k
		a.blocks[k].vars = append(a.blocks[k].vars, j)
	}
	return a
}

// whole is one block of everything.
func (p *Problem) whole() *arrow {
	n := len(p.D)
	a := &arrow{blocks: []*block{{}}, blockOf: make([]int, n), linkAt: make([]int, n)}
	for j := range n {
		a.blocks[0].vars = append(a.blocks[0].vars, j)
		a.linkAt[j] = none
	}
	return a
}

// limitsOf places limits and balls; false where too many of them belong to no block.
func (p *Problem) limitsOf(a *arrow) bool {
	global := 0
	a.leaf, a.home = make([]int, len(p.Limits)), make([]int, len(p.Limits))
	for i, l := range p.Limits {
		home, own, links, several := none, none, 0, false
		cols := p.Ind[p.Ptr[l.Row]:p.Ptr[l.Row+1]]
		for _, j := range cols {
			switch b := a.blockOf[j]; {
			case b == none:
				links++
			case home == none:
				home, own = b, j
			default:
				own = none
				several = several || home != b
			}
		}
		a.leaf[i], a.home[i] = none, none
		switch {
		case len(l.Uses) > 0:
		case several, home == none && links != 1:
			global++
		case home == none:
			a.leaf[i] = cols[0]
		default:
			a.leaf[i], a.home[i] = own, home
		}
	}
	for _, q := range p.Balls {
		cols := slices.Concat(q.Index, p.Ind[p.Ptr[q.Row]:p.Ptr[q.Row+1]])
		slices.Sort(cols)
		cols = slices.Compact(cols)
		home := none
		for _, j := range cols {
			switch b := a.blockOf[j]; {
			case b == none || b == home:
			case home == none:
				home = b
			default:
				return false
			}
		}
		home = max(home, 0)
		a.ballHome, a.ballCols = append(a.ballHome, home), append(a.ballCols, cols)
	}
	return len(a.blocks) == 1 || global <= mostGlobal
}

// Package ldl factors sparse symmetric quasi-definite matrices, K = L D L' with
// D diagonal and the signs of D known beforehand (Vanderbei 1995), so that any
// symmetric permutation works and no pivoting is needed.
//
// The columns of L are held in panels, so that the flops are done by dense
// kernels. There are three kinds of panel:
//
//   - a clique: consecutive columns with the same structure below the diagonal
//     block, which is dense (the usual supernode), but for few zeros that are
//     stored to make it wide (relaxed supernodes, Ashcraft and Grimes 1989);
//   - twins: columns that are not adjacent to each other and have the same
//     structure, so that the diagonal block is diagonal. A dense block of data
//     next to a diagonal one, as in least squares, makes such panels;
//   - a run of small columns, each with at most smallRows entries below its pivot
//     (loneRows where no other goes with it) and rows of its own, whose updates go
//     to addresses that were computed once.
//
// The analysis takes one row for each group of twins that the matrix has already,
// so that dense data cost it little more than one look at each entry.
//
// The analysis is done once for a pattern, and a factorisation or a solve
// allocates nothing.
package ldl

import (
	"errors"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/dense"
)

// smallRows is the largest number of entries below the pivot of a small column.
// A small column stores k(k+1)/2 addresses; at 8 rows this is still less work
// than one call of a dense kernel. A column that would be a clique by itself has
// up to loneRows, as its product is scattered in any case: factorisations of model
// predictive control with 20 states take 0.55 of the time then.
const (
	smallRows = 8
	loneRows  = 32
)

type kind uint8

const (
	clique kind = iota
	twins
	small
)

// columns are consecutive columns of L of one kind.
type columns struct {
	kind  kind
	first int32 // first column
	width int32 // number of columns
	rows  []int32
}

// panel is a group of consecutive columns of L, with rows below them.
type panel struct {
	columns
	// In a run of small columns the rows of column j are rows[ptr[j]:ptr[j+1]].
	ptr []int32
	// values start at val, columns ld apart. A clique begins with its diagonal
	// block; twins hold only what is below it. Those of small columns are in the
	// order of rows.
	val, ld int
	// addr are the places that small columns update, column by column: entry
	// (a, b), a >= b, of the outer product at a(a+1)/2 + b; ^c stands for the pivot
	// of column c.
	addr []int32
	kept int // where L D of its rows after its stage is kept
	// segments cut rows by the panels that they belong to (not for small).
	segments []segment
}

// below returns the rows of column j of the panel, counted from its first.
func (p *panel) below(j int32) []int32 {
	if p.kind == small {
		return p.rows[p.ptr[j]:p.ptr[j+1]]
	}
	return p.rows
}

// work returns what the elimination of the panel itself is to a Stop, beside what it
// updates; dense kernels that take long tell it themselves.
func (p *panel) work() int {
	if p.kind == small {
		return 8*int(p.width) + len(p.addr)
	}
	return 32 + min(p.ld, smallWork)*min(int(p.width), smallWork)
}

// length returns what the part of the panel in a solve is to a Stop.
func (p *panel) length() int {
	if p.kind == small {
		return 4*int(p.width) + 2*len(p.rows)
	}
	return 8 + min(p.ld*int(p.width)/2, 1<<20)
}

// smallWork bounds the product of two sizes.
const smallWork = 1 << 10

// segment says that rows[from:to] are columns of panel target, and how all rows
// from there on are found in it.
type segment struct {
	from, to, target int32
	// If dense, rows[from:] are consecutive rows of the target's storage,
	// starting at row, and rows[from:to] consecutive columns starting at col.
	dense    bool
	row, col int32
}

// Factor is the analysis of a pattern and the numbers of the last factorisation.
// It is for one goroutine at a time.
type Factor struct {
	n       int
	entries int     // of the pattern
	perm    []int32 // perm[k] is the index in K of pivot k
	inverse []int32
	columns []columns // of the panels, before small ones are joined
	panels  []panel
	owner   []int32 // the panel of each column
	place   []int32 // where entry k of K goes: a place in val, or ^c for the pivot of column c
	val     []float64
	d       []float64
	dInv    []float64
	sign    []int8
	x       []float64 // permuted vector of a solve
	gather  []float64
	work
	stages  []stage
	workers []work    // of the threads that share them
	kept    []float64 // L D of rows after the stage at work
}

// ErrTooLarge is returned when the factor does not fit into 32-bit indices.
var ErrTooLarge = errors.New("ldl: the factor has more than 2^31 entries")

// Analyze prepares the factorisation of matrices with the given pattern: the
// upper triangle in compressed columns, diagonal included in every column.
// sign[i] is the sign, +1 or -1, of pivot i.
func Analyze(n int, colptr, rowidx []int32, sign []int8) (*Factor, error) {
	return AnalyzeWith(n, colptr, rowidx, sign, Options{})
}

// Nonzeros returns the number of stored entries of L.
func (f *Factor) Nonzeros() int { return len(f.val) }

// allocate gives every panel its place and makes the buffers.
func (f *Factor) allocate(sign []int8, o *Options) error {
	total, rowMax, widest, scaled, product, addresses := 0, 0, 0, 0, 0, 0
	var most struct{ scaled, product, rows int } // in stages
	stages := f.stages
	for s := range f.panels {
		for len(stages) > 0 && int32(s) >= stages[0].starts[len(stages[0].starts)-1] {
			stages = stages[1:]
		}
		inStage := len(stages) > 0 && int32(s) >= stages[0].starts[0]
		p := &f.panels[s]
		k, w := len(p.rows), int(p.width)
		if o.Stop.Reached(8 + 4*w + k) {
			return ErrStopped
		}
		p.val, p.ld = total, k
		if p.kind == small {
			total += k
			for j := range p.width {
				k := len(p.below(j))
				addresses += k * (k + 1) / 2
			}
			continue
		}
		if p.kind == clique {
			p.ld = k + w
		}
		if total += p.ld * w; total > math.MaxInt32 {
			return ErrTooLarge
		}
		rowMax, widest = max(rowMax, k), max(widest, w)
		scaled = max(scaled, k*w)
		f.segment(p)
		for _, g := range p.segments {
			if !g.dense {
				product = max(product, (k-int(g.from))*int(g.to-g.from))
				if inStage {
					most.product = max(most.product, (k-int(g.from))*int(g.to-g.from))
				}
			}
		}
		if inStage {
			most.rows, most.scaled = max(most.rows, k), max(most.scaled, k*w)
		}
	}
	if total > math.MaxInt32 {
		return ErrTooLarge
	}
	threads, kept := 0, 0
	if len(f.stages) > 0 {
		threads, kept = o.Threads, f.share(o.Threads, o.Stop)
	}
	shared := kept + threads*(most.scaled+most.product+most.rows)
	if err := o.memory(f.keeps()+8*int64(total+scaled+product+shared)+4*int64(addresses), 0); err != nil {
		return err
	}
	f.kept = make([]float64, kept)
	for range threads {
		f.workers = append(f.workers, work{make([]float64, most.scaled), make([]float64, most.product),
			make([]int32, most.rows), dense.Within{Stop: o.Stop.Copy()}, 0})
	}
	f.val = make([]float64, total)
	f.d, f.dInv, f.x = make([]float64, f.n), make([]float64, f.n), make([]float64, f.n)
	f.scaled, f.update = make([]float64, scaled), make([]float64, product)
	f.gather, f.at = make([]float64, max(rowMax, widest)), make([]int32, rowMax)
	f.sign = make([]int8, f.n)
	for k, i := range f.perm {
		f.sign[k] = sign[i]
	}
	return nil
}

// segment cuts the rows of p by the panels that own them. It is called in the
// order of the panels, but needs only their rows and columns.
func (f *Factor) segment(p *panel) {
	for from := 0; from < len(p.rows); {
		t := f.owner[p.rows[from]]
		target := &f.panels[t]
		end := target.first + target.width
		if target.kind == small {
			end = p.rows[from] + 1 // each column has its own rows
		}
		to := from + 1
		for to < len(p.rows) && p.rows[to] < end {
			to++
		}
		g := segment{from: int32(from), to: int32(to), target: t}
		if target.kind == clique {
			g.col = p.rows[from] - target.first
			g.row = g.col
			contiguous := int(p.rows[to-1]-p.rows[from]) == to-from-1
			if rest := len(p.rows) - to; contiguous && rest > 0 {
				// the rows below must follow the columns without a hole
				contiguous = p.rows[to-1] == end-1 && rest <= len(target.rows) && slices.Equal(p.rows[to:], target.rows[:rest])
			}
			g.dense = contiguous
		}
		p.segments = append(p.segments, g)
		from = to
	}
}

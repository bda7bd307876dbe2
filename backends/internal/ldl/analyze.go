package ldl

import (
	"errors"
	"math"

	"github.com/conetune/conetune/backends/internal/order"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
)

// Options bound what [AnalyzeWith] may take. The zero value bounds nothing.
type Options struct {
	// Stop ends the analysis, and later factorisations and solves. These leave their
	// results unfinished: a factorisation must be done again, a solution is none.
	Stop *stop.Stop
	// Threads share later factorisations, none and one being the same.
	Threads int
	// Memory is asked before memory is taken, in bytes: lasting is what the factor is going
	// to keep, as far as it is known by then, passing what is needed beside that
	// for a while. Its error ends the analysis.
	Memory func(lasting, passing int64) error
}

func (o *Options) memory(lasting, passing int64) error {
	if o.Memory == nil {
		return nil
	}
	return o.Memory(lasting, passing)
}

// ErrStopped is returned when Options.Stop was reached.
var ErrStopped = errors.New("ldl: the analysis was stopped")

const (
	// What the analysis keeps, and what it takes for a while, in bytes for each node
	// and each entry of the pattern, the numbers of the factor apart.
	keptNode, keptEntry       = 40, 4
	passingNode, passingEntry = 150, 24
)

// keeps returns the bytes of a factor without its entries.
func (f *Factor) keeps() int64 { return keptNode*int64(f.n) + keptEntry*int64(f.entries) }

// AnalyzeWith is [Analyze] within the bounds of o.
func AnalyzeWith(n int, colptr, rowidx []int32, sign []int8, o Options) (*Factor, error) {
	f := &Factor{n: n, entries: len(rowidx)}
	f.within = dense.Within{Stop: o.Stop, Threads: o.Threads}
	if err := o.memory(f.keeps(), passingNode*int64(n)+passingEntry*int64(len(rowidx))); err != nil {
		return nil, err
	}
	g := findGroups(n, colptr, rowidx, o.Stop)
	if o.Stop.Reached(0) {
		return nil, ErrStopped
	}
	if err := f.shape(g, g.reduce(colptr, rowidx), &o); err != nil {
		return nil, err
	}
	if err := f.allocate(sign, &o); err != nil {
		return nil, err
	}
	if f.mapEntries(colptr, rowidx); !o.Stop.Reached(0) {
		f.address()
	}
	if o.Stop.Reached(0) {
		return nil, ErrStopped
	}
	return f, nil
}

// shape orders the groups, whose pattern is k, and lays out the panels of L.
func (f *Factor) shape(g *groups, k pattern, o *Options) error {
	count := len(k.ptr) - 1
	if o.Stop.Reached(0) {
		return ErrStopped
	}
	perm := order.AMD(count, k.ptr, k.ind, order.Options{Weights: g.weight, Stop: o.Stop})
	up, parent, post := tree(k, perm, o.Stop)
	if post != nil && !identity(post) {
		perm = compose(perm, post)
		up, parent, post = tree(k, perm, o.Stop)
	}
	if post == nil {
		return ErrStopped
	}
	entries := order.ColCounts(count, up.ptr, up.ind, parent, post, o.Stop)
	if entries == nil {
		return ErrStopped
	}
	least := int64(0) // the entries of L: twins have no fewer
	for j, c := range perm {
		least += int64(entries[j]-1) * int64(g.ptr[c+1]-g.ptr[c])
	}
	if least > math.MaxInt32 {
		return ErrTooLarge
	}
	if err := o.memory(f.keeps()+8*least, 0); err != nil {
		return err
	}
	loose := g.loose(perm, parent)
	first, rows := structures(count, up, parent, entries, loose, o.Stop)
	if o.Stop.Reached(0) {
		return ErrStopped
	}
	if err := f.layout(g, perm, parent, loose, first, rows); err != nil {
		return err
	}
	if o.Threads > 1 {
		f.findStages(g, o.Threads)
	}
	if f.joinSmall(); o.Stop.Reached(0) {
		return ErrStopped
	}
	return nil
}

// tree returns the permuted pattern with its elimination tree and a postorder of that; all
// are nil if stop is reached.
func tree(k pattern, perm []int32, s *stop.Stop) (up pattern, parent, post []int32) {
	if perm == nil {
		return pattern{}, nil, nil
	}
	count := len(perm)
	if up = permuteUpper(count, k.ptr, k.ind, perm, s); s.Reached(0) {
		return pattern{}, nil, nil
	}
	if parent = order.Etree(count, up.ptr, up.ind, s); parent == nil {
		return pattern{}, nil, nil
	}
	return up, parent, order.Postorder(parent, s)
}

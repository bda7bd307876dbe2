package ldl

import (
	"slices"

	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/dense"
	"github.com/conetune/conetune/internal/stop"
)

// A factorisation by several threads goes through stages, runs of panels whose subtrees are small, and through the
// panels between them, whose large products are shared. A stage is cut into tasks, each some whole subtrees of the
// elimination tree. First each task is done by one thread, but for what it subtracts from columns after the stage. Then
// each thread takes some of these columns, and subtracts from them what all panels of the stage do. Each entry has the
// same terms in the same order as in a loop over the panels, which is what one thread does.

const (
	// A stage has the panels whose subtrees are no more than one part in stageShare of all work.
	stageShare = 16
	// A stage is not less work than this, in multiplications, nor a panel than panelWork.
	stageWork = 1 << 21
	panelWork = 200
)

// stage is a run of panels.
type stage struct {
	starts   []int32 // the first panel of each task, and the panel after the last one
	end      int32   // the first column after it
	crossing []int32 // panels with rows from there on
	ranges   []int32 // columns between which threads share these
}

// findStages cuts the panels, before small columns are joined.
func (f *Factor) findStages(g *groups, threads int) {
	owner := make([]int32, f.n)
	for s := range f.columns {
		for j := range f.columns[s].width {
			owner[f.columns[s].first+j] = int32(s)
		}
	}
	n := len(f.columns)
	parent, own, all := make([]int32, n), make([]float64, n), make([]float64, n)
	total := 0.0
	for s := range f.columns {
		if f.within.Stop.Reached(entryWork) {
			return
		}
		p := &f.columns[s]
		k, w := float64(len(p.rows)), float64(p.width)
		own[s] = w * (panelWork + (k+w)*(k+w)/2)
		total += own[s]
		all[s] += own[s]
		if parent[s] = int32(n); len(p.rows) > 0 {
			parent[s] = owner[p.rows[0]]
			all[parent[s]] += all[s]
		}
	}
	for s := 0; s < n; s++ {
		from, sum := s, 0.0
		for ; s < n && all[s] <= total/stageShare && g.early[f.perm[f.columns[s].first]] < 0; s++ {
			sum += own[s]
		}
		if sum < stageWork {
			continue
		}
		st := stage{starts: []int32{int32(from)}}
		last, part := int32(from), 0.0 // the last panel of the subtrees so far, and their work
		for at := from; at < s; at++ {
			if int(last) < at && part >= sum/float64(8*threads) {
				st.starts, part = append(st.starts, int32(at)), 0
			}
			part += own[at]
			if parent[at] < int32(s) {
				last = max(last, parent[at])
			} else {
				last = max(last, int32(at))
			}
		}
		if len(st.starts) > 1 {
			st.starts = append(st.starts, int32(s))
			f.stages = append(f.stages, st)
		}
	}
}

// work is what a thread needs for itself.
type work struct {
	scaled, update []float64 // L D of a panel, a product before it is scattered
	at             []int32   // rows of a segment in its target
	within         dense.Within
	replaced       int
}

// strips is for parts of products that are more than a handful of entries.
func (w *work) strips() dense.Within { return dense.Within{Stop: w.within.Stop, Strips: true} }

// share makes the work space of threads, and cuts the columns after each stage into ranges of about the same work. It
// returns how many numbers of L D wait for the end of a stage.
func (f *Factor) share(threads int, s *stop.Stop) (kept int) {
	cost := make([]float64, f.n)
	for k := range f.stages {
		st := &f.stages[k]
		total, keeps, last := 0.0, 0, len(st.starts)-1
		st.end = int32(f.n)
		if at := int(st.starts[last]); at < len(f.panels) {
			st.end = f.panels[at].first
		}
		clear(cost)
		for at := st.starts[0]; at < st.starts[last]; at++ {
			p, crosses := &f.panels[at], false
			for j := range p.width {
				below := p.below(j)
				if s.Reached(entryWork * len(below)) {
					return 0
				}
				for i := len(below) - 1; i >= 0 && below[i] >= st.end; i-- {
					cost[below[i]] += float64(len(below) - i)
					total += float64(len(below) - i)
					crosses = true
				}
			}
			if crosses {
				p.kept, st.crossing = keeps, append(st.crossing, at)
				if p.kind == small {
					keeps += len(p.rows)
				} else {
					keeps += int(p.width) * (len(p.rows) - before(p.rows, st.end))
				}
			}
		}
		sum, part := 0.0, total/float64(2*threads)
		st.ranges = append(st.ranges, st.end)
		for j, c := range cost {
			if sum += c; c > 0 && sum >= part*float64(len(st.ranges)) {
				st.ranges = append(st.ranges, int32(j)+1)
			}
		}
		st.ranges[len(st.ranges)-1] = int32(f.n)
		kept = max(kept, keeps)
	}
	return kept
}

// pass eliminates the panels of a stage.
func (f *Factor) pass(st *stage, eps, delta float64) {
	for k := range f.workers {
		w := &f.workers[k]
		if w.replaced = 0; w.within.Stop != nil {
			*w.within.Stop = *f.work.within.Stop
		}
	}
	crew.By(len(st.starts)-1, len(f.workers), func(worker, t int) {
		f.eliminate(&f.workers[worker], st.starts[t], st.starts[t+1], st.end, eps, delta)
	})
	crew.By(len(st.ranges)-1, len(f.workers), func(worker, r int) {
		for _, s := range st.crossing {
			if w := &f.workers[worker]; !w.within.Stop.Reached(8) {
				f.subtract(w, &f.panels[s], st.end, st.ranges[r], st.ranges[r+1])
			}
		}
	})
	for k := range f.workers {
		f.work.replaced += f.workers[k].replaced
	}
	f.work.within.Stop.Look()
}

// before returns how many rows are before row.
func before(rows []int32, row int32) int {
	k, _ := slices.BinarySearch(rows, row)
	return k
}

// subtract subtracts what a panel of a stage that ends before column end does from columns lo to hi.
func (f *Factor) subtract(w *work, p *panel, end, lo, hi int32) {
	if p.kind == small {
		f.subtractSmall(p, lo, hi)
		return
	}
	a := before(p.rows, lo)
	if a == len(p.rows) || p.rows[a] >= hi {
		return
	}
	first := before(p.rows, end)
	f.updateAncestors(w, p, f.kept[p.kept+a-first:], len(p.rows)-first, a, lo, hi)
}

// subtractSmall is subtract for small columns.
func (f *Factor) subtractSmall(p *panel, lo, hi int32) {
	all, next := p.kept, p.addr
	for j := range p.width {
		rows := p.below(j)
		k := len(rows)
		v, addr, inv := f.kept[all:all+k], next, f.dInv[p.first+j]
		all, next = all+k, next[k*(k+1)/2:]
		if k == 0 || rows[k-1] < lo {
			continue
		}
		for b, row := range rows {
			if row < lo || row >= hi {
				continue
			}
			for a := b; a < k; a++ {
				l := v[a] * inv
				if c := addr[a*(a+1)/2+b]; c >= 0 {
					f.val[c] -= l * v[b]
				} else {
					f.d[^c] -= l * v[b]
				}
			}
		}
	}
}

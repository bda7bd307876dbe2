package planted

import "slices"

// Shrink looks for a smaller program, or a shorter way to one, of which its backend says the same that is wrong. It
// takes numbers from the tape that the case was drawn from, or makes them small, and draws from what is left, which is
// a case of which all is known again. It draws budget times.
func (r Run) Shrink(f Finding, budget int) Finding {
	best := f
	for size := len(f.tape); size > 0; {
		moved := false
		for at := 0; at < len(best.tape) && budget > 0; at += size {
			for _, change := range []func([]uint64) []uint64{
				func(v []uint64) []uint64 { return slices.Delete(v, at, min(at+size, len(v))) },
				func(v []uint64) []uint64 { clear(v[at:min(at+size, len(v))]); return v },
				func(v []uint64) []uint64 { v[at] /= 2; return v },
			} {
				if at >= len(best.tape) {
					break
				}
				budget--
				if next := r.again(f, change(slices.Clone(best.tape))); next != nil && next.size() < best.size() {
					best, moved = *next, true
				}
			}
		}
		if !moved {
			size /= 2
		}
		if budget <= 0 {
			break
		}
	}
	return best
}

// again draws from a tape, and returns the finding of the same kind, if there is one.
func (r Run) again(f Finding, values []uint64) *Finding {
	t := &Tally{Counts: Counts{}}
	r.draw(f.ID, newDraw(f.ID, values...), t)
	for _, g := range t.Findings {
		if g.Outcome == f.Outcome && g.Backend == f.Backend {
			return &g
		}
	}
	return nil
}

// size is what it takes to write the program and the way to it.
func (f *Finding) size() int { return len(f.Case.String()) + len(f.Detail) }

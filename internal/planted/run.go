package planted

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conetune/conetune/backends"
)

// Finding is a wrong answer.
type Finding struct {
	ID      ID
	Backend string
	Class   Class
	Verdict
	// Case is what the backend was asked, which need not be the case of the ID.
	Case *Case
}

// Shrink returns a small case to which the backend gives the same wrong answer when it is
// asked once and cold, and false where it does not take that alone.
func (f Finding) Shrink(b backends.ConicBackend, o backends.Options, budget int) (*Case, bool) {
	c := f.Case
	fails := func(c *Case) bool { return c.Run(b, o).Outcome == f.Outcome }
	if !fails(c) {
		return c, false
	}
	return shrink(c, budget, fails), true
}

// Count counts outcomes.
type Count struct {
	Outcomes [Outcomes]int
	Statuses [backends.NumericalError + 1]int // of what is undecided
	Beyond   int                              // false certificates that speak about less than the planted point
	Strict   int                              // right, but off by more than Tolerance max(1, |value|)
}

// Total is the number of answers, Wrong that of wrong ones.
func (c *Count) Total() int { return sumOf(c.Outcomes[:]) }
func (c *Count) Wrong() int { return sumOf(c.Outcomes[FalseInfeasible:]) }

func sumOf(v []int) int {
	out := 0
	for _, x := range v {
		out += x
	}
	return out
}

func (c *Count) add(v Verdict) {
	c.Outcomes[v.Outcome]++
	if v.Outcome == Undecided {
		c.Statuses[v.Status]++
	}
	if v.Beyond {
		c.Beyond++
	}
	if v.Strict && v.Outcome == Right {
		c.Strict++
	}
}

func (c *Count) merge(o *Count) {
	for k, v := range o.Outcomes {
		c.Outcomes[k] += v
	}
	for k, v := range o.Statuses {
		c.Statuses[k] += v
	}
	c.Beyond += o.Beyond
	c.Strict += o.Strict
}

// Row is what a table has a line for.
type Row struct {
	Mode    string
	Backend string
	Scale   int
	Class   Class
}

// Tally is what came out of a run.
type Tally struct {
	Counts   map[Row]*Count
	Findings []Finding // in the order of seeds
	Time     time.Duration
	Warm     Warm

	keep bool // Run.Undecided
}

// All adds the counts up.
func (t *Tally) All() *Count {
	all := &Count{}
	for _, c := range t.Counts {
		all.merge(c)
	}
	return all
}

// Faults are the answers that are wrong, and that of programs with a clear answer fewer than a share least, or than
// fewest at all, were answered.
func (t *Tally) Faults(least float64, fewest int) (list []string) {
	for _, f := range t.Findings {
		list = append(list, fmt.Sprintf("%v, %v: %v: %s", f.ID, f.Class, f.Outcome, f.Detail))
	}
	right, all := 0, 0
	for row, c := range t.Counts {
		if row.Class != Weak {
			right, all = right+c.Outcomes[Right], all+c.Total()
		}
	}
	if all < fewest || float64(right) < least*float64(all) {
		list = append(list, fmt.Sprintf("%d of %d answers are right, the others undecided, expected a share of %g", right,
			all, least))
	}
	return list
}

// count returns that of a row, a new one where there is none.
func (t *Tally) count(row Row) *Count {
	if t.Counts[row] == nil {
		t.Counts[row] = &Count{}
	}
	return t.Counts[row]
}

// record counts a verdict on the case, and keeps it if it is wrong.
func (t *Tally) record(c *Case, backend string, v Verdict) {
	t.count(Row{c.ID.Mode, backend, c.ID.Scale, c.Class}).add(v)
	if v.Outcome.Wrong() || t.keep && v.Outcome == Undecided {
		t.Findings = append(t.Findings, Finding{ID: c.ID, Backend: backend, Class: c.Class, Verdict: v, Case: c})
	}
}

// Warm compares solves from a given point with those of a fresh solver.
type Warm struct {
	Starts         int
	Lost, Won      int // one is undecided where the other decides: the one from the point is lost, the fresh one is won
	Iterations     int // of both that decide, from the point
	IterationsCold int
}

func (w *Warm) merge(o Warm) {
	w.Starts += o.Starts
	w.Lost += o.Lost
	w.Won += o.Won
	w.Iterations += o.Iterations
	w.IterationsCold += o.IterationsCold
}

// Run describes a run.
type Run struct {
	Backends []backends.ConicBackend
	Options  backends.Options
	Mode     string // a name of Modes; default "verdict"
	Mix      Mix    // default MixFor(Backends)
	Scales   []int  // default 0
	// Seeds First to First+N-1 are run at each of the scales.
	First   uint64
	N       int
	Workers int // default 1
	// Undecided asks for undecided answers among the findings, too.
	Undecided bool
	// Progress is told how many cases are done, now and then, by any of the goroutines;
	// nil means nobody.
	Progress func(done int)
}

// Do runs the cases. What it returns does not depend on the number of workers, unless
// the context ends it early.
func (r Run) Do(ctx context.Context) *Tally {
	if r.Mode == "" {
		r.Mode = Verdicts
	}
	if r.Mix == "" {
		r.Mix = MixFor(r.Backends...)
	}
	if len(r.Scales) == 0 {
		r.Scales = []int{0}
	}
	begin := time.Now()
	var next, done atomic.Int64
	total := int64(r.N * len(r.Scales))
	const chunk = 64
	tallies := make([]*Tally, max(1, r.Workers))
	var all sync.WaitGroup
	for w := range tallies {
		t := &Tally{Counts: map[Row]*Count{}, keep: r.Undecided}
		tallies[w] = t
		all.Go(func() {
			for ctx.Err() == nil {
				from := next.Add(chunk) - chunk
				if from >= total {
					return
				}
				for k := from; k < min(from+chunk, total) && ctx.Err() == nil; k++ {
					id := ID{r.Mode, r.Scales[int(k)/r.N], r.Mix, r.First + uint64(k)%uint64(r.N)}
					r.One(id, t)
					done.Add(1)
				}
				if r.Progress != nil {
					r.Progress(int(done.Load()))
				}
			}
		})
	}
	all.Wait()
	out := &Tally{Counts: map[Row]*Count{}}
	for _, t := range tallies {
		for row, c := range t.Counts {
			out.count(row).merge(c)
		}
		out.Findings = append(out.Findings, t.Findings...)
		out.Warm.merge(t.Warm)
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.ID.Scale, b.ID.Scale), cmp.Compare(a.ID.Seed, b.ID.Seed),
			cmp.Compare(a.Backend, b.Backend))
	})
	out.Time = time.Since(begin)
	return out
}

// One runs one case and counts the verdicts.
func (r Run) One(id ID, t *Tally) { modes[id.Mode](r, id, t) }

// Verdicts is the mode that asks every backend that takes it for the answer to a case.
const Verdicts = "verdict"

// Large is the same with programs of tens of variables.
const Large = "large"

var modes map[string]func(Run, ID, *Tally)

func init() {
	modes = map[string]func(Run, ID, *Tally){Verdicts: Run.verdicts, Relations: Run.relations, Updates: Run.updates,
		Lies: Run.lies, Far: Run.verdicts, Large: Run.verdicts}
}

// Modes returns the names of the modes, sorted.
func Modes() []string {
	var names []string
	for name := range modes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r Run) verdicts(id ID, t *Tally) {
	c := Generate(id)
	for _, b := range r.Backends {
		if c.supported(b.Capabilities()) {
			t.record(c, b.Name(), c.Run(b, r.Options))
		}
	}
}

package planted

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/crew"
)

// The modes: what is done with the case of an ID.
const (
	// Verdicts asks every backend that takes it for the answer. Large and Far do the same with programs of tens of
	// variables, and with those whose solutions are 10^Scale times as large as their data.
	Verdicts, Large, Far = "verdict", "large", "far"
	// Updates leads one solver through a sequence of programs by Update, with SetEps, WarmStart from points good and bad,
	// wild numbers, second and cancelled solves between. Each solve counts. A wrong answer is told with the steps that led
	// to it.
	Updates = "update"
	// Hostile does the same with programs that no one means seriously: numbers up to the largest and down to the smallest,
	// quadratic terms that are not convex, limits that leave no time.
	Hostile = "hostile"
	// Lies fuzzes the checks of [backends.Open] without a solver: a backend claims what is false, with vectors that come
	// close, and none of it may be passed on. A case counts once, with the worst of what was passed on; the backends of
	// the run are not asked.
	Lies = "judge"
)

// Modes returns the names of the modes.
func Modes() []string { return []string{Verdicts, Large, Far, Updates, Hostile, Lies} }

// Finding is a wrong answer.
type Finding struct {
	ID      ID
	Backend string
	Class   Class
	Verdict
	// Case is what the backend was asked, which need not be the case of the ID.
	Case *Case
	tape []uint64 // what was drawn for it
}

// Row is what a table has a line for.
type Row struct {
	Mode    string
	Backend string
	Scale   int
	Class   Class
}

// Answers are of one kind: of a row, with an outcome and, where they are undecided, a status.
type Answers struct {
	Row
	Outcome Outcome
	Status  backends.Status
}

// Counts are numbers of answers.
type Counts map[Answers]int

// Of adds up those that are asked for.
func (c Counts) Of(which func(Answers) bool) (n int) {
	for a, k := range c {
		if which(a) {
			n += k
		}
	}
	return n
}

// Wrong is the number of wrong answers.
func (c Counts) Wrong() int { return c.Of(func(a Answers) bool { return a.Outcome.Wrong() }) }

// Tally is what came out of a run.
type Tally struct {
	Counts   Counts
	Findings []Finding // in the order of seeds
	Time     time.Duration
	Warm     Warm

	keep bool  // Run.Undecided
	from *draw // of the case at hand
}

// Faults are the answers that are wrong, that of programs with a clear answer fewer than a share least, or than fewest
// at all, were answered, and that a solver on its way is undecided where a fresh one decides, but for one time in 50.
func (t *Tally) Faults(least float64, fewest int) (list []string) {
	for _, f := range t.Findings {
		list = append(list, fmt.Sprintf("%v, %v: %v: %s", f.ID, f.Class, f.Outcome, f.Detail))
	}
	clear := func(a Answers) bool { return a.Class != Weak }
	right := t.Counts.Of(func(a Answers) bool { return clear(a) && a.Outcome == Right })
	if all := t.Counts.Of(clear); all < fewest || float64(right) < least*float64(all) {
		list = append(list, fmt.Sprintf("%d of %d answers are right, the others undecided, expected a share of %g", right,
			all, least))
	}
	if w := t.Warm; w.Lost > 1+w.Starts/50 {
		list = append(list, fmt.Sprintf("%d of %d answers are undecided where a fresh solver decides", w.Lost, w.Starts))
	}
	return list
}

// record counts a verdict on the case, and keeps it if it is wrong.
func (t *Tally) record(c *Case, backend string, v Verdict) {
	a := Answers{Row: Row{c.ID.Mode, backend, c.ID.Scale, c.Class}, Outcome: v.Outcome}
	if v.Outcome == Undecided {
		a.Status = v.Status
	}
	t.Counts[a]++
	if v.Outcome.Wrong() || t.keep && v.Outcome == Undecided {
		t.Findings = append(t.Findings, Finding{c.ID, backend, c.Class, v, c, slices.Clone(t.from.values[:t.from.at])})
	}
}

// Warm compares solves on the way, among them all from a given point or after wild numbers, with those of a fresh
// solver.
type Warm struct {
	Starts         int
	Lost, Won      int // one is undecided where the other decides: the one on the way is lost, the fresh one is won
	Iterations     int // of both that decide, from a given point
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
	// Progress is told how many cases are done after each, by any of the goroutines; nil means nobody.
	Progress func(done int)
}

// Do runs the cases. What it returns does not depend on the number of workers, unless
// the context ends it early.
func (r Run) Do(ctx context.Context) *Tally {
	r.Mode = cmp.Or(r.Mode, Verdicts)
	r.Mix = cmp.Or(r.Mix, MixFor(r.Backends...))
	if len(r.Scales) == 0 {
		r.Scales = []int{0}
	}
	begin := time.Now()
	var done atomic.Int64
	tallies := make([]*Tally, max(1, r.Workers))
	for w := range tallies {
		tallies[w] = &Tally{Counts: Counts{}, keep: r.Undecided}
	}
	crew.By(r.N*len(r.Scales), len(tallies), func(worker, k int) {
		if ctx.Err() != nil {
			return
		}
		id := ID{r.Mode, r.Scales[k/r.N], r.Mix, r.First + uint64(k%r.N)}
		r.draw(id, newDraw(id), tallies[worker])
		if n := done.Add(1); r.Progress != nil {
			r.Progress(int(n))
		}
	})
	out := &Tally{Counts: Counts{}}
	for _, t := range tallies {
		for a, n := range t.Counts {
			out.Counts[a] += n
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

// draw runs the case of a draw and counts the verdicts.
func (r Run) draw(id ID, d *draw, t *Tally) {
	t.from = d
	switch id.Mode {
	case Updates, Hostile:
		r.sequences(id, d, t)
	case Lies:
		r.lies(id, d, t)
	default:
		c := d.generate(id)
		for _, b := range r.Backends {
			if c.supported(b) {
				t.record(c, b.Name(), c.Run(b, r.Options))
			}
		}
	}
}

// supported says whether a backend takes the program.
func (in *Instance) supported(b backends.ConicBackend) bool {
	return b.Capabilities().Unsupported(b.Name(), in.Problem()) == nil
}

// Print writes the counts: a line for each backend, scale and class, and sums, with the
// class Weak and without it.
func (t *Tally) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mode\tbackend\tscale\tclass\tcount\tright\tundecided\t%\twrong\t")
	line := func(r Row, class string, which func(Row) bool) {
		number := func(of func(Outcome) bool) int {
			return t.Counts.Of(func(a Answers) bool { return which(a.Row) && of(a.Outcome) })
		}
		all, wrong := number(func(Outcome) bool { return true }), number(Outcome.Wrong)
		undecided := number(func(o Outcome) bool { return o == Undecided })
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t%d\t%d\t%.2f\t%d\t\n", r.Mode, r.Backend, r.Scale, class, all,
			all-undecided-wrong, undecided, 100*float64(undecided)/float64(max(1, all)), wrong)
	}
	var rows []Row
	for a := range t.Counts {
		rows = append(rows, a.Row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Scale, b.Scale),
			cmp.Compare(a.Class, b.Class))
	})
	rows = slices.Compact(rows)
	for k, r := range rows {
		line(r, r.Class.String(), func(o Row) bool { return o == r })
		same := func(o Row) bool { o.Class = r.Class; return o == r }
		if k+1 == len(rows) || !same(rows[k+1]) {
			line(r, "but weak", func(o Row) bool { return same(o) && o.Class != Weak }) // those due an answer
			line(r, "all", same)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if x := t.Warm; x.Starts > 0 {
		fmt.Fprintf(out, "warm starts: %d; undecided where a fresh solver decides: %d, the other way round: %d; "+
			"iterations: %d, of fresh solvers %d (%.3f)\n",
			x.Starts, x.Lost, x.Won, x.Iterations, x.IterationsCold, float64(x.Iterations)/float64(max(1, x.IterationsCold)))
	}
	all, seconds := t.Counts.Of(func(Answers) bool { return true }), max(t.Time.Seconds(), 1e-9)
	_, err := fmt.Fprintf(out, "%d answers, %d wrong, in %.1f s (%.0f a second)\nundecided:", all, t.Counts.Wrong(),
		seconds, float64(all)/seconds)
	for s := range backends.NumericalError + 1 {
		if n := t.Counts.Of(func(a Answers) bool { return a.Outcome == Undecided && a.Status == s }); n > 0 {
			fmt.Fprintf(out, " %d %v", n, s)
		}
	}
	fmt.Fprintln(out)
	return err
}

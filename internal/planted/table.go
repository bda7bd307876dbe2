package planted

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/conetune/conetune/backends"
)

// Print writes the counts: a line for each backend, scale and class, and sums, with the
// class Weak and without it.
func (t *Tally) Print(out io.Writer) error {
	rows := make([]Row, 0, len(t.Counts))
	for r := range t.Counts {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Scale, b.Scale),
			cmp.Compare(a.Class, b.Class))
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(
		w, "mode\tbackend\tscale\tclass\tcount\tright\tundecided\t%\twrong\tf.infeas\tf.unbnd\tf.optimal\toff\ttoo "+
			"far\tmalformed\terror\tnonconvex\tpanic\tbeyond\tstrict\t")
	line := func(r Row, class string, c *Count) {
		o := c.Outcomes
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t%d\t%d\t%.2f\t%d\t", r.Mode, r.Backend, r.Scale, class, c.Total(), o[Right],
			o[Undecided],
			100*float64(o[Undecided])/float64(max(1, c.Total())), c.Wrong())
		for k := FalseInfeasible; k < Outcomes; k++ {
			fmt.Fprintf(w, "%d\t", o[k])
		}
		fmt.Fprintf(w, "%d\t%d\t\n", c.Beyond, c.Strict)
	}
	for k, r := range rows {
		line(r, r.Class.String(), t.Counts[r])
		last := k+1 == len(rows)
		if !last {
			next := rows[k+1]
			last = next.Mode != r.Mode || next.Backend != r.Backend || next.Scale != r.Scale
		}
		if last {
			all, due := &Count{}, &Count{} // due are answers to programs that have one
			for l := k; l >= 0 && rows[l].Mode == r.Mode && rows[l].Backend == r.Backend && rows[l].Scale == r.Scale; l-- {
				all.merge(t.Counts[rows[l]])
				if rows[l].Class != Weak {
					due.merge(t.Counts[rows[l]])
				}
			}
			line(r, "but weak", due)
			line(r, "all", all)
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
	all := t.All()
	seconds := max(t.Time.Seconds(), 1e-9)
	_, err := fmt.Fprintf(out, "%d answers, %d wrong, in %.1f s (%.0f a second)\nundecided: %s\n", all.Total(),
		all.Wrong(), seconds, float64(all.Total())/seconds, all.undecided())
	return err
}

// undecided counts the statuses of what is undecided.
func (c *Count) undecided() string {
	var parts []string
	for s, n := range c.Statuses {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, backends.Status(s)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/conetune/conetune/bench/internal/child"
)

// row is a file with both runs, old and new.
type row struct {
	file string
	run  [2]run
}

const heading = "file                       old                   new                   iterations    CPU seconds     objective, and what changed"

// lost says whether the old run has a verdict and the new one none or another, won the same the other way round.
func (r row) lost() bool { return r.run[0].solved() && r.run[1].Status != r.run[0].Status }
func (r row) won() bool  { return r.run[1].solved() && r.run[1].Status != r.run[0].Status && !r.lost() }

// apart is how far the objectives of two optimal runs are apart, relative to the larger.
func (r row) apart() float64 {
	a, b := r.run[0], r.run[1]
	if a.Status != "optimal" || b.Status != "optimal" || a.Objective == nil || b.Objective == nil {
		return 0
	}
	return math.Abs(*a.Objective-*b.Objective) / max(1, math.Abs(*a.Objective), math.Abs(*b.Objective))
}

func (r row) String() string {
	a, b, change := r.run[0], r.run[1], ""
	switch {
	case r.lost():
		change = "  LOST"
	case r.won():
		change = "  won"
	case r.apart() > 1e-6:
		change = fmt.Sprintf("  objectives %.1e apart", r.apart())
	}
	return fmt.Sprintf("%-26s %-21s %-21s %5d %5d  %8.2f %8.2f  %s%s", child.Name(r.file), a.Status, b.Status, a.Iterations, b.Iterations,
		a.Seconds, b.Seconds, b.objective(), change)
}

func (r run) objective() string {
	if r.Objective == nil {
		return "-"
	}
	return strconv.FormatFloat(*r.Objective, 'g', 10, 64)
}

// summary has the sums over all files, and the geometric means of new by old, over the files with a verdict of both.
func summary(rows []row) string {
	var solved, iterations [2]int
	var seconds [2]float64
	var meanSeconds, meanIterations child.Mean
	lost, won := 0, 0
	for _, r := range rows {
		for i, x := range r.run {
			seconds[i] += x.Seconds
			iterations[i] += x.Iterations
			if x.solved() {
				solved[i]++
			}
		}
		if r.lost() {
			lost++
		}
		if r.won() {
			won++
		}
		if r.run[0].solved() && r.run[1].solved() {
			meanSeconds.AddSeconds(r.run[0].Seconds, r.run[1].Seconds)
			meanIterations.Add(float64(r.run[0].Iterations+1), float64(r.run[1].Iterations+1))
		}
	}
	return fmt.Sprintf("%d files: solved %d -> %d (%d lost, %d won); sums: CPU seconds %.1f -> %.1f, iterations %d -> %d; geometric means, new by old: CPU seconds %.3f, iterations %.3f\n",
		len(rows), solved[0], solved[1], lost, won, seconds[0], seconds[1], iterations[0], iterations[1], meanSeconds.Value(), meanIterations.Value())
}

// table writes the rows as CSV.
func table(out io.Writer, rows []row) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"file", "old", "new", "old_iterations", "new_iterations", "old_seconds", "new_seconds", "old_objective", "new_objective"})
	for _, r := range rows {
		o, n := r.run[0], r.run[1]
		_ = w.Write([]string{child.Name(r.file), o.Status, n.Status, strconv.Itoa(o.Iterations), strconv.Itoa(n.Iterations),
			fmt.Sprintf("%.3f", o.Seconds), fmt.Sprintf("%.3f", n.Seconds), o.objective(), n.objective()})
	}
	w.Flush()
	return w.Error()
}

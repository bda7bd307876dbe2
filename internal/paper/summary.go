package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Stat is a mean over seeds with its standard error, 0 for a single one.
type Stat struct {
	Mean, Error float64
	// N is the number of seeds that have the number.
	N int
}

// statOf sums in the order of the list, so that equal lists have equal means.
func statOf(values []float64) Stat {
	s := Stat{N: len(values)}
	if s.N == 0 {
		return s
	}
	n := float64(s.N)
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= n
	if s.N == 1 {
		return s
	}
	squares := 0.0
	for _, v := range values {
		d := v - s.Mean
		squares += float64(d * d) // no fused multiply-add: the same bytes on every machine
	}
	s.Error = math.Sqrt(squares / (n - 1) / n) // s / sqrt(n), s^2 the sample variance
	return s
}

// Pair are the means of both errors.
type Pair struct{ Validation, Test Stat }

// Line is a method on a row.
type Line struct {
	Method  Method
	Backend string
	// Dimension is the number of hyperparameters that the method chooses.
	Dimension int
	// N is the number of seeds with a record, Repeats how many there should be.
	N, Repeats int
	// Statuses counts the runs that did not converge, by status.
	Statuses []Count
	// Iterate and Refit are the means of those of [Record].
	Iterate, Refit      Pair
	Deployed            Stat
	Seconds, Iterations Stat
	// CPU has the seeds that ran with one worker.
	CPU Stat
	// Paper are the paper's figures; nil where it has none.
	Paper *Published
}

// Count is how often a status is there.
type Count struct {
	Status string
	N      int
}

// RowSummary is a row of a table with its lines.
type RowSummary struct {
	Row Row
	// Skipped says why there are no lines; empty where there are.
	Skipped string
	Lines   []Line
	// Verdicts say, where both are there, how VF-iDCA stands to the best of the other methods: its iterate with the
	// paper's settings, its refit with ours.
	Verdicts []Verdict
}

// Summary is a table.
type Summary struct {
	Table Table
	Rows  []RowSummary
}

// Summarise makes the tables of a plan from records in any order. It takes records that are not of the plan for
// nothing.
func Summarise(p Plan, records []Record) []Summary {
	have := make(map[Item]*Record, len(records))
	for k := range records {
		have[records[k].Item] = &records[k]
	}
	var out []Summary
	for _, t := range p.tables() {
		s := Summary{Table: t}
		for _, r := range t.Rows {
			row := RowSummary{Row: r}
			row.Skipped, _ = p.skipped(t.Name, r.Name)
			for _, first := range p.lines(&t, r.Name, 1) {
				row.Lines = append(row.Lines, p.line(first, have))
			}
			row.Verdicts = verdicts(row.Lines)
			s.Rows = append(s.Rows, row)
		}
		out = append(out, s)
	}
	return out
}

// line collects the seeds of a method on a row.
func (p *Plan) line(i Item, have map[Item]*Record) Line {
	method, err := FindMethod(i.Method)
	if err != nil {
		method = Method{Name: i.Method, Title: i.Method}
	}
	l := Line{Method: method, Backend: i.Backend, Repeats: p.Repeats}
	if f, ok := Paper(i.Table, i.Row, i.Method); ok {
		l.Paper = &f
	}
	columns := make([][]float64, 8)
	for i.Seed = 1; i.Seed <= uint64(p.Repeats); i.Seed++ {
		r, ok := have[i]
		if !ok {
			continue
		}
		l.N++
		l.Dimension = max(l.Dimension, r.Dimension)
		l.count(r.Status)
		if r.Status == failed {
			continue // its time is that of nothing
		}
		seconds, iterations := r.Seconds, float64(r.Iterations)
		var cpu *float64
		if r.CPU > 0 {
			cpu = &r.CPU
		}
		for k, v := range []*float64{r.Iterate.Validation, r.Iterate.Test, r.Refit.Validation, r.Refit.Test, r.Deployed,
			&seconds, &iterations, cpu} {
			if v != nil {
				columns[k] = append(columns[k], *v)
			}
		}
	}
	for k, to := range []*Stat{&l.Iterate.Validation, &l.Iterate.Test, &l.Refit.Validation, &l.Refit.Test, &l.Deployed,
		&l.Seconds, &l.Iterations, &l.CPU} {
		*to = statOf(columns[k])
	}
	return l
}

func (l *Line) count(status string) {
	if status == "converged" {
		return
	}
	k := slices.IndexFunc(l.Statuses, func(c Count) bool { return c.Status == status })
	if k < 0 {
		l.Statuses = append(l.Statuses, Count{Status: status})
		slices.SortFunc(l.Statuses, func(a, b Count) int { return cmp.Compare(a.Status, b.Status) })
		k = slices.IndexFunc(l.Statuses, func(c Count) bool { return c.Status == status })
	}
	l.Statuses[k].N++
}

// Remarks says what the means leave out.
func (l *Line) Remarks() string {
	var parts []string
	if l.N < l.Repeats {
		parts = append(parts, fmt.Sprintf("%d of %d seeds", l.N, l.Repeats))
	}
	for _, c := range l.Statuses {
		parts = append(parts, fmt.Sprintf("%s in %d", strings.ReplaceAll(c.Status, "_", " "), c.N))
	}
	for _, s := range []struct {
		name string
		stat Stat
	}{{"iterate", l.Iterate.Validation}, {"refit", l.Refit.Validation}} {
		if s.stat.N < l.N {
			parts = append(parts, fmt.Sprintf("%s of %d seeds", s.name, s.stat.N))
		}
	}
	if l.Deployed.N > 0 {
		parts = append(parts, "test of the refit to all rows "+l.Deployed.String())
	}
	return strings.Join(parts, "; ")
}

// A measure is a column of errors.
type measure struct {
	name string
	of   func(*Line) Stat
}

// refitValidation is the place of the refit's validation error in measures.
const refitValidation = 2

// measures are the columns of errors in the order of the tables.
var measures = []measure{
	{"validation, iterate", func(l *Line) Stat { return l.Iterate.Validation }},
	{"test, iterate", func(l *Line) Stat { return l.Iterate.Test }},
	{"validation, refit", func(l *Line) Stat { return l.Refit.Validation }},
	{"test, refit", func(l *Line) Stat { return l.Refit.Test }},
}

// best is the line with the least mean of a number, the first of equals; nil where no line has it.
func best(lines []Line, of func(*Line) Stat) *Line {
	var best *Line
	for k := range lines {
		if s := of(&lines[k]); s.N > 0 && (best == nil || s.Mean < of(best).Mean) {
			best = &lines[k]
		}
	}
	return best
}

// String writes a mean with its standard error, both with as many decimals as the mean has.
func (s Stat) String() string {
	switch s.N {
	case 0:
		return "-"
	case 1:
		return s.mean()
	}
	return s.mean() + " ± " + digits(s.Error, s.Mean)
}

// mean writes the mean alone.
func (s Stat) mean() string { return digits(s.Mean, s.Mean) }

// digits writes a number with the two decimals of the paper, and one more where it goes with a small mean.
func digits(v, mean float64) string {
	if mean < 1 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Verdict is how VF-iDCA stands to the best of the other methods of a row, by one column of errors.
type Verdict struct {
	// Measure is the name of the column.
	Measure string
	// Ours is the line of VF-iDCA, Best that of the other method with the least mean.
	Ours, Best *Line

	ours, least Stat
}

// Standing is a place from the best down.
type Standing int

const (
	// Leading is no worse than all other methods.
	Leading Standing = iota
	// Close is within one standard error of the best of them.
	Close
	// Behind is neither.
	Behind
)

// Standing says which it is.
func (v *Verdict) Standing() Standing {
	switch {
	case v.ours.Mean <= v.least.Mean:
		return Leading
	case v.ours.Mean <= v.least.Mean+v.least.Error:
		return Close
	}
	return Behind
}

// String says it in words.
func (v *Verdict) String() string {
	text := fmt.Sprintf("%s: %s is ", v.Measure, v.Ours.Method.Title)
	switch v.Standing() {
	case Leading:
		return text + "the best method"
	case Close:
		return text + fmt.Sprintf("within one standard error of the best other method, %s", v.Best.Method.Title)
	}
	return text + fmt.Sprintf("not within one standard error of the best other method, %s: %s against %s",
		v.Best.Method.Title, v.ours.String(), v.least.String())
}

// verdicts compare VF-iDCA with the best line of another method, measure by measure: the iterate of the paper's
// settings, the refit of ours; and its validation error, where our defaults leave the gap open, of the run that closes
// it.
func verdicts(lines []Line) []Verdict {
	var out []Verdict
	others := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool {
		return strings.HasPrefix(l.Method.Name,
			"vf-idca")
	})
	for k := range measures {
		m, name := &measures[k], "vf-idca"
		if k >= 2 {
			name = OurDefaults
		}
		at := index(lines, name)
		if closed := index(lines, GapClosed); k == refitValidation && closed >= 0 && m.of(&lines[closed]).N > 0 {
			at = closed
		}
		best := best(others, m.of)
		if at < 0 || best == nil || m.of(&lines[at]).N == 0 {
			continue
		}
		out = append(out, Verdict{Measure: m.name, Ours: &lines[at], Best: best, ours: m.of(&lines[at]), least: m.of(best)})
	}
	return out
}

// index is the place of the line of a method, -1 where there is none.
func index(lines []Line, method string) int {
	return slices.IndexFunc(lines, func(l Line) bool { return l.Method.Name == method })
}

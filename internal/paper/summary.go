package paper

import (
	"fmt"
	"maps"
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

// quantity is a number of records whose mean over seeds is in the tables.
type quantity int

// The quantities, errors first. The processor time is that of seeds that ran with one worker.
const (
	iterateValidation quantity = iota
	iterateTest
	refitValidation
	refitTest
	deployedTest
	wallTime
	iterations
	processorTime
	allQuantities
)

// quantities are what the CSV tables call them, the words for those that methods are compared by, and where records
// have them, nil for nowhere.
var quantities = [allQuantities]struct {
	name, title string
	of          func(*Record) *float64
}{
	{"iterate_validation", "validation, iterate", func(r *Record) *float64 { return r.Iterate.Validation }},
	{"iterate_test", "test, iterate", func(r *Record) *float64 { return r.Iterate.Test }},
	{"refit_validation", "validation, refit", func(r *Record) *float64 { return r.Refit.Validation }},
	{"refit_test", "test, refit", func(r *Record) *float64 { return r.Refit.Test }},
	{"deployed_test", "", func(r *Record) *float64 { return r.Deployed }},
	{"seconds", "", func(r *Record) *float64 { return &r.Seconds }},
	{"iterations", "", func(r *Record) *float64 { n := float64(r.Iterations); return &n }},
	{"cpu_seconds", "", func(r *Record) *float64 {
		if r.CPU > 0 {
			return &r.CPU
		}
		return nil
	}},
}

// compared are those by which methods are.
var compared = quantities[:deployedTest]

// Line is a method on a row.
type Line struct {
	Method  Method
	Backend string
	// Dimension is the number of hyperparameters that the method chooses.
	Dimension int
	// N is the number of seeds with a record, Repeats how many there should be.
	N, Repeats int
	// Statuses counts the runs that did not converge, by status.
	Statuses map[string]int
	// Means are those of the quantities.
	Means [allQuantities]Stat
	// Paper are the paper's figures; nil where it has none.
	Paper *Published

	traces runs
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

// ID names a row of the table on the page and in names of files.
func (s Summary) ID(r RowSummary) string { return s.Table.Name + "-" + r.Row.Name }

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
	method, _ := FindMethod(i.Method) // as lines has
	l := Line{Method: method, Backend: i.Backend, Repeats: p.Repeats, Statuses: map[string]int{}}
	if f, ok := Paper(i.Table, i.Row, i.Method); ok {
		l.Paper = &f
	}
	var values [allQuantities][]float64
	for i.Seed = 1; i.Seed <= uint64(p.Repeats); i.Seed++ {
		r, ok := have[i]
		if !ok {
			continue
		}
		l.N, l.traces = l.N+1, append(l.traces, r.Trace)
		l.Dimension = max(l.Dimension, r.Dimension)
		if r.Status != "converged" {
			l.Statuses[r.Status]++
		}
		for q := range quantities {
			if v := quantities[q].of(r); v != nil && r.Status != failed { // whose time is that of nothing
				values[q] = append(values[q], *v)
			}
		}
	}
	for q := range values {
		l.Means[q] = statOf(values[q])
	}
	return l
}

// Remarks says what the means leave out.
func (l *Line) Remarks() string {
	var parts []string
	if l.N < l.Repeats {
		parts = append(parts, fmt.Sprintf("%d of %d seeds", l.N, l.Repeats))
	}
	for _, status := range slices.Sorted(maps.Keys(l.Statuses)) {
		parts = append(parts, fmt.Sprintf("%s in %d", strings.ReplaceAll(status, "_", " "), l.Statuses[status]))
	}
	if n := l.Means[iterateValidation].N; n < l.N {
		parts = append(parts, fmt.Sprintf("iterate of %d seeds", n))
	}
	if n := l.Means[refitValidation].N; n < l.N {
		parts = append(parts, fmt.Sprintf("refit of %d seeds", n))
	}
	if l.Means[deployedTest].N > 0 {
		parts = append(parts, "test of the refit to all rows "+l.Means[deployedTest].String())
	}
	return strings.Join(parts, "; ")
}

// best is the line with the least mean of a number, the first of equals; nil where no line has it.
func best(lines []Line, of quantity) *Line {
	var best *Line
	for k := range lines {
		if s := lines[k].Means[of]; s.N > 0 && (best == nil || s.Mean < best.Means[of].Mean) {
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
	of quantity
	// Ours is the line of VF-iDCA, Best that of the other method with the least mean.
	Ours, Best *Line
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
func (v Verdict) Standing() Standing {
	switch ours, least := v.Ours.Means[v.of], v.Best.Means[v.of]; {
	case ours.Mean <= least.Mean:
		return Leading
	case ours.Mean <= least.Mean+least.Error:
		return Close
	}
	return Behind
}

// String says it in words.
func (v Verdict) String() string {
	text := fmt.Sprintf("%s: %s is ", quantities[v.of].title, v.Ours.Method.Title)
	switch v.Standing() {
	case Leading:
		return text + "the best method"
	case Close:
		return text + fmt.Sprintf("within one standard error of the best other method, %s", v.Best.Method.Title)
	}
	return text + fmt.Sprintf("not within one standard error of the best other method, %s: %s against %s",
		v.Best.Method.Title, v.Ours.Means[v.of].String(), v.Best.Means[v.of].String())
}

// verdicts compare VF-iDCA with the best line of another method, measure by measure: the iterate of the paper's
// settings, the refit of ours; and its validation error, where our defaults leave the gap open, of the run that closes
// it.
func verdicts(lines []Line) []Verdict {
	var out []Verdict
	ours := func(l Line) bool { return strings.HasPrefix(l.Method.Name, "vf-idca") }
	others := slices.DeleteFunc(slices.Clone(lines), ours)
	for k := range compared {
		q, name := quantity(k), "vf-idca"
		if q >= refitValidation {
			name = OurDefaults
		}
		at := index(lines, name)
		if closed := index(lines, GapClosed); q == refitValidation && closed >= 0 && lines[closed].Means[q].N > 0 {
			at = closed
		}
		if best := best(others, q); at >= 0 && best != nil && lines[at].Means[q].N > 0 {
			out = append(out, Verdict{q, &lines[at], best})
		}
	}
	return out
}

// index is the place of the line of a method, -1 where there is none.
func index(lines []Line, method string) int {
	return slices.IndexFunc(lines, func(l Line) bool { return l.Method.Name == method })
}

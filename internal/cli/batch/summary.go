package batch

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
)

// The files of the summary: SummaryFile is the same for the same jobs, TimesFile has what is not.
const (
	SummaryFile = "summary.csv"
	TimesFile   = "times.csv"
)

// mostLambda is how many names hyperparameters may have in all to have columns in the summary.
const mostLambda = 12

// WriteSummary writes a line for each record: settings, status, errors, measures with their standard errors, and the
// chosen weights if they are few.
func WriteSummary(dir string, records []Record) error {
	type column struct {
		name string
		of   func(*Record) string
	}
	job := column{columnJob, func(r *Record) string { return r.Job }}
	summary := []column{job}
	settings, measures, lambda := columnsOf(records)
	for _, name := range settings {
		summary = append(summary, column{name, func(r *Record) string { return r.Settings[name] }})
	}
	summary = append(summary, column{"status", func(r *Record) string { return r.Status }},
		column{"chosen_method", func(r *Record) string { return r.Method }},
		column{"validation_error", func(r *Record) string { return exact(r.Validation) }},
		column{"test_error", func(r *Record) string { return exact(r.Test) }},
		column{"measured_on", func(r *Record) string { return r.MetricsOn }})
	for _, name := range measures {
		summary = append(summary, column{name, func(r *Record) string { return exact(r.Metrics[name].Value) }},
			column{name + "_standard_error", func(r *Record) string { return exact(r.Metrics[name].StandardError) }})
	}
	summary = append(summary, column{"features_used", func(r *Record) string { return r.used("") }})
	for _, name := range lambda {
		summary = append(summary, column{name, func(r *Record) string {
			if v, ok := r.Hyperparameters[name]; ok {
				return exact(&v)
			}
			return ""
		}})
	}
	summary = append(summary, column{"message", func(r *Record) string { return r.Message }})
	times := []column{job, {"seconds", func(r *Record) string { return exact(&r.Seconds) }},
		{"cpu_seconds", func(r *Record) string { return exact(&r.CPU) }}}
	for name, columns := range map[string][]column{SummaryFile: summary, TimesFile: times} {
		lines := make([][]string, 1+len(records))
		for _, c := range columns {
			lines[0] = append(lines[0], c.name)
			for k := range records {
				lines[1+k] = append(lines[1+k], c.of(&records[k]))
			}
		}
		err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(lines) })
		if err != nil {
			return err
		}
	}
	return nil
}

// used is how many features have coefficients, or what stands for an unknown number.
func (r *Record) used(unknown string) string {
	if r.Features == nil {
		return unknown
	}
	return strconv.Itoa(*r.Features)
}

// columnsOf are the names of flags, measures and hyperparameters in records, each kind in order; no hyperparameters
// where they are many.
func columnsOf(records []Record) (settings, measures, lambda []string) {
	s, m, l := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for k := range records {
		for name := range records[k].Settings {
			s[name] = true
		}
		for name := range records[k].Metrics {
			m[name] = true
		}
		for name := range records[k].Hyperparameters {
			if len(l) <= mostLambda {
				l[name] = true
			}
		}
	}
	if len(l) <= mostLambda {
		lambda = slices.Sorted(maps.Keys(l))
	}
	for _, name := range []string{columnModel, "data", "target"} { // what jobs mostly differ in
		if s[name] {
			settings = append(settings, name)
			delete(s, name)
		}
	}
	return append(settings, slices.Sorted(maps.Keys(s))...), slices.Sorted(maps.Keys(m)), lambda
}

// exact writes a number with all its digits, and nothing where there is none.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return words.Exact(*v)
}

// The lengths of the lists in the text.
const (
	mostLines    = 20
	mostMessages = 10
)

// leading are the measures of which the text has one for each job, the first that there is.
var leading = []string{"r2", "auc", "deviance_explained", "pinball", "error_rate"}

// Describe is the summary for people: the first jobs, how many there are of each status, and why some failed.
func Describe(o *Outcome) string {
	t := webpage.NewTable("", "")
	for _, title := range []string{"job", "model", "status", "validation", "test", "measure", "features"} {
		t.Columns = append(t.Columns, webpage.Text(title))
	}
	for k := range o.Records[:min(len(o.Records), mostLines)] {
		r := &o.Records[k]
		t.AddTexts(r.Job, r.Settings[columnModel], r.Status, short(r.Validation), short(r.Test), r.measure(), r.used("-"))
	}
	var b strings.Builder
	b.WriteString(t.String() + words.Rest(len(o.Records)-mostLines, "and %d more, see "+SummaryFile+"\n"))
	b.WriteString("\n" + counts(o) + "\n")
	told := 0
	for k := range o.Records {
		r := &o.Records[k]
		if !r.failed() {
			continue
		}
		if told++; told <= mostMessages {
			fmt.Fprintf(&b, "%s: %s\n", r.Job, r.Message)
		}
	}
	return b.String() + words.Rest(told-mostMessages, "and %d more that failed, see "+SummaryFile+"\n")
}

// counts says how many jobs there are of each status.
func counts(o *Outcome) string {
	n := map[string]int{}
	for _, r := range o.Records {
		n[r.Status]++
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[status], strings.ReplaceAll(status, "_", " ")))
	}
	if o.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d not done yet", o.Missing))
	}
	what := "jobs"
	if len(o.Records)+o.Missing == 1 {
		what = "job"
	}
	return fmt.Sprintf("%d %s: %s", len(o.Records)+o.Missing, what, strings.Join(parts, ", "))
}

// measure is the first of the leading measures, with its name.
func (r *Record) measure() string {
	for _, name := range leading {
		if m, ok := r.Metrics[name]; ok {
			return name + " " + short(m.Value)
		}
	}
	return "-"
}

func short(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}

// Failures counts the records without an answer.
func Failures(o *Outcome) (n int) {
	for k := range o.Records {
		if o.Records[k].failed() {
			n++
		}
	}
	return n
}

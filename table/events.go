package table

import (
	"fmt"
	"slices"
	"strings"
)

// Event is how a column says whether the time of a row is that of an event.
type Event struct {
	Column string `json:"column"`
	// Value is the text or number of an event, Others are those of censored rows.
	Value  string   `json:"value"`
	Others []string `json:"others"`
}

// Names of columns of times and events where none are given.
var (
	survivalTimes  = []string{"y", "time"}
	survivalEvents = []string{"event", "status"}
)

// Words for events and for what is censored, in small letters.
var (
	eventWords = []string{"true", "t", "yes", "y", "event", "dead", "died", "death", "deceased", "failed", "failure",
		"relapse", "relapsed", "uncensored"}
	censoredWords = []string{"false", "f", "no", "n", "none", "censored", "censor", "alive", "living", "lost", "no event"}
)

// findEvents makes the columns of times and events the targets: that of Wanted.Targets, or a usual name, and that of
// Wanted.Event.
func (d *Design) findEvents() {
	t, name := d.table, d.wanted.Event
	if len(d.wanted.Targets) == 0 {
		if k := slices.IndexFunc(survivalTimes, func(s string) bool { return t.Index(s) >= 0 }); k >= 0 {
			d.targets = []int{t.Index(survivalTimes[k])}
		} else {
			d.wrong.add(t.header, "", "has no column %s: name the column of times by Wanted.Targets; the columns are: %s",
				quote(survivalTimes[1]), list(t.Names()))
		}
	}
	if name == noEvents && t.Index(name) < 0 {
		if len(d.targets) > 0 {
			checkTimes(t, d.targets[0], d.wrong)
		}
		return
	}
	if name == "" {
		k := slices.IndexFunc(survivalEvents, func(s string) bool { return t.Index(s) >= 0 })
		if k < 0 && len(d.targets) > 0 {
			if row, _ := t.negative(d.targets[0]); row >= 0 {
				d.findings = found(d.findings, "event", []FoundColumn{{Name: t.columns[d.targets[0]].Name}},
					"%s: rows with a negative time are censored, all others have an event")
				return
			}
		}
		if k < 0 {
			d.wrong.add(t.header, "", "has no column %s: name the column that says whether the event came by Wanted.Event, or "+
				"Wanted.Event none where it came in all rows; the columns are: %s", quote(survivalEvents[0]), list(t.Names()))
			return
		}
		name = survivalEvents[k]
	}
	d.event = &Event{Column: name}
	if column, value, found := strings.Cut(name, "="); found && t.Index(name) < 0 {
		d.event.Column, d.event.Value = column, value
	}
	found := d.columns("Wanted.Event", []string{d.event.Column})
	if slices.Contains(d.targets, slices.Concat(found, []int{-1})[0]) {
		d.wrong.add(t.header, "", "the column %s is that of times and of events", quote(d.event.Column))
		return
	}
	d.targets = append(d.targets, found...)
}

// noEvents says in the place of a column that all rows have an event.
const noEvents = "none"

// negative is a row in which a column has a number below 0, and that; -1 for none.
func (t *Table) negative(j int) (row int, x float64) {
	for i, v := range t.eachOf(j) {
		if x := t.columns[j].value(v); x < 0 {
			return i, x
		}
	}
	return -1, 0
}

// checkEvents finds out which value of the column of events is the event, and checks the times of the rows.
func (d *Design) checkEvents() {
	t := d.table
	j := d.targets[1]
	c := &t.columns[j]
	levels, _ := t.levels(j, nil)
	if c.overflow || len(levels) == 0 {
		d.wrong.add(0, t.field(j), "%d values, expected 0 and 1, or two texts, for censored rows and events", len(levels))
		return
	}
	if why := d.event.choose(levels); why != "" {
		d.wrong.add(0, t.field(j), "%s", why)
		return
	}
	d.event.Others = slices.DeleteFunc(slices.Clone(levels), func(s string) bool { return s == d.event.Value })
	words := strings.Join(d.event.Others, ", ")
	if words == "" {
		words = "none"
	}
	d.findings = found(d.findings, "event", []FoundColumn{{Name: c.Name}}, "%s: an event where it is "+strings.ReplaceAll(
		d.event.Value, "%", "%%")+"; censored: "+strings.ReplaceAll(words, "%", "%%"))
	checkTimes(t, d.targets[0], d.wrong)
}

// choose sets the value of an event, and says why it cannot.
func (e *Event) choose(levels []string) string {
	if e.Value != "" {
		if k := indexOf(levels, e.Value); k >= 0 {
			e.Value = levels[k]
			return ""
		}
		return fmt.Sprintf("no row has %s, the value of events by Wanted.Event; there are: %s", quote(e.Value), list(levels))
	}
	numbers := func(of ...string) bool {
		return !slices.ContainsFunc(levels, func(s string) bool { return !slices.Contains(of, s) })
	}
	switch {
	case numbers("0", "1"):
		e.Value = "1"
		return ""
	case numbers("1", "2") && slices.Contains(levels, "2"):
		e.Value = "2"
		return ""
	}
	var events, others []string
	for _, s := range levels {
		if slices.Contains(eventWords, strings.ToLower(s)) {
			events = append(events, s)
		}
		if slices.Contains(censoredWords, strings.ToLower(s)) {
			others = append(others, s)
		}
	}
	switch {
	case len(levels) == 2 && len(events) == 1:
		e.Value = events[0]
	case len(levels) == 2 && len(others) == 1:
		e.Value = levels[1-slices.Index(levels, others[0])]
	default:
		return fmt.Sprintf("it is not clear which of the values %s is the event, expected 0 and 1, 1 and 2, or two texts "+
			"such as TRUE and FALSE: name it by Wanted.Event %s=VALUE", list(levels), e.Column)
	}
	return ""
}

// checkTimes says why the numbers of a column are no times.
func checkTimes(t *Table, j int, wrong *faults) {
	if i, x := t.negative(j); i >= 0 {
		wrong.add(t.Line(i), t.field(j), "the time %s found, expected numbers that are not negative", formatNumber(x))
	}
}

// Survival are the times of rows, minus them for censored ones; NaN where either is missing, and nil where the targets
// are no times or not there.
func (r *Reading) Survival(rows []int) []float64 {
	if r.encoder.Event == nil || len(r.targets) < 2 {
		return nil
	}
	times, events := r.target(0, rows), r.target(1, rows)
	for k, e := range events {
		switch {
		case e != e:
			times[k] = e
		case e == 0:
			times[k] = -times[k]
		}
	}
	return times
}

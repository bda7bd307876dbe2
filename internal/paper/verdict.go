package paper

import (
	"fmt"
	"slices"
	"strings"
)

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
	return text + fmt.Sprintf("not within one standard error of the best other method, %s: %s against %s", v.Best.Method.Title, v.ours.String(), v.least.String())
}

// MeasureNames are the names of the columns of errors in the order of the tables.
func MeasureNames() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// verdicts compare VF-iDCA with the best line of another method, measure by measure: the iterate of the paper's settings, the
// refit of ours; and its validation error, where our defaults leave the gap open, of the run that closes it.
func verdicts(lines []Line) []Verdict {
	var out []Verdict
	others := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return strings.HasPrefix(l.Method.Name, "vf-idca") })
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

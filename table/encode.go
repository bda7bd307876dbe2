package table

import (
	"fmt"
	"math"
	"slices"
)

// Coding is how a column becomes features.
type Coding struct {
	Column string `json:"column"`
	Kind   string `json:"kind"`
	// Fill stands in the place of a missing number.
	Fill float64 `json:"fill"`
	// Levels of a category, the reference first.
	Levels []string `json:"levels,omitempty"`
	// Missing says that there is a feature for missing values.
	Missing bool `json:"missing,omitempty"`
	// Layout is that of dates, as in package time.
	Layout string `json:"layout,omitempty"`
	// Range is the least and the largest number of the training rows; nil for categories, and where no row has one.
	Range []float64 `json:"range,omitempty"`
}

// Encoder turns the columns of tables into features, as it was learned from training rows.
type Encoder struct {
	Columns []Coding `json:"columns"`
	// Rule is what becomes of missing values.
	Rule string `json:"missing"`
	// Spellings of missing values, see [Options].Missing.
	Spellings []string `json:"missing_spellings,omitempty"`
	// Labels are the texts of a target of labels: the first is 0, the second 1, and so on. Without them targets are
	// numbers.
	Labels []string `json:"labels,omitempty"`
	// Event is how a target of times is completed; nil for other targets.
	Event *Event `json:"event,omitempty"`
}

// OfNumbers is the encoder of columns that are features as they are: numbers, none of which is missing.
func OfNumbers(names []string) *Encoder {
	e := &Encoder{Rule: Reject}
	for _, name := range names {
		e.Columns = append(e.Columns, Coding{Column: name, Kind: Number})
	}
	return e
}

// missingLevel is the level of missing values in names of features.
const missingLevel = "(missing)"

// Features are the names of those of the column.
func (c *Coding) Features() (names []string) {
	if c.Kind == Category {
		for _, level := range c.Levels[min(1, len(c.Levels)):] {
			names = append(names, c.Column+"="+level)
		}
	} else {
		names = append(names, c.Column)
	}
	if c.Missing {
		names = append(names, c.Column+"="+missingLevel)
	}
	return names
}

// Features are the names of all features, in their order.
func (e *Encoder) Features() (names []string) {
	for k := range e.Columns {
		names = append(names, e.Columns[k].Features()...)
	}
	return names
}

// Validate rejects what no encoder is.
func (e *Encoder) Validate() error {
	if len(e.Columns) == 0 {
		return fmt.Errorf("an encoding without columns")
	}
	for _, c := range e.Columns {
		switch {
		case c.Kind != Number && c.Kind != Category && c.Kind != Date:
			return fmt.Errorf("the column %q is of the kind %q, expected %s, %s or %s", c.Column, c.Kind, Number, Category, Date)
		case c.Kind == Category && !unique(c.Levels):
			return fmt.Errorf("the column %q has a level twice", c.Column)
		case c.Range != nil && len(c.Range) != 2:
			return fmt.Errorf("the column %q has a range of %d numbers, expected two", c.Column, len(c.Range))
		case !(math.Abs(c.Fill) <= math.MaxFloat64):
			return fmt.Errorf("the column %q has the fill %v, expected a finite number", c.Column, c.Fill)
		}
	}
	if names := e.Features(); !unique(names) {
		return fmt.Errorf("two features have the same name")
	}
	if e.Labels != nil && (len(e.Labels) < 2 || !unique(e.Labels)) {
		return fmt.Errorf("%d labels, expected two that differ, or more", len(e.Labels))
	}
	if v := e.Event; v != nil && (v.Column == "" || v.Value == "" || e.Labels != nil ||
		slices.Contains(v.Others, v.Value)) {
		return fmt.Errorf("the column of events %q with the value %q is none", v.Column, v.Value)
	}
	return nil
}

func unique(names []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names)
}

// often is the share of training rows from which on missing values have a feature, if as many have none: else it is
// that of a few rows.
const often = 0.05

// Fit learns from rows of the table, those of training, how its columns become features. The error wraps
// [*formats.Error]s.
func (d *Design) Fit(rows []int) (*Encoder, error) {
	t := d.table
	e := &Encoder{Rule: d.wanted.Missing, Spellings: t.missing, Labels: d.labels, Event: d.event}
	var numbers []int // columns, and which coding they are
	var codings []int
	for _, j := range d.features {
		c := &t.columns[j]
		coding := Coding{Column: c.Name, Kind: c.Kind, Layout: c.layout}
		if d.category[j] {
			levels, missing := t.levels(j, rows)
			coding.Kind, coding.Levels, coding.Layout = Category, levels, ""
			coding.Missing = float64(missing) > often*float64(len(rows))
		} else {
			numbers, codings = append(numbers, j), append(codings, len(e.Columns))
			if c.Missing > 0 {
				missing := 0
				for _, i := range rows {
					if isMissing(t.cell(i, j)) {
						missing++
					}
				}
				share := float64(missing) / float64(len(rows))
				coding.Missing = share > often && share <= 1-often
			}
		}
		e.Columns = append(e.Columns, coding)
	}
	for k, v := range t.fills(rows, numbers, e.Rule) {
		e.Columns[codings[k]].Fill = v
	}
	for k, r := range t.ranges(rows, numbers) {
		if r[0] <= r[1] {
			e.Columns[codings[k]].Range = r[:]
		}
	}
	if len(e.Features()) == 0 {
		return nil, oneError(t.name, "no column has two values in the training rows, expected at least one feature")
	}
	if err := e.Validate(); err != nil {
		return nil, oneError(t.name, err.Error())
	}
	return e, nil
}

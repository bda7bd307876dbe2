package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
)

// Coding is how a column becomes features.
type Coding struct {
	Column string `json:"column"`
	Kind   string `json:"kind"`
	// Fill stands in the place of a missing number, or where it is there a sum of features of Others, whose own gaps have
	// their Fill.
	Fill   float64 `json:"fill"`
	Others *Sum    `json:"others,omitempty"`
	// Levels of a category, the reference first. Of an Ordered one the feature of a level is 1 from that level on.
	Levels  []string `json:"levels,omitempty"`
	Ordered bool     `json:"ordered,omitempty"`
	// Basis has the features of a number or date in the place of itself; nil for none.
	Basis *Basis `json:"basis,omitempty"`
	// Missing says that there is a feature for missing values.
	Missing bool `json:"missing,omitempty"`
	// Layout is that of dates, as in package time.
	Layout string `json:"layout,omitempty"`
	// Range is the least and the largest number of the training rows; nil for categories, and where no row has one.
	Range []float64 `json:"range,omitempty"`
}

// Sum is a constant and weights times features.
type Sum struct {
	Constant float64  `json:"constant"`
	Weights  []Weight `json:"weights"`
}

// weights are those of a sum, none of nil.
func (s *Sum) weights() []Weight {
	if s == nil {
		return nil
	}
	return s.Weights
}

// Weight is that of a feature in a [Sum].
type Weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`
}

// Encoder turns the columns of tables into features, as it was learned from training rows.
type Encoder struct {
	Columns []Coding `json:"columns"`
	// Interactions have the names of two columns or more, all products of whose features are features; a gap is what
	// stands in its place, and of a category the reference.
	Interactions [][]string `json:"interactions,omitempty"`
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

// made are the names of the features of the column without that of missing values.
func (c *Coding) made() (names []string) {
	switch between := "="; {
	case c.Kind == Category:
		if c.Ordered {
			between = ">="
		}
		for _, level := range c.Levels[min(1, len(c.Levels)):] {
			names = append(names, c.Column+between+level)
		}
	case c.Basis != nil:
		for _, ending := range c.Basis.Names {
			names = append(names, c.Column+ending)
		}
	default:
		names = append(names, c.Column)
	}
	return names
}

// Element is what features of a column are sums of: 1 in the rows of a level of a category, or a function of a number.
type Element struct {
	Level    string
	Function Function
}

// Elements are those of the features but that of missing values, and the weights by which each feature is their sum.
func (c *Coding) Elements() (list []Element, weights [][]float64) {
	switch {
	case c.Kind == Category:
		levels := c.Levels[min(1, len(c.Levels)):]
		for k, level := range levels {
			list, weights = append(list, Element{Level: level}), append(weights, make([]float64, len(levels)))
			for l := range levels {
				if l == k || c.Ordered && l > k {
					weights[k][l] = 1
				}
			}
		}
		return list, weights
	case c.Basis == nil:
		return []Element{{Function: Function{Kind: Power, Scale: 1, Power: 1}}}, [][]float64{{1}}
	}
	for _, f := range c.Basis.Functions {
		list = append(list, Element{Function: f})
	}
	return list, c.Basis.Weights
}

// Features are the names of those of the column.
func (c *Coding) Features() []string {
	names := c.made()
	if c.Missing {
		names = append(names, c.Column+"="+missingLevel)
	}
	return names
}

// Features are the names of all features, in their order: those of columns, and then of interactions.
func (e *Encoder) Features() (names []string) {
	for _, t := range e.Terms() {
		names = append(names, t.Features...)
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
		case c.Kind == Category && (c.Basis != nil || c.Others != nil):
			return fmt.Errorf("the column %q is a category with the functions of a number", c.Column)
		}
		if err := c.Basis.validate(); err != nil {
			return fmt.Errorf("the column %q: %w", c.Column, err)
		}
	}
	if err := e.validateTerms(); err != nil {
		return err
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
	for _, j := range d.features {
		c := &t.columns[j]
		coding := Coding{Column: c.Name, Kind: c.Kind, Layout: c.layout}
		levels, missing := []string(nil), 0
		if d.category[j] {
			levels, missing = t.levels(j, rows)
			coding.Kind, coding.Levels, coding.Layout = Category, levels, ""
		} else if c.Missing > 0 {
			for _, i := range rows {
				if isMissing(t.cell(i, j)) {
					missing++
				}
			}
		}
		switch share := float64(missing) / float64(len(rows)); {
		case e.Rule == Level:
			coding.Missing = missing > 0 && (d.category[j] || missing < len(rows))
		case d.category[j]:
			coding.Missing = float64(missing) > often*float64(len(rows))
		default:
			coding.Missing = share > often && share <= 1-often
		}
		if err := d.form(&coding, j, rows); err != nil {
			return nil, err
		}
		e.Columns = append(e.Columns, coding)
	}
	for _, columns := range d.interactions {
		e.Interactions = append(e.Interactions, t.namesOf(columns))
	}
	if len(e.Features()) == 0 {
		return nil, oneError(t.name, "no column has two values in the training rows, expected at least one feature")
	}
	r, err := e.through(t, nil, true)
	if err != nil {
		return nil, err
	}
	r.learn(rows, true)
	if err := e.Validate(); err != nil {
		return nil, oneError(t.name, err.Error())
	}
	return e, nil
}

// Encode makes the data of some rows, sparse or not. A missing target is NaN; without targets Y is nil. Dense rows that
// stand in the table as they are are shared.
func (r *Reading) Encode(rows []int, compressed bool) *dataset.Data {
	d := &dataset.Data{Features: r.names}
	if r.targets != nil {
		d.Target = r.table.columns[r.targets[0]].Name
		if d.Y = r.Survival(rows); d.Y == nil {
			d.Y = r.target(0, rows)
		}
	}
	if compressed {
		d.X = r.compressed(rows)
		return d
	}
	if r.inPlace() {
		first := r.slots[0].column
		d.X = dataset.InPlace(len(rows), r.width, func(k int) []float64 {
			_, cells := r.table.row(rows[k])
			return cells[first : first+r.width : first+r.width]
		})
		return d
	}
	x := mat.NewDense(len(rows), r.width, nil)
	r.table.sideBySide(len(r.slots)+len(r.products), func(from, to int) {
		var list []entry
		for k, i := range rows {
			row := x.RawRowView(k)
			list = r.features(list[:0], i, from, to)
			for _, e := range list {
				row[e.feature] = e.value
			}
		}
	})
	d.X = x
	return d
}

// inPlace says that the features of a row are cells of the table, side by side, none of them missing, and of which
// nothing is counted.
func (r *Reading) inPlace() bool {
	if r.predicts || len(r.products) > 0 || r.table.compressed() {
		return false
	}
	for k, s := range r.slots {
		c := &r.table.columns[s.column]
		if s.column != r.slots[0].column+k || s.coding.Kind != Number || s.coding.Basis != nil || s.coding.Missing ||
			c.Missing+c.Texts > 0 {
			return false
		}
	}
	return true
}

// compressed are the nonzeros of rows, and missing numbers.
func (r *Reading) compressed(rows []int) *sparse.CSR {
	start := make([]int, 1, len(rows)+1)
	var index []int
	var value []float64
	var list []entry
	byFeature := func(a, b entry) int { return cmp.Compare(a.feature, b.feature) }
	for _, i := range rows {
		list = r.features(list[:0], i, 0, len(r.slots)+len(r.products))
		if !slices.IsSortedFunc(list, byFeature) {
			slices.SortFunc(list, byFeature)
		}
		for _, e := range list {
			index, value = append(index, e.feature), append(value, e.value)
		}
		start = append(start, len(index))
	}
	return sparse.NewCSR(len(rows), r.width, start, index, value)
}

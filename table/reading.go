package table

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/words"
)

// slot is a column of a table as a coding reads it.
type slot struct {
	column  int
	at      int // the first feature
	coding  *Coding
	values  []float64         // of the texts, for numbers and dates
	texts   []int32           // features of the texts, for categories; reference or stranger
	numbers map[float64]int32 // features of numbers, for categories
	missing int32             // feature of missing values, or reference
	width   int               // features without that of missing values
	others  [][]float64       // weights of features of slots in the sum for a missing number; nil without
	unseen  FoundColumn
	filled  FoundColumn // missing values in whose place the fill or the reference stands
	outside FoundColumn // numbers outside of the range of the training rows
}

// product are the features of an interaction, the first of which has a place.
type product struct {
	slots []int
	at    int
}

const (
	reference = -1
	stranger  = -2
)

// Reading is a table read through an encoder.
type Reading struct {
	table    *Table
	encoder  *Encoder
	targets  []int
	slots    []slot
	products []product
	byColumn []int32 // slots of columns, -1 for none
	zeros    []int   // slots for which a zero is not nothing
	width    int
	names    []string
	rows     []int
	findings []Finding
	predicts bool // targets are optional
}

// Read finds the columns of the encoder and the targets in a table, by name and in any order; other columns pass. With
// optional, the targets need not be there. The error wraps [*formats.Error]s.
func (e *Encoder) Read(t *Table, targets []string, optional bool) (*Reading, error) {
	r, err := e.through(t, targets, optional)
	if err != nil {
		return nil, err
	}
	return r, r.findRows(optional)
}

// through is the reading of a table whose rows are yet to be found.
func (e *Encoder) through(t *Table, targets []string, optional bool) (*Reading, error) {
	r := &Reading{table: t, encoder: e, byColumn: make([]int32, len(t.columns)), names: e.Features(),
		predicts: optional}
	wrong := &faults{File: t.name}
	r.width = len(r.names)
	for j := range r.byColumn {
		r.byColumn[j] = -1
	}
	at := 0
	names := make(map[string]int, len(t.columns))
	for j := range t.columns {
		names[t.columns[j].Name] = j
	}
	var lacking []string
	for k := range e.Columns {
		coding := &e.Columns[k]
		j, there := names[coding.Column]
		if !there {
			lacking = append(lacking, coding.Column)
			continue
		}
		s := slot{column: j, at: at, coding: coding, missing: reference, width: len(coding.made())}
		at += len(coding.Features())
		r.prepare(&s, wrong)
		r.byColumn[j] = int32(len(r.slots))
		r.slots = append(r.slots, s)
	}
	for _, name := range targets {
		j, there := names[name]
		switch {
		case there:
			r.targets = append(r.targets, j)
			r.checkTarget(j, wrong)
		case !optional:
			lacking = append(lacking, name)
		}
	}
	if len(r.targets) < len(targets) {
		r.targets = nil
	}
	if lacking != nil {
		wrong.add(t.header, "", "lacks %s %s; there are: %s%s", words.Plural(len(lacking), "column"), list(lacking),
			list(t.Names()), similar(lacking[0], t.Names()))
	}
	if err := wrong.err(); err != nil {
		return nil, err
	}
	for _, t := range e.products() {
		r.products = append(r.products, product{t.Columns, at})
		at += len(t.Features)
	}
	if e.Rule == Regression {
		r.link()
	}
	return r, nil
}

// link looks up the features of sums that stand in the place of missing numbers.
func (r *Reading) link() {
	owner := r.encoder.owners()
	for k := range r.slots {
		s := &r.slots[k]
		if s.others = nil; s.coding.Others == nil {
			continue
		}
		s.others = make([][]float64, len(r.slots))
		for _, w := range s.coding.Others.Weights {
			of := &r.slots[owner[w.Feature]]
			if s.others[owner[w.Feature]] == nil {
				s.others[owner[w.Feature]] = make([]float64, of.width)
			}
			s.others[owner[w.Feature]][slices.Index(r.names[of.at:], w.Feature)] = w.Weight
		}
	}
}

// prepare looks the texts and numbers of a column up.
func (r *Reading) prepare(s *slot, wrong *faults) {
	t, c := r.table, &r.table.columns[s.column]
	if s.coding.Missing {
		s.missing = int32(s.at + len(s.coding.Features()) - 1)
	}
	if s.coding.Kind == Category {
		feature := make(map[string]int32, len(s.coding.Levels))
		s.numbers = map[float64]int32{}
		for k, level := range s.coding.Levels {
			f := int32(s.at + k - 1)
			if k == 0 {
				f = reference
			}
			feature[spelled(level)] = f
			if v, ok := plainNumber(level); ok {
				s.numbers[v] = f
			}
		}
		s.texts = make([]int32, len(c.texts))
		for k, text := range c.texts {
			f, known := feature[spelled(text)]
			if !known {
				f = stranger
			}
			s.texts[k] = f
		}
		if s.feature(0) != reference {
			r.zeros = append(r.zeros, len(r.slots))
		}
		return
	}
	if s.coding.Basis != nil {
		r.zeros = append(r.zeros, len(r.slots))
	}
	s.values = make([]float64, len(c.texts))
	bad := map[int]bool{}
	for k, text := range c.texts {
		ok := false
		if s.coding.Kind == Date {
			s.values[k], ok = parseDate(text, s.coding.Layout)
		} else {
			s.values[k], _, ok = looseNumber(text, t.dialect.Decimal)
		}
		if !ok {
			bad[k] = true
		}
	}
	numbers := t.rows - c.Missing - c.Texts
	if len(bad) == 0 && !c.overflow && (s.coding.Kind == Number || numbers == 0) {
		return
	}
	expected := "a number, as the column has in the training rows"
	if s.coding.Kind == Date {
		expected = "a date such as " + s.coding.Layout
	}
	for i, v := range t.eachOf(s.column) {
		code, ok := textCode(v)
		text, _ := c.level(v)
		if ok && (int(code) >= len(c.texts) || bad[int(code)]) || s.coding.Kind == Date && v == v {
			wrong.add(t.Line(i), t.field(s.column), "%s found, expected %s", quote(text), expected)
			return
		}
	}
}

// plainNumber reads the level of a category that is a number.
func plainNumber(level string) (float64, bool) {
	v, _, ok := looseNumber(level, '.')
	return v, ok && formatNumber(v) == level
}

// feature is that of a cell of a category: its number, reference or stranger.
func (s *slot) feature(v float64) int32 {
	if v == v {
		if f, known := s.numbers[v]; known {
			return f
		}
		return stranger
	}
	if code, ok := textCode(v); ok {
		if int(code) < len(s.texts) {
			return s.texts[code]
		}
		return stranger
	}
	return s.missing
}

// checkTarget says why a column cannot be the target of this encoder.
func (r *Reading) checkTarget(j int, wrong *faults) {
	t, c := r.table, &r.table.columns[j]
	if c.Kind == Empty {
		return
	}
	labels, what := r.encoder.Labels, "the label "
	switch e := r.encoder.Event; {
	case e != nil && c.Name == e.Column:
		labels, what = append([]string{e.Value}, e.Others...), ""
	case e != nil:
		checkTimes(t, j, wrong)
	}
	fits := func(v float64) bool { return !math.IsNaN(c.value(v)) }
	if labels != nil {
		fits = byCell(func(v float64) bool {
			text, _ := c.level(v)
			return indexOf(labels, text) >= 0
		})
	}
	for i, v := range t.eachOf(j) {
		if isMissing(v) || fits(v) {
			continue
		}
		text, _ := c.level(v)
		if labels == nil {
			wrong.add(t.Line(i), t.field(j), "%s found, expected a number", quote(text))
			return
		}
		known := "one of " + list(labels)
		if len(labels) == 2 && what != "" {
			known = quote(labels[0]) + " or " + quote(labels[1])
		}
		wrong.add(t.Line(i), t.field(j), "%s%s found, expected %s", what, quote(text), known)
		return
	}
}

// findRows leaves rows out that lack what they need.
func (r *Reading) findRows(optional bool) error {
	t := r.table
	var columns []int
	for k := range r.slots {
		columns = append(columns, r.slots[k].column)
	}
	columns, targets := t.withGaps(columns), t.withGaps(r.targets)
	wrong := &faults{File: t.name}
	gone, gaps := 0, 0
	for i := range t.rows {
		lacks := t.lacks(i, columns)
		switch {
		case lacks && r.encoder.Rule == Reject:
			wrong.add(t.Line(i), "", "has a missing value, and the model was made with Wanted.Missing error")
			return wrong
		case !optional && t.lacks(i, targets):
			gone++
			continue
		case lacks && r.encoder.Rule == DropRows:
			if gaps++; !optional {
				continue
			}
		}
		r.rows = append(r.rows, i)
	}
	if gone > 0 {
		r.findings = append(r.findings, Finding{Kind: "rows", Text: fmt.Sprintf("%s without a target left out",
			words.Count(gone, "row"))})
	}
	if gaps > 0 && !optional {
		r.findings = append(r.findings, Finding{Kind: "rows", Text: fmt.Sprintf("%s with missing values left out",
			words.Count(gaps, "row"))})
	}
	if len(r.rows) == 0 {
		wrong.add(0, "", "no row is left: all %d lack the target or other values", t.rows)
		return wrong
	}
	return nil
}

// Rows are those that can be used; where targets are optional, all.
func (r *Reading) Rows() []int { return r.rows }

// Findings are what the user should know about the rows that are left out, and those of [Reading.Unseen]; where targets
// are optional also what stands in the place of missing values, and which numbers are outside of the training rows'.
func (r *Reading) Findings() []Finding {
	list := slices.Clip(r.findings)
	if r.predicts {
		list = found(list, "missing", r.cells(func(s *slot) FoundColumn { return s.filled }), "missing values in %s: the "+
			fillOf(r.encoder.Rule)+" or the reference of the training rows is put in their place")
	}
	list = append(list, r.Unseen()...)
	if r.predicts {
		list = found(list, "range", r.cells(func(s *slot) FoundColumn { return s.outside }),
			"%s: values outside of the range of the training rows")
	}
	return list
}

// cells are those of a kind in each column, of the rows that were encoded so far.
func (r *Reading) cells(of func(*slot) FoundColumn) (list []FoundColumn) {
	for k := range r.slots {
		if c := of(&r.slots[k]); c.Count > 0 {
			c.Name = r.slots[k].coding.Column
			list = append(list, c)
		}
	}
	return list
}

// Follow adds what was found in the part of the table before, which was read through the same encoder, see
// [File.ReadParts]. It is called when the rows of both are encoded.
func (r *Reading) Follow(before *Reading) {
	for k := range r.slots {
		s, b := &r.slots[k], &before.slots[k]
		s.unseen.follow(b.unseen)
		s.filled.follow(b.filled)
		s.outside.follow(b.outside)
	}
}

// Unseen tells which levels of the rows that were encoded so far the training rows do not have.
func (r *Reading) Unseen() []Finding {
	return found(nil, "level", r.cells(func(s *slot) FoundColumn { return s.unseen }),
		"%s: levels that the training rows do not have, taken as the reference")
}

// Sparse says whether less than a quarter of the features of all rows is not zero, so that data are better kept sparse.
func (r *Reading) Sparse() bool {
	n, nonzero := float64(r.table.rows), 0.0
	of := func(s *slot) float64 { // without features of missing values
		c := &r.table.columns[s.column]
		switch {
		case s.coding.Ordered, s.coding.Basis != nil:
			return n * float64(s.width)
		case s.coding.Kind == Category:
			return n
		}
		return float64(c.nonzero + c.Texts + c.Missing)
	}
	for k := range r.slots {
		s := &r.slots[k]
		if nonzero += of(s); s.coding.Missing && s.coding.Kind != Category {
			nonzero += float64(r.table.columns[s.column].Missing)
		}
	}
	for _, p := range r.products {
		share := n
		for _, k := range p.slots {
			share *= of(&r.slots[k]) / n
		}
		nonzero += share
	}
	return r.width == 0 || 4*nonzero < n*float64(r.width)
}

// entry is a feature of a row.
type entry struct {
	feature int
	value   float64
}

// emit appends the features of a cell, and counts what was found.
func (r *Reading) emit(list []entry, s *slot, row int, v float64) []entry {
	t, gone := r.table, isMissing(v)
	switch {
	case s.coding.Kind != Category && !gone:
		s.within(t, row, s.number(v))
	case s.coding.Kind != Category, gone && s.missing == reference:
		s.filled.add(t.Line(row))
	case s.feature(v) == stranger:
		s.unseen.add(t.Line(row))
	}
	if list = r.entries(list, s, row, v, false); gone && s.missing >= 0 {
		list = append(list, entry{int(s.missing), 1})
	}
	return list
}

// number is that of a cell, NaN where it is missing.
func (s *slot) number(v float64) float64 {
	if code, text := textCode(v); text {
		return s.values[code]
	}
	return v
}

// entries appends the features of a cell that are not zero, and those that depend on training rows whatever they are,
// without that of missing values. Plain says that a missing number is what stands in its place by itself.
func (r *Reading) entries(list []entry, s *slot, row int, v float64, plain bool) []entry {
	gone := isMissing(v)
	if s.coding.Kind == Category {
		f := s.feature(v)
		if gone || f < 0 {
			return list
		}
		from := int(f)
		if s.coding.Ordered {
			from = s.at
		}
		for ; from <= int(f); from++ {
			list = append(list, entry{from, 1})
		}
		return list
	}
	x := s.number(v)
	if gone {
		x = s.coding.Fill
		if s.others != nil && !plain {
			x = r.sum(s, row)
		}
	}
	switch {
	case s.coding.Basis != nil:
		return s.coding.Basis.append(list, s.at, x)
	case v == 0:
		return list
	}
	return append(list, entry{s.at, x})
}

// sum is what the other columns of a row put in the place of a missing number, of a date a whole second.
func (r *Reading) sum(s *slot, row int) float64 {
	var room [8]entry
	x := s.coding.Others.Constant
	for k, weights := range s.others {
		if of := &r.slots[k]; weights != nil {
			for _, e := range r.entries(room[:0], of, row, r.table.cell(row, of.column), true) {
				x += weights[e.feature-of.at] * e.value
			}
		}
	}
	if s.coding.Kind == Date {
		const day = 86400
		x = math.Floor(day*x+0.5) / day
	}
	return x
}

// multiply appends the features of an interaction.
func (r *Reading) multiply(list []entry, p *product, row int) []entry {
	var left, right [16]entry
	products, own := append(left[:0], entry{0, 1}), right[:0]
	for _, k := range p.slots {
		s := &r.slots[k]
		own = r.entries(own[:0], s, row, r.table.cell(row, s.column), false)
		var next []entry
		for _, a := range products {
			for _, b := range own {
				next = append(next, entry{a.feature*s.width + b.feature - s.at, a.value * b.value})
			}
		}
		products = next
	}
	for _, e := range products {
		list = append(list, entry{p.at + e.feature, e.value})
	}
	return list
}

// within counts a number that is outside of the range of the training rows.
func (s *slot) within(t *Table, row int, v float64) {
	if r := s.coding.Range; r != nil && (v < r[0] || v > r[1]) {
		s.outside.add(t.Line(row))
	}
}

// features appends those of a row, where it has all cells of the slots, and then interactions, from from to to.
func (r *Reading) features(list []entry, i, from, to int) []entry {
	n := len(r.slots)
	index, cells := r.table.row(i)
	if index == nil {
		for k := from; k < min(to, n); k++ {
			s := &r.slots[k]
			list = r.emit(list, s, i, cells[s.column])
		}
	} else {
		for at, j := range index {
			if k := r.byColumn[j]; k >= 0 {
				list = r.emit(list, &r.slots[k], i, cells[at])
			}
		}
		for _, k := range r.zeros {
			if _, stored := slices.BinarySearch(index, int32(r.slots[k].column)); !stored {
				list = r.emit(list, &r.slots[k], i, 0)
			}
		}
	}
	for k := max(from, n); k < to; k++ {
		list = r.multiply(list, &r.products[k-n], i)
	}
	return list
}

// target are the values of a target: numbers, or 0 and 1 for two labels; NaN where it is missing.
func (r *Reading) target(k int, rows []int) []float64 {
	j, e := r.targets[k], r.encoder
	if e.Event == nil || r.table.columns[j].Name != e.Event.Column {
		return r.table.labelled(j, rows, e.Labels)
	}
	y := r.table.labelled(j, rows, []string{e.Event.Value})
	floats.AddConst(1, y) // -1 is no label, and NaN stays
	return y
}

// labelled are the numbers of labels in rows, or without labels those of the column; NaN where they are missing.
func (t *Table) labelled(j int, rows []int, labels []string) []float64 {
	if labels == nil {
		return t.numbers(j, rows)
	}
	label := byCell(func(v float64) float64 {
		if text, there := t.columns[j].level(v); there {
			return float64(indexOf(labels, text))
		}
		return math.NaN()
	})
	y := make([]float64, len(rows))
	for k, i := range rows {
		y[k] = label(t.cell(i, j))
	}
	return y
}

// Numbers are those of a column that is no feature in some rows; nil without a name. With gaps missing ones are NaN.
// The error wraps [*formats.Error]s.
func (r *Reading) Numbers(name string, rows []int, gaps bool) ([]float64, error) {
	if name == "" {
		return nil, nil
	}
	t, wrong := r.table, &faults{File: r.table.name}
	j := t.Index(name)
	if j < 0 {
		wrong.add(t.header, "", "lacks column %s; there are: %s%s", list([]string{name}), list(t.Names()),
			similar(name, t.Names()))
		return nil, wrong
	}
	c := &t.columns[j]
	if c.Texts > 0 {
		wrong.add(c.textLines[0], t.field(j), "texts found (%s), expected numbers", atLines(c.textLines, c.Texts))
		return nil, wrong
	}
	out := t.numbers(j, rows)
	if k := slices.IndexFunc(out, math.IsNaN); k >= 0 && !gaps {
		wrong.add(t.Line(rows[k]), t.field(j), "missing value, expected a number")
		return nil, wrong
	}
	return out, nil
}

// numbers are those of a column of numbers or dates in rows, NaN where they are missing.
func (t *Table) numbers(j int, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = t.columns[j].value(t.cell(i, j))
	}
	return out
}

// Targets are the values of all targets, one after the other; nil where they are not there. Of times, the second one is
// 1 for events and 0 for censored rows.
func (r *Reading) Targets(rows []int) [][]float64 {
	var all [][]float64
	for k := range r.targets {
		all = append(all, r.target(k, rows))
	}
	return all
}

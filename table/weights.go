package table

// numeric is the column of numbers of this name; -1 where there is none, which is an error that says what was expected unless it is one already.
func (d *Design) numeric(name, expected string) int {
	t := d.table
	j := t.Index(name)
	if name == "" || j < 0 {
		return -1 // no column of this name is an error already
	}
	if c := &t.columns[j]; c.Kind != Number || c.Texts > 0 {
		line, what := 0, "no numbers"
		if c.Texts > 0 {
			line, what = c.textLines[0], "texts found ("+atLines(c.textLines, c.Texts)+")"
		}
		d.wrong.add(line, t.field(j), "%s, expected %s", what, expected)
		return -1
	}
	return j
}

// shift checks the column of the offset.
func (d *Design) shift() { d.numeric(d.wanted.Offset, "known terms of predictions: numbers") }

// weigh checks the column of weights, and leaves out the rows of weight 0.
func (d *Design) weigh() {
	t := d.table
	j := d.numeric(d.wanted.Weights, "weights of rows: numbers that are not negative")
	if j < 0 {
		return
	}
	c := &t.columns[j]
	kept, gone := make([]int, 0, len(d.rows)), FoundColumn{Name: c.Name}
	for _, i := range d.rows {
		switch w := c.value(t.cell(i, j)); {
		case w < 0:
			d.wrong.add(t.Line(i), t.field(j), "%s found, expected a weight that is not negative", formatNumber(w))
			return
		case w == 0:
			if gone.Count++; len(gone.Lines) < firstLines {
				gone.Lines = append(gone.Lines, t.Line(i))
			}
		default:
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 && gone.Count > 0 {
		d.wrong.add(0, t.field(j), "no row has a weight above 0")
		return
	}
	if gone.Count > 0 {
		d.rows = kept
		d.findings = found(d.findings, "rows", []FoundColumn{gone}, "%s: rows of weight 0, left out")
	}
}

// Weights are those of the rows by the wanted column; nil without one.
func (d *Design) Weights(rows []int) []float64 {
	j := d.table.Index(d.wanted.Weights)
	if d.wanted.Weights == "" || j < 0 {
		return nil
	}
	return d.numbersOf(j, rows)
}

// Offset is that of the rows by the wanted column; nil without one.
func (d *Design) Offset(rows []int) []float64 {
	j := d.table.Index(d.wanted.Offset)
	if d.wanted.Offset == "" || j < 0 {
		return nil
	}
	return d.numbersOf(j, rows)
}

// numbersOf are the numbers of a column in the rows.
func (d *Design) numbersOf(j int, rows []int) []float64 {
	list := make([]float64, len(rows))
	for k, i := range rows {
		list[k] = d.table.columns[j].value(d.table.cell(i, j))
	}
	return list
}

package table

// weigh checks the column of weights, and leaves out the rows of weight 0.
func (d *Design) weigh() {
	t, name := d.table, d.wanted.Weights
	j := t.Index(name)
	if name == "" || j < 0 {
		return // no column of this name is an error already
	}
	c := &t.columns[j]
	if c.Kind != Number || c.Texts > 0 {
		line, what := 0, "no numbers"
		if c.Texts > 0 {
			line, what = c.textLines[0], "texts found ("+atLines(c.textLines, c.Texts)+")"
		}
		d.wrong.add(line, t.field(j), "%s, expected weights of rows: numbers that are not negative", what)
		return
	}
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

// numbersOf are the numbers of a column in the rows.
func (d *Design) numbersOf(j int, rows []int) []float64 {
	list := make([]float64, len(rows))
	for k, i := range rows {
		list[k] = d.table.columns[j].value(d.table.cell(i, j))
	}
	return list
}

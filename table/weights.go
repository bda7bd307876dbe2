package table

// numeric is the column of numbers of this name; -1 where there is none, which is an error that says what was expected
// unless it is one already.
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
	kept, gone := t.weighing(j, d.rows, d.wrong)
	if gone.Count > 0 {
		d.rows = kept
		d.findings = found(d.findings, "rows", []FoundColumn{gone}, "%s: rows of weight 0, left out")
	}
}

// weighing are those of some rows whose weights, the numbers of a column, are not 0, and what it found of the others.
func (t *Table) weighing(j int, rows []int, wrong *Errors) (kept []int, gone FoundColumn) {
	c := &t.columns[j]
	gone.Name = c.Name
	for _, i := range rows {
		switch w := c.value(t.cell(i, j)); {
		case w < 0:
			wrong.add(t.Line(i), t.field(j), "%s found, expected a weight that is not negative", formatNumber(w))
			return kept, gone
		case w == 0:
			gone.add(t.Line(i))
		default:
			kept = append(kept, i)
		}
	}
	if kept == nil && gone.Count > 0 {
		wrong.add(0, t.field(j), "no row has a weight above 0")
	}
	return kept, gone
}

// Weighing are the rows of the reading whose weights, in a column of that name, are not 0; all without a name. The
// error is an [*Errors].
func (r *Reading) Weighing(name string) ([]int, error) {
	if _, err := r.Numbers(name, r.rows, false); err != nil || name == "" {
		return r.rows, err
	}
	wrong := &Errors{File: r.table.name}
	kept, _ := r.table.weighing(r.table.Index(name), r.rows, wrong)
	return kept, wrong.err()
}

// Values are the numbers of a column in the rows, or its dates in days since 1970-01-01; nil without a name. The column
// is that of the wanted weights, offset or time.
func (d *Design) Values(name string, rows []int) []float64 {
	j := d.table.Index(name)
	if name == "" || j < 0 {
		return nil
	}
	list := make([]float64, len(rows))
	for k, i := range rows {
		list[k] = d.table.columns[j].value(d.table.cell(i, j))
	}
	return list
}

package table

// weighing are those of some rows whose weights, the numbers of a column, are not 0, and what it found of the others.
func (t *Table) weighing(j int, rows []int, wrong *faults) (kept []int, gone FoundColumn) {
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
// error wraps [*formats.Error]s.
func (r *Reading) Weighing(name string) ([]int, error) {
	if _, err := r.Numbers(name, r.rows, false); err != nil || name == "" {
		return r.rows, err
	}
	wrong := &faults{File: r.table.name}
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
	return d.table.numbers(j, rows)
}

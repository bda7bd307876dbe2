package report

import (
	_ "embed"
	"strconv"

	"github.com/conetune/conetune/internal/paper"
	"github.com/conetune/conetune/internal/webpage"
)

//go:embed body.html
var body string

// glance says for every row how VF-iDCA stands; nil where there is nothing to say.
func glance(summaries []paper.Summary) *webpage.Table {
	t := &webpage.Table{ID: "table-glance", Caption: "VF-iDCA and the best of the other methods", Sortable: true, Columns: []webpage.Column{{Title: "data"}}}
	for _, name := range paper.MeasureNames() {
		t.Columns = append(t.Columns, webpage.Column{Title: name})
	}
	for _, s := range summaries {
		for _, r := range s.Rows {
			if len(r.Verdicts) == 0 {
				continue
			}
			row := webpage.Row{Cells: []webpage.Cell{{Text: s.Table.Name + " " + r.Row.Name}}}
			for _, name := range paper.MeasureNames() {
				row.Cells = append(row.Cells, standing(r.Verdicts, name))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// standing is the verdict on a measure in a few words, sorted from the best to the worst.
func standing(verdicts []paper.Verdict, measure string) webpage.Cell {
	c := webpage.Cell{Text: "-", Key: new(string)}
	for k := range verdicts {
		v := &verdicts[k]
		if v.Measure != measure {
			continue
		}
		*c.Key = strconv.Itoa(int(v.Standing()))
		switch v.Standing() {
		case paper.Leading:
			c.Text, c.Strong = "best", true
		case paper.Close:
			c.Text = "close to " + v.Best.Method.Title
		default:
			c.Text = "behind " + v.Best.Method.Title
		}
	}
	return c
}

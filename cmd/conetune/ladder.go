package main

import (
	"fmt"
	"slices"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/tune"
)

// climbs says that a run chooses a rung of a ladder, whose few weights do not outnumber validation rows.
func (job *tuneJob) climbs(m tune.Model) bool {
	return slices.Equal(job.methods, []string{tune.MethodVFiDCA}) && job.config.Climbs(m)
}

// rungOf says which rung of a ladder was taken; empty without.
func rungOf(r *tune.Result) string {
	if k := slices.IndexFunc(r.Ladder, func(r tune.Rung) bool { return r.Taken }); k >= 0 {
		return count(len(r.Lambda), "weight") + " on the rung " + r.Ladder[k].Name
	}
	return ""
}

// ladderTable are the rungs of a ladder; nil without.
func ladderTable(r *tune.Result) *webpage.Table {
	if len(r.Ladder) == 0 {
		return nil
	}
	t := &webpage.Table{ID: "ladder", Caption: "Rungs, the simplest first", Columns: []webpage.Column{
		{Title: "rung"}, {Title: "validation error", Number: true}, {Title: "above the least", Number: true},
		{Title: "standard error", Number: true}, {Title: "features", Number: true}, {Title: "taken"},
	}}
	for _, rung := range r.Ladder {
		taken := ""
		if rung.Taken {
			taken = "yes"
		}
		t.Rows = append(t.Rows, webpage.Row{Cells: []webpage.Cell{
			{Text: rung.Name}, {Text: number(rung.Validation)}, {Text: fmt.Sprintf("%.3g", rung.Above)},
			{Text: fmt.Sprintf("%.3g", rung.StandardError)}, {Text: fmt.Sprintf("%.1f", rung.Features)}, {Text: taken},
		}})
	}
	return t
}

package main

import (
	"strings"

	"github.com/conetune/conetune/table/input"
)

// flagsOf puts flags in the place of the options that errors and findings of libraries speak of, by their identifiers.
var flagsOf = strings.NewReplacer(
	"Source.Split", "--split", "Source.Test", "--test", "Source.Each", "--folds all",
	"Source.Data, Source.Train or Source.Dir says", "--data, --train or --dir says",
	"Wanted.Targets", "--target", "Wanted.Features", "--features", "Wanted.Drop", "--drop", "Wanted.Categorical", "--categorical", "Wanted.Labels", "--id",
	"Wanted.Missing", "--missing", "Wanted.Weights", "--weights", "Wanted.Offset", "--offset", "Wanted.Event", "--event",
	"Division.Fold", "--fold-column", "Division.Group", "--group", "Division.Time", "--time",
	"Options.Missing", "--na", "Options.Separator", "--sep", "Options.Decimal", "--decimal", "Options.Encoding", "--encoding",
	"Options.Comment", "--comment", "Options.Header", "--header", "Options.Sheet", "--sheet",
	"Config.Rung", "--rung", "Config.MaxIter", "--max-iter",
	"(GOMEMLIMIT gives more", "(--memory SIZE or GOMEMLIMIT gives more",
)

// flagged are findings with flags in the place of options.
func flagged(notes []input.Note) []input.Note {
	for k := range notes {
		notes[k].Text = flagsOf.Replace(notes[k].Text)
	}
	return notes
}

// Package export has the command conetune export.
package export

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model/export"
)

const help = `Write a model that conetune tune --save wrote in another language: a file that
predicts what conetune predict does, with the levels, gaps, dates and thresholds of the model, and needs nothing else.

python, r and go are programs with a function for rows and one for CSV files, and read texts as conetune predict does.
sql is a SELECT, pmml a RegressionModel of PMML 4.4 and onnx a graph with an input for each column: their columns have
types, numbers, texts and dates (onnx: days since 1970-01-01), and NULL, NaN or an empty text for a missing value.`

// Command is conetune export.
func Command(a *cli.App) *cobra.Command {
	target, out, o := "", cli.StandardStream, export.Options{Table: "data", Package: "predictor"}
	cmd := &cobra.Command{
		Use:   "export MODEL.json --to " + strings.Join(export.Targets(), "|"),
		Short: "Write a saved model in another language",
		Long:  help,
		Example: `  conetune export model.json --to python --out score.py && python3 score.py new.csv
  conetune export model.json --to sql --table visits`,
		Args: cli.One("model file", ""),
		RunE: func(_ *cobra.Command, args []string) error {
			if target == "" {
				return cli.BadInputf("--to LANGUAGE is missing, expected one of: %s", words.Joined(export.Targets()))
			}
			if err := cli.CheckOutput("--out", out, "the model", args[0]); err != nil {
				return err
			}
			m, err := a.ReadModel(args[0])
			if err != nil {
				return cli.BadInput(err)
			}
			var text strings.Builder
			if err := export.Write(&text, m, target, o); err != nil {
				return cli.BadInputf("%s: %w", args[0], err)
			}
			return a.WriteFile("--out", out, func(w io.Writer) error {
				_, err := io.WriteString(w, text.String())
				return err
			})
		},
	}
	cli.AddFlags(cmd,
		cli.NewFlag("to", &target, "`LANGUAGE`: "+words.Joined(export.Targets()), cli.Traits{Known: export.Targets()}),
		cli.NewFlag("out", &out, "write to `FILE` instead of standard output"),
		cli.NewFlag("table", &o.Table, "`NAME` of the table of --to sql"),
		cli.NewFlag("package", &o.Package, "`NAME` of the package of --to go"),
	)
	return cmd
}

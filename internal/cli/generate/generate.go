// Package generate is the command conetune generate, which writes the synthetic data of the experiments.
package generate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/synthetic"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/matcomp"
)

const generateHelp = `Write synthetic data as in the paper's experiments, in the form that
conetune tune MODEL --dir DIR reads: train.csv.gz, val.csv.gz, test.csv.gz.

Rows are normal with correlation 0.5^|j-k| between features j and k, 15 coefficients
at random places are 1 and the others 0, and the noise has half the norm of the
signal. All models without groups have these data; classifiers the sign of the target.
--preset is one of
%s,
or any name of that form: rows for training, validation and test, then p and the
number of features.

For sparse-group-lasso and group-lasso the features are independent, the coefficients begin with
1, 2, 3, 4, 5 in each third of the features and are 0 else, and groups.csv names M
equal consecutive groups; --preset is one of
%s.

For multi-task there are three targets, y1 to y3, which use the same features: the
coefficients are 1 for y1, and 1 plus a random number for the others.

For svm the rows are those of elastic-net, the label is the sign of what would be
their target, and the folder has data.csv.gz, folds.csv and test.csv.gz; --preset is
ROWS-TEST-pFEATURES-tFOLDS, such as %s. Other models without groups take
this form too.

For matrix-completion a matrix is the sum of effects of 36 row and 36 column features in 12
groups each, of which the first 4 and the first 2 matter, a part of rank one, and noise of half
its norm; all its entries are in observations.csv, most of them for the test. --preset is ROWS-COLS, such
as %s, or ROWS-COLS-TRAIN-VAL with the entries of each row and column that train and validate.`

// Command is the command.
func Command(a *cli.App) *cobra.Command {
	var preset, out string
	seed := uint64(1)
	cmd := &cobra.Command{
		Use:   "generate MODEL --out DIR",
		Short: "Write synthetic data with known coefficients",
		Long: fmt.Sprintf(generateHelp, words.Joined(dataset.InSets.Presets()), words.Joined(dataset.InGroups.Presets()),
			words.Joined(dataset.InFolds.Presets()),
			words.Joined(matcomp.Presets())),
		Example:   "  conetune generate elastic-net --preset 100-20-250-p250 --seed 1 --out data",
		ValidArgs: model.Names(),
		Args:      cli.One("model", "; known models are: "+words.Joined(model.Names())),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := cli.FindModel(args[0])
			if err != nil {
				return err
			}
			if err := cli.CheckFolder(out); err != nil {
				return err
			}
			made, err := cli.Interruptible(cmd.Context(), func() (*synthetic.Data, error) {
				d, err := synthetic.Draw(spec, preset, seed)
				if err != nil {
					err = cli.BadInputf("--preset: %w", err)
				}
				return d, err
			})
			if err != nil {
				return err
			}
			if err := made.Write(out); err != nil {
				return cli.BadInput(err)
			}
			return a.Print(out + ": " + made.String())
		},
	}
	cli.AddFlags(cmd,
		cli.NewFlag("preset", &preset, "sizes, `TRAIN-VAL-TEST-pFEATURES`, with groups also -mGROUPS (default: the first)"),
		cli.NewFlag("seed", &seed, "seed `N`; the same seed gives the same data"),
		cli.NewFlag("out", &out, "folder `DIR`, which must be new or empty"),
	)
	return cmd
}

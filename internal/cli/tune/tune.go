// Package tune is the command conetune tune: its flags, what they ask for, and the run.
package tune

import (
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/model"
)

// Command is the command.
func Command(a *cli.App) *cobra.Command {
	f := newTuneFlags()
	var helpAll bool
	cmd := &cobra.Command{
		Use:       "tune MODEL|--config FILE",
		Short:     "Choose hyperparameters for a table",
		Example:   tuneExample,
		ValidArgs: model.Names(),
		Args: func(cmd *cobra.Command, args []string) error {
			if helpAll {
				return nil
			}
			if k := slices.IndexFunc(args, isWhole); len(args) == 2 && k >= 0 && cmd.Flags().Changed("nested") {
				return cli.BadInputf("--nested takes its number as --nested=%s", args[k])
			}
			if len(args) > 1 || len(args) == 0 && f.configFile == "" {
				return cli.BadInputf("expected one model, got %d arguments; known models are: %s", len(args), words.Joined(model.Names()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if helpAll {
				return f.printHelp(cmd, true)
			}
			f.Data.Stdin = a.Stdin
			defer f.Data.Close()
			model, err := f.configured(args, cmd.Flags())
			if err != nil {
				return err
			}
			job, err := NewJob(model, f, cmd.Flags())
			if err != nil {
				return err
			}
			if job.run.Settings, err = f.settings(model, cmd.Flags()); err != nil {
				return err
			}
			for _, out := range f.outputs() {
				if err := a.ClaimOutput(out.flag, out.path, f.asJSON); err != nil {
					return err
				}
			}
			if f.config.Threads > 0 && f.config.Threads < runtime.GOMAXPROCS(0) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(f.config.Threads))
			}
			return tuneData(a, cmd.Context(), job)
		},
	}
	cmd.Flags().SortFlags = false
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&helpAll, "help-all", false, "help for tune, with all flags")
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = f.printHelp(cmd, false) }) // what is not written is known
	return cmd
}

// configured takes the settings of --config, and returns the model, which may be one of them.
func (f *tuneFlags) configured(args []string, fs *pflag.FlagSet) (name string, err error) {
	if len(args) > 0 {
		name = args[0]
	}
	if f.configFile == "" {
		return name, nil
	}
	list, err := ReadConfig(f.configFile, fs)
	if err != nil {
		return "", cli.BadInput(err)
	}
	if name, err = apply(list, f.configFile, name, fs); err == nil && name == "" {
		err = cli.BadInputf("%s: no model is set; give one, or the line model: NAME; known models are: %s", f.configFile, words.Joined(model.Names()))
	}
	return name, err
}

// isWhole says whether a text is a whole number.
func isWhole(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

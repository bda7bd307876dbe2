// Package root puts the commands of conetune together and runs a command line.
package root

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/batch"
	"github.com/conetune/conetune/internal/cli/bench"
	"github.com/conetune/conetune/internal/cli/export"
	"github.com/conetune/conetune/internal/cli/generate"
	"github.com/conetune/conetune/internal/cli/look"
	"github.com/conetune/conetune/internal/cli/predict"
	"github.com/conetune/conetune/internal/cli/solve"
	"github.com/conetune/conetune/internal/cli/tune"
	"github.com/conetune/conetune/internal/licenses"
)

// Run runs one command line and returns its exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	out := &cli.Output{W: stdout}
	a := &cli.App{Stdin: stdin, Stdout: out, Stderr: stderr, Args: args, Flags: tune.FlagsOf}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // --memory is for this command line
	defer func() {
		if p := recover(); p != nil {
			a.Note("conetune: internal error: %v\n%s", p, debug.Stack())
			code = cli.ExitInternal
		}
	}()
	root := rootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.Err // of what was written without looking
	}
	return a.End(ctx, err)
}

func rootCommand(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "conetune",
		Short: "Choose the hyperparameters of a model by bilevel optimisation",
		Long: `conetune chooses the hyperparameters of a regression model: those whose model,
fitted to the training rows, has the smallest error on the validation rows. It
solves that bilevel program with VF-iDCA, a sequence of convex conic programs.

Results go to standard output, everything else to standard error.
Where a file is written, - is standard output.
Exit status: 0 done; 1 ended without an answer of the asked quality (the status
says why), or a result could not be written; 2 bad usage or bad input; 70 the
program itself failed, which is a bug; 71 out of memory; 130 interrupted.`,
		Version:       cli.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,

		PersistentPreRunE: cli.CheckEmpty,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.BadInput(cli.FlagError(cmd.Flags(),
			err))
	})
	root.SetVersionTemplate("conetune {{.Version}}\n")
	root.AddCommand(tune.Command(a), batch.Command(a), predict.Command(a), predict.Show(a), export.Command(a),
		look.Command(a), generate.Command(a), solve.Command(a),
		solve.Backends(a), bench.Command(a),
		&cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(*cobra.Command,
			[]string) error {
			return a.Print("conetune " + cli.Version() + "\n")
		}},
		&cobra.Command{
			Use: "licenses", Short: "Print the licences of this program and of all that is linked into it", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { // as they are, in the encodings of their authors
				_, err := io.WriteString(a.Stdout, licenses.Text())
				return err
			},
		})
	return root
}

package main

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// run runs one command line and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	out := &output{w: stdout}
	a := &app{stdin: stdin, stdout: out, stderr: stderr, args: args, flags: flagsOf}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // --memory is for this command line
	defer func() {
		if p := recover(); p != nil {
			a.note("conetune: internal error: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err // of what was written without looking
	}
	return a.end(ctx, err)
}

func (a *app) rootCommand() *cobra.Command {
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
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,

		PersistentPreRunE: checkEmpty,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return badInput(flagError(cmd.Flags(), err)) })
	root.SetVersionTemplate("conetune {{.Version}}\n")
	root.AddCommand(a.tuneCommand(), a.batchCommand(), a.predictCommand(), a.showCommand(), a.generateCommand(), a.solveCommand(), a.backendsCommand(), a.benchCommand(), a.versionCommand(), a.licensesCommand())
	return root
}

// Package bench is the command conetune bench: the conic solvers compared, and the experiments of the paper.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/bench"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/internal/worklist"
)

// Command is the command.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the conic solvers, and repeat the paper's experiments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.BadInputf("bench: expected a subcommand: backends, paper or merge")
		},
	}
	cmd.AddCommand(backendsCommand(a), paperCommand(a), mergeCommand(a))
	return cmd
}

// benchFlags are the flags of conetune bench backends.
type benchFlags struct {
	bench.BackendsOptions
	models, backends, eps, html string
	asJSON                      bool
}

const benchBackendsHelp = `Compare the conic solvers on each application, on data that are made up by a seed:

  penalty form      the lower level with weighted penalties
  constrained form  the lower level with radii
  vf-idca           a whole run with the paper's settings, whose iterations solve
                    the constrained form and a second program

Everyone starts with the same numbers. The table has the time of set-up, solve
and check, the fastest of --repeats; the solver's iterations;
how often it was set up and updated; the largest relative residual, recomputed on
unscaled data; and the error, the distance of the objective from that of a reference solved to
1e-10, relative to max(1, |f|), violations of the constraints included. For a run it
is that of the validation error.

First-order solvers, and those that take cones by sequences of programs, run at tolerances 1e-3, 1e-5 and 1e-8, so
that the table says which accuracy a time has bought, the others at 1e-8; --eps sets other ones for all.
What a solver cannot take is in the table, with the reason.`

func backendsCommand(a *cli.App) *cobra.Command {
	f := benchFlags{BackendsOptions: bench.BackendsOptions{Repeats: 3, TimeLimit: time.Minute}}
	cmd := &cobra.Command{
		Use:   "backends",
		Short: "Compare the conic solvers on each application: time, accuracy, iterations",
		Long:  benchBackendsHelp,
		Example: `  conetune bench backends
  conetune bench backends --models elastic-net --backends native,scs --html backends.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(); err != nil {
				return err
			}
			if err := a.ClaimOutput("--html", f.html, f.asJSON); err != nil {
				return err
			}
			return runBackends(a, cmd.Context(), &f, commandOf(cmd, "models", "backends", "eps", "repeats", "time-limit"))
		},
	}
	cli.AddFlags(cmd,
		cli.NewFlag("models", &f.models,
			"`NAMES` of models, comma-separated: "+words.Joined(bench.Models())+" (default: all)"),
		cli.NewFlag("backends", &f.backends,
			"`NAMES` of conic solvers, see conetune backends (default: all of this build)"),
		cli.NewFlag("eps", &f.eps, "tolerances `E[,E..]` for all solvers (default: 1e-3,1e-5,1e-8 for first-order "+
			"solvers and for sequences of programs, 1e-8 for the others)"),
		cli.NewFlag("repeats", &f.Repeats, "solve `N` times, the fastest counts", cli.Traits{Most: cli.MostRepeats}),
		cli.NewFlag("time-limit", &f.TimeLimit, "at most `TIME` for a solve or a run", cli.Traits{Most: cli.AnyNumber}),
		cli.MemoryFlag(),
		cli.NewFlag("json", &f.asJSON, "print a JSON array instead of tables"),
		cli.NewFlag("html", &f.html, "write the tables as a page to `FILE.html`"),
	)
	return cmd
}

// complete checks the flags.
func (f *benchFlags) complete() (err error) {
	if f.models != "" {
		f.Models = strings.Split(f.models, ",")
		if _, err := bench.Select(f.Models); err != nil {
			return cli.BadInputf("--models: %w", err)
		}
	}
	if f.backends != "" {
		f.Backends = strings.Split(f.backends, ",")
		for _, name := range f.Backends {
			if _, err := backends.Open(name); err != nil {
				return cli.BadInputf("--backends: %w", err)
			}
		}
	}
	expected := fmt.Sprintf("a positive number, at most %g", cli.MostEps)
	within := func(v float64) bool { return v > 0 && v <= cli.MostEps }
	f.Eps, err = cli.NumbersOf("eps", "tolerance", f.eps, expected, within)
	return cmp.Or(err, cli.CheckOutput("--html", f.html, ""))
}

func runBackends(a *cli.App, ctx context.Context, f *benchFlags, command string) error {
	bar := a.NewStatus(false)
	begun := time.Now()
	f.Observe = func(_ bench.BackendRow, done, all int) {
		bar.Work(worklist.Progress{Done: done, All: all, Workers: 1, Seconds: time.Since(begun).Seconds()})
	}
	rows, err := bench.Backends(ctx, f.BackendsOptions)
	bar.Clear()
	if err != nil {
		return cli.Failed(err)
	}
	if f.asJSON {
		err = a.PrintJSON(slices.Concat([]bench.BackendRow{}, rows)) // [] and not null
	} else {
		err = a.Print(bench.Markdown(rows))
	}
	if err == nil && f.html != "" {
		page := bench.Page{Version: cli.Version(), Machine: cli.Machine(), Command: command}
		err = a.WriteFile("--html", f.html, func(w io.Writer) error { return bench.WriteHTML(w, rows, page) })
	}
	if err == nil && ctx.Err() != nil {
		return a.InterruptedWork("what was measured is reported")
	}
	return err
}

// commandOf is a command with those of its flags that change its figures: the ones that were given, and numbers.
func commandOf(cmd *cobra.Command, flags ...string) string {
	s := cmd.CommandPath()
	for _, name := range flags {
		if value := cmd.Flags().Lookup(name).Value.String(); value != "" && value != "0" {
			s += " --" + name + " " + value
		}
	}
	return s
}

// Package solve has the commands about conic solvers: conetune solve and conetune backends.
package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/portfolio"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/words"
)

// solveFlags are the flags of conetune solve as they were given.
type solveFlags struct {
	backends.Options
	backend, out                string
	timeLimit                   time.Duration // after the file was read
	crossCheck, asJSON, verbose bool
}

const solveHelp = `Solve a convex program from a file in one of the standard formats:
%s
plain or compressed by gzip (with .gz at the end). Integer variables are not supported.

The answer is recomputed on the numbers of the file: optimal means that residuals
and gap meet --eps there, and an infeasibility is told only with a proof.

With --json, x is by column (QPS, MPS), the m-vector (SDPA) or the scalar variables
(CBF); y is by row, rows of type N left out, such that Px + q - A'y are the reduced
costs (QPS, MPS), the blocks of the dual matrix one after the other (SDPA), or by
scalar constraint (CBF). A file that maximises is read as minimising the negative;
the objective is that of the file. What does not exist is null. Of an infeasible or
an unbounded program, the proof is in certificate.

Exit status: 0 optimal, or infeasible or unbounded with proof; 1 not solved (the
status says why); 2 bad usage or bad input; others as in conetune --help.`

const solveExample = `  conetune solve afiro.mps.gz
  conetune solve model.cbf --backend scs --eps 1e-6 --time-limit 60s --json
  conetune solve model.cbf --backend native,clarabel --cross-check
  conetune solve portfolio.qps --out solution.json -v`

// Command is conetune solve.
func Command(a *cli.App) *cobra.Command {
	f := solveFlags{backend: "native", Options: backends.Options{Eps: 1e-8, Threads: 1}}
	cmd := &cobra.Command{
		Use:     "solve FILE",
		Short:   "Solve a program from a QPS, MPS, SDPA or CBF file",
		Long:    fmt.Sprintf(solveHelp, fileFormatList()),
		Example: solveExample,
		Args:    cli.One("file", ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args[0]); err != nil {
				return err
			}
			if err := a.ClaimOutput("--out", f.out, f.asJSON); err != nil {
				return err
			}
			if f.Threads > 1 {
				if b, err := backends.Open(f.backend); err == nil && !b.Capabilities().Threads {
					a.Note("conetune: --threads %d: a solve on the %s backend runs on one thread", f.Threads, f.backend)
				}
			}
			return solveFile(a, cmd.Context(), args[0], &f)
		},
	}
	cli.AddFlags(cmd,
		cli.NewFlag("backend", &f.backend, "conic solver, `NAME`, see conetune backends; auto for one that suits the "+
			"program, A,B for the first answer of both"),
		cli.NewFlag("cross-check", &f.crossCheck, "with --backend A,B: both must agree"),
		cli.NewFlag("eps", &f.Eps, "accuracy `E` that residuals and gap must meet, at most 0.01",
			cli.Traits{Most: cli.MostEps}),
		cli.NewFlag("time-limit", &f.timeLimit,
			"at most `TIME` after the file was read, such as 60s or 5m (default: no limit)", cli.Traits{Most: cli.AnyNumber}),
		cli.NewFlag("max-iter", &f.MaxIterations, "at most `N` iterations (default: the solver's)",
			cli.Traits{Most: cli.MostIterations}),
		cli.NewFlag("threads", &f.Threads, "at most `N` threads, which native uses on large factors and pdhg on all",
			cli.Traits{Most: cli.MostThreads}),
		cli.MemoryFlag(),
		cli.NewFlag("json", &f.asJSON, "print one JSON object instead of a table"),
		cli.NewFlag("out", &f.out, "write that JSON object to `FILE` too, or to - for standard output"),
		cli.NewFlag("verbose", &f.verbose, "log the iterations on standard error", cli.Traits{Short: "v"}),
	)
	return cmd
}

// check finds what is wrong with the flags, before the file is read.
func (f *solveFlags) check(file string) error {
	if _, err := cli.OpenBackend(f.backend, f.crossCheck); err != nil {
		return err
	}
	if err := cli.CheckOutput("--out", f.out, "the file to solve", file); err != nil {
		return err
	}
	_, err := findFileFormat(file)
	return err
}

// solve reads the file, solves, and writes what was asked for.
func solveFile(a *cli.App, ctx context.Context, path string, f *solveFlags) error {
	p, err := cli.Interruptible(ctx, func() (*loadedProgram, error) { return loadProgram(path) })
	if err != nil {
		return err
	}
	bar := a.NewStatus(f.verbose)
	r, err := runSolver(a, ctx, p, f, bar)
	bar.End()
	if err != nil {
		return err
	}
	var fileErr error // which does not keep the result from those who read it
	if f.out != "" {
		fileErr = a.WriteFile("--out", f.out, func(w io.Writer) error { return cli.WriteJSON(w, r) })
	}
	if f.asJSON {
		err = a.PrintJSON(r)
	} else {
		err = a.Print(describeSolve(p, r, f, fileErr == nil))
	}
	if err = cmp.Or(fileErr, err); err != nil {
		return err
	}
	return solveOutcome(a, r)
}

// runSolver does what is timed, and what --time-limit is for: everything after the file was read.
func runSolver(a *cli.App, ctx context.Context, p *loadedProgram, f *solveFlags, bar *cli.Status) (*solveResult,
	error) {
	backend, err := cli.OpenBackend(f.backend, f.crossCheck)
	if err != nil {
		return nil, err
	}
	options := f.Options
	options.Memory, options.Logger = memory.Default(), a.Logger(f.verbose)
	if options.Logger == nil {
		options.Logger = bar.Logger()
	}
	if f.timeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeLimit)
		defer cancel()
	}
	begin := time.Now()
	s, solver, err := solveBuilt(a, ctx, p, backend, options, f)
	switch {
	case errors.Is(err, cli.ErrInterrupted) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		const status = backends.TimeLimit
		return &solveResult{Name: p.name, Backend: f.backend, status: status, Status: status.String(),
			SetupSeconds: time.Since(begin).Seconds(), Message: "ended within the set-up"}, nil
	case err != nil:
		return nil, solverError(p, err)
	}
	r := newSolveResult(p, f.backend, s)
	if by, why := portfolio.Chosen(solver); by != "" {
		r.Backend, r.Choice = by, why
	}
	setup := min(s.SetupTime, time.Since(begin))
	r.SetupSeconds, r.SolveSeconds = setup.Seconds(), (time.Since(begin) - setup).Seconds()
	if err := solver.Close(); err != nil {
		return nil, cli.Failed(err)
	}
	return r, nil
}

// solveBuilt builds the program, sets up and solves. Where ctx ends before there is anything to return, the error is
// errInterrupted.
func solveBuilt(a *cli.App, ctx context.Context, p *loadedProgram, backend backends.ConicBackend, o backends.Options,
	f *solveFlags) (*backends.Solution, backends.Solver, error) {
	built, err := cli.Interruptible(ctx, p.build)
	if errors.Is(err, cli.ErrInterrupted) {
		return nil, nil, err
	} else if err != nil {
		return nil, nil, cli.BadInput(fmt.Errorf("%s: %w", p.path, err))
	}
	p.built = built
	solver, err := cli.Interruptible(ctx, func() (backends.Solver, error) { return backend.Setup(built.Problem, o) })
	if err != nil {
		return nil, nil, err
	}
	s, err := solveUntil(ctx, solver, max(patience, f.timeLimit/patienceShare))
	return s, solver, err
}

// solverError says whose fault it is that a solver could not be set up, or could not begin.
func solverError(p *loadedProgram, err error) error {
	var known *cli.ExitError
	var unsupported *backends.UnsupportedError
	var problem *backends.ProblemError
	var room *backends.MemoryError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &room):
		return cli.Failed(fmt.Errorf("%s: %w (--memory SIZE or GOMEMLIMIT gives more; --backend pdhg factors nothing)",
			p.path, err))
	case errors.As(err, &unsupported):
		if len(unsupported.Others) > 0 {
			return cli.BadInputf("%s: %w", p.path, err)
		}
		return cli.BadInputf("%s: %w; no backend of this build does, conetune backends says how to get others", p.path, err)
	case errors.As(err, &problem):
		return cli.BadInputf("%s: %w", p.path, err)
	}
	return cli.Failed(err)
}

const (
	// patience is how long an interrupted solver may take to come back with what it has; at the
	// end of a time limit it is this share of that, if that is longer.
	patience      = 800 * time.Millisecond
	patienceShare = 10
)

// solveUntil solves, and stops waiting a little after the context has ended.
func solveUntil(ctx context.Context, solver backends.Solver, patience time.Duration) (*backends.Solution, error) {
	waiting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })()
	return cli.Interruptible(waiting, func() (*backends.Solution, error) { return solver.Solve(ctx) })
}

// solveOutcome turns the status into an exit status.
func solveOutcome(a *cli.App, r *solveResult) error {
	text := ""
	if r.Message != "" {
		text = ": " + r.Message
	}
	switch r.status {
	case backends.Optimal, backends.PrimalInfeasible, backends.DualInfeasible:
		return nil
	case backends.Cancelled:
		a.Note("conetune: interrupted after %s%s", words.Count(r.Iterations, "iteration"), text)
		return &cli.ExitError{Code: cli.ExitInterrupted}
	}
	a.Note("conetune: not solved, %s after %s%s", r.Status, words.Count(r.Iterations, "iteration"), text)
	return &cli.ExitError{Code: cli.ExitUnsolved}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/portfolio"
	"github.com/conetune/conetune/internal/memory"
)

// solveFlags are the flags of conetune solve as they were given.
type solveFlags struct {
	backend          string
	crossCheck       bool
	eps              float64
	timeLimit        time.Duration
	maxIter, threads int
	asJSON, verbose  bool
	out              string
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

func (a *app) solveCommand() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:     "solve FILE",
		Short:   "Solve a program from a QPS, MPS, SDPA or CBF file",
		Long:    sprintf(solveHelp, fileFormatList()),
		Example: solveExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badInputf("expected one file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags(), args[0]); err != nil {
				return err
			}
			if err := a.claimOutput("--out", f.out, f.asJSON); err != nil {
				return err
			}
			a.checkThreads(f.backend, f.threads)
			return a.solve(cmd.Context(), args[0], &f)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.backend, "backend", "native", "conic solver, `NAME`, see conetune backends; auto for one that suits the program, A,B for the first answer of both")
	fs.BoolVar(&f.crossCheck, "cross-check", false, "with --backend A,B: both must agree")
	fs.Float64Var(&f.eps, "eps", 1e-8, "accuracy `E` that residuals and gap must meet, at most 0.01")
	fs.DurationVar(&f.timeLimit, "time-limit", 0, "at most `TIME` after the file was read, such as 60s or 5m (default: no limit)")
	fs.IntVar(&f.maxIter, "max-iter", 0, "at most `N` iterations (default: the solver's)")
	fs.IntVar(&f.threads, "threads", 1, "at most `N` threads; no solver of this program uses more than one yet")
	registerMemory(fs)
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON object instead of a table")
	fs.StringVar(&f.out, "out", "", "write that JSON object to `FILE` too, or to - for standard output")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "log the iterations on standard error")
	return cmd
}

// check finds what is wrong with the flags, before the file is read.
func (f *solveFlags) check(fs *pflag.FlagSet, file string) error {
	if _, err := openBackend(f.backend, f.crossCheck); err != nil {
		return err
	}
	if err := checkNumbers(fs, []numberFlag{
		{"eps", f.eps, false, mostEps}, {"time-limit", f.timeLimit.Seconds(), false, 0},
		{"max-iter", float64(f.maxIter), false, mostIterations}, {"threads", float64(f.threads), false, mostThreads},
	}); err != nil {
		return err
	}
	if f.out != "" {
		if absolute(f.out) == absolute(file) {
			return badInputf("--out %s: would overwrite the file to solve", f.out)
		}
		if err := checkOutput(f.out); err != nil {
			return badInputf("--out: %w", err)
		}
	}
	_, err := findFileFormat(file)
	return err
}

// solve reads the file, solves, and writes what was asked for.
func (a *app) solve(ctx context.Context, path string, f *solveFlags) error {
	p, err := interruptible(ctx, func() (*loadedProgram, error) { return loadProgram(path) })
	if err != nil {
		return err
	}
	bar := a.newStatus(f.verbose)
	r, err := a.runSolver(ctx, p, f, bar)
	bar.end()
	if err != nil {
		return err
	}
	var fileErr error // which does not keep the result from those who read it
	if f.out != "" {
		if err := a.writeFile(f.out, func(w io.Writer) error { return writeJSON(w, r) }); err != nil {
			fileErr = failed(fileError("--out", err))
		}
	}
	if f.asJSON {
		err = a.printJSON(r)
	} else {
		err = a.print(describeSolve(p, r, f, fileErr == nil))
	}
	if err = cmp.Or(fileErr, err); err != nil {
		return err
	}
	return a.solveOutcome(r)
}

// runSolver does what is timed, and what --time-limit is for: everything after the file was read.
func (a *app) runSolver(ctx context.Context, p *loadedProgram, f *solveFlags, bar *status) (*solveResult, error) {
	backend, err := openBackend(f.backend, f.crossCheck)
	if err != nil {
		return nil, err
	}
	options := backends.Options{
		Eps: f.eps, MaxIterations: f.maxIter, Threads: f.threads, Memory: memory.Default(), Logger: a.logger(f.verbose),
	}
	if options.Logger == nil {
		options.Logger = bar.logger()
	}
	if f.timeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeLimit)
		defer cancel()
	}
	begin := time.Now()
	s, solver, err := a.solveBuilt(ctx, p, backend, options, f)
	switch {
	case errors.Is(err, errInterrupted) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return outOfTime(p, f, time.Since(begin)), nil
	case err != nil:
		return nil, solverError(p, err)
	}
	r := newSolveResult(p, f.backend, s)
	if several, ok := solver.(portfolio.Chooser); ok {
		r.Backend, r.Choice = several.Chosen()
	}
	setup := min(s.SetupTime, time.Since(begin))
	r.SetupSeconds, r.SolveSeconds = setup.Seconds(), (time.Since(begin) - setup).Seconds()
	if err := solver.Close(); err != nil {
		return nil, failed(err)
	}
	return r, nil
}

// solveBuilt builds the program, sets up and solves. Where ctx ends before there is anything to return, the error is errInterrupted.
func (a *app) solveBuilt(ctx context.Context, p *loadedProgram, backend backends.ConicBackend, o backends.Options, f *solveFlags) (*backends.Solution, backends.Solver, error) {
	built, err := interruptible(ctx, p.build)
	if errors.Is(err, errInterrupted) {
		return nil, nil, err
	} else if err != nil {
		return nil, nil, badInput(err)
	}
	p.built = built
	solver, err := interruptible(ctx, func() (backends.Solver, error) { return backend.Setup(built.problem, o) })
	if err != nil {
		return nil, nil, err
	}
	s, err := solveUntil(ctx, solver, max(patience, f.timeLimit/patienceShare))
	return s, solver, err
}

// outOfTime is the result where the time was over with nothing to show for it.
func outOfTime(p *loadedProgram, f *solveFlags, spent time.Duration) *solveResult {
	const status = backends.TimeLimit
	return &solveResult{
		Name: p.name, Backend: f.backend, status: status, Status: status.String(),
		Stopped: string(status.Stopped()), Found: string(status.Found(backends.Residuals{Primal: math.NaN()}, 0)),
		SetupSeconds: spent.Seconds(), Message: "ended within the set-up",
	}
}

// solverError says whose fault it is that a solver could not be set up, or could not begin.
func solverError(p *loadedProgram, err error) error {
	var known *exitError
	var unsupported *backends.UnsupportedError
	var problem *backends.ProblemError
	var room *backends.MemoryError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &room):
		return failed(fmt.Errorf("%s: %w (--memory SIZE or GOMEMLIMIT gives more)", p.path, err))
	case errors.As(err, &unsupported):
		if len(unsupported.Others) > 0 {
			return badInputf("%s: %w", p.path, err)
		}
		return badInputf("%s: %w; no backend of this build does, conetune backends says how to get others", p.path, err)
	case errors.As(err, &problem):
		return badInputf("%s: %w", p.path, err)
	}
	return failed(err)
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
	return interruptible(waiting, func() (*backends.Solution, error) { return solver.Solve(ctx) })
}

// solveOutcome turns the status into an exit status.
func (a *app) solveOutcome(r *solveResult) error {
	text := ""
	if r.Message != "" {
		text = ": " + r.Message
	}
	switch r.status {
	case backends.Optimal, backends.PrimalInfeasible, backends.DualInfeasible:
		return nil
	case backends.Cancelled:
		a.note("conetune: interrupted after %s%s", count(r.Iterations, "iteration"), text)
		return &exitError{code: exitInterrupted}
	}
	a.note("conetune: not solved, %s after %s%s", r.Status, count(r.Iterations, "iteration"), text)
	return &exitError{code: exitUnsolved}
}

// Command freeze writes down what a conetune program answers on all that we have, and compares two such files:
//
//	go run ./bench/freeze -out old.json -conetune ../old.conetune -data DATA
//	go run ./bench/freeze -out new.json -data DATA
//	go run ./bench/freeze -compare old.json new.json
//
// A case is a command line, and what is read off the JSON that it prints: status, errors, coefficients. Beside it stand the
// processor seconds and the largest resident set of the process, the least of -runs, on one thread. The cases are
//
//	reference/           the tables of DATA/reference, each with its own model
//	paper/               the same with --preset paper, by every method
//	tabular/             the tables of DATA/tabular
//	made/                a table of three sizes for each model, made here (made.go)
//	lp/ qp/ conic/ sdp/  the programs of these folders of DATA, by conetune solve
//
// DATA is -data or CONETUNE_INSTANCES; without it there are the tables made here alone. The file is written anew with every
// case, and -resume goes on with it; what -limit has ended is then run again. -compare exits with 1 where something is worse.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	worse, err := command(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "freeze: interrupted; -resume goes on")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "freeze:", err)
		os.Exit(2)
	case worse:
		os.Exit(1)
	}
}

func command(ctx context.Context) (worse bool, err error) {
	var s settings
	var limits tolerances
	out := flag.String("out", "", "write what is measured to `FILE.json`")
	resume := flag.Bool("resume", false, "go on with that file")
	comparison := flag.Bool("compare", false, "compare two files, OLD.json NEW.json")
	flag.StringVar(&s.program, "conetune", "", "the `PROGRAM` to measure (default: built from cmd/conetune)")
	flag.StringVar(&s.data, "data", os.Getenv("CONETUNE_INSTANCES"), "`FOLDER` with reference, tabular, lp, qp, conic and sdp")
	flag.IntVar(&s.Runs, "runs", 5, "runs of a case, of which the least counts")
	flag.DurationVar(&s.enough, "enough", 20*time.Second, "no further run of a case when its runs have taken that long")
	flag.DurationVar(&s.limit, "limit", 5*time.Minute, "a run is ended after that long, by the clock")
	flag.Int64Var(&s.size, "size", 0, "leave out programs whose files are larger, in `BYTES`")
	flag.BoolVar(&s.quick, "quick", false, "the cases of a minute alone")
	only := flag.String("only", "", "cases whose names match `REGEXP` alone")
	flag.Float64Var(&limits.slower, "factor", 1.1, "compare: a case of 0.2 s or more is slower from this `RATIO` on")
	flag.Float64Var(&limits.errors, "tol", 1e-4, "compare: errors differ from this relative `DIFFERENCE` on")
	flag.Parse()
	if *comparison {
		if flag.NArg() != 2 {
			return false, errors.New("-compare needs OLD.json and NEW.json")
		}
		return compareFiles(os.Stdout, flag.Arg(0), flag.Arg(1), limits)
	}
	if *out == "" || flag.NArg() > 0 || s.Runs < 1 {
		return false, errors.New("-out FILE.json, or -compare OLD.json NEW.json; see -help")
	}
	if s.only, err = regexp.Compile(*only); err != nil {
		return false, err
	}
	if _, err := os.Stat(*out); err == nil && !*resume {
		return false, fmt.Errorf("%s is there: -resume goes on with it", *out)
	}
	if s.made, err = os.MkdirTemp("", "freeze"); err != nil {
		return false, err
	}
	defer os.RemoveAll(s.made)
	if s.program == "" {
		s.program = filepath.Join(s.made, "conetune")
		build := exec.CommandContext(ctx, "go", "build", "-o", s.program, "github.com/conetune/conetune/cmd/conetune")
		if text, err := build.CombinedOutput(); err != nil {
			return false, fmt.Errorf("%w: %s", err, text)
		}
	}
	return false, s.freeze(ctx, *out)
}

// settings are what the runs of a file share. Those that are not written to it may differ when it is gone on with.
type settings struct {
	Version string `json:"version"`
	Program string `json:"program"` // the sum of its bytes
	Runs    int    `json:"runs"`

	program, data, made string
	limit, enough       time.Duration
	size                int64
	quick               bool
	only                *regexp.Regexp
}

// freeze measures the cases that the file does not have.
func (s *settings) freeze(ctx context.Context, out string) error {
	if err := s.identify(ctx); err != nil {
		return err
	}
	list, err := s.list()
	if err != nil {
		return err
	}
	f := &file{settings: *s}
	if have, err := read(out); err == nil {
		if f.Version != have.Version || f.Program != have.Program || f.Runs != have.Runs {
			return fmt.Errorf("%s is of another program, or of other -runs", out)
		}
		f.Complete = have.Complete
		f.Cases = slices.DeleteFunc(have.Cases, func(c result) bool { return c.Status == killed })
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begun, part := time.Now(), ""
	for _, c := range list {
		if slices.ContainsFunc(f.Cases, func(have result) bool { return have.Name == c.name }) {
			continue
		}
		if c.part() != part {
			part = c.part()
			fmt.Fprintf(os.Stderr, "%s: %s after %.0f s\n", out, part, time.Since(begun).Seconds())
		}
		r, err := s.measure(ctx, c)
		if err != nil {
			return err
		}
		if r.Exit != 0 || r.Unsteady {
			fmt.Fprintln(os.Stderr, r)
		}
		f.Cases = append(f.Cases, r)
		if err := f.write(out); err != nil {
			return err
		}
	}
	f.Complete = f.Complete || !s.quick && s.size == 0 && s.only.String() == "" && s.data != ""
	fmt.Fprintf(os.Stderr, "%s: %d cases, %.0f s\n", out, len(f.Cases), time.Since(begun).Seconds())
	return f.write(out)
}

// Command freeze writes down what conetune programs answer on all that we have, and compares two such files:
//
//	go run ./bench/freeze -out old.json -conetune ../old.conetune -data DATA
//	go run ./bench/freeze -out new.json -data DATA
//	go run ./bench/freeze -compare old.json new.json
//
// A case is a command line, and what is read off the JSON that it prints: status, errors, coefficients. Beside it stand
// the processor seconds and the largest resident set of the process, the least of -runs, on one thread. The cases are
//
//	reference/           the tables of DATA/reference, each with its own model
//	paper/               the same with --preset paper, by every method
//	tabular/             the tables of DATA/tabular
//	made/                a table of three sizes for each model, drawn as by conetune generate
//	lp/ qp/ conic/ sdp/  the programs of these folders of DATA, by conetune solve
//
// DATA is -data or CONETUNE_INSTANCES; without it there are the drawn tables alone. The file is written anew with
// every case, and -resume goes on with it; what -limit has ended is then run again. -compare exits with 1 where
// something is worse.
//
// Two programs, or one with two sets of flags of solve, are measured in turn, so that a busy machine slows both alike:
//
//	go run ./bench/freeze -out old.json,new.json -conetune ../old.conetune,../new.conetune -data DATA -only '^(lp|qp)/'
//	go run ./bench/freeze -out a.json,b.json -conetune ./conetune,./conetune \
//	  -solve '--backend native,--backend highs' -only ^lp/
//
// -grown takes tables that grow in the place of all these (grown.go), and -draw draws what they took.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/conetune/conetune/internal/atomicfile"
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
	out := flag.String("out", "", "write what is measured to `FILE.json`, one for each program, with commas between")
	resume := flag.Bool("resume", false, "go on with these files")
	comparison := flag.Bool("compare", false, "compare two files, OLD.json NEW.json")
	picture := flag.String("draw", "", "draw the cases of -grown in a file as `PICTURE`, .png or .svg")
	programs := flag.String("conetune", "", "the `PROGRAMS` to measure (default: built from cmd/conetune)")
	solve := flag.String("solve", "", "`FLAGS` of solve for each program, with commas between")
	flag.StringVar(&s.data, "data", os.Getenv("CONETUNE_INSTANCES"),
		"`FOLDER` with reference, tabular, lp, qp, conic and sdp")
	flag.IntVar(&s.runs, "runs", 5, "runs of a case, of which the least counts")
	flag.DurationVar(&s.enough, "enough", 20*time.Second, "no further run of a case when its runs have taken that long")
	flag.DurationVar(&s.limit, "limit", 5*time.Minute, "a run is ended after that long, by the clock")
	flag.Int64Var(&s.size, "size", 0, "leave out programs whose files are larger, in `BYTES`")
	flag.BoolVar(&s.quick, "quick", false, "the cases of a minute alone")
	flag.Float64Var(&s.grown, "grown", 0, "tables that grow alone, to at most so many `NONZEROS`")
	only := flag.String("only", "", "cases whose names match `REGEXP` alone")
	flag.Float64Var(&limits.slower, "factor", 1.1, "compare: a case of 0.2 s or more is slower from this `RATIO` on")
	flag.Float64Var(&limits.errors, "tol", 1e-4, "compare: errors differ from this relative `DIFFERENCE` on")
	flag.Parse()
	switch {
	case *comparison && flag.NArg() == 2:
		return compareFiles(os.Stdout, flag.Arg(0), flag.Arg(1), limits)
	case *picture != "" && flag.NArg() == 1:
		return false, drawFile(*picture, flag.Arg(0))
	case *comparison || *picture != "" || *out == "" || flag.NArg() > 0 || s.runs < 1:
		return false, errors.New("-out FILE.json, -compare OLD.json NEW.json, or -draw PICTURE FILE.json; see -help")
	}
	if s.only, err = regexp.Compile(*only); err != nil {
		return false, err
	}
	if s.made, err = os.MkdirTemp("", "freeze"); err != nil {
		return false, err
	}
	defer os.RemoveAll(s.made)
	if *programs == "" {
		*programs = filepath.Join(s.made, "conetune")
		build := exec.CommandContext(ctx, "go", "build", "-o", *programs, "github.com/conetune/conetune/cmd/conetune")
		if text, err := build.CombinedOutput(); err != nil {
			return false, fmt.Errorf("%w: %s", err, text)
		}
	}
	paths, list, flags := strings.Split(*out, ","), strings.Split(*programs, ","), strings.Split(*solve, ",")
	if len(list) != len(paths) || *solve != "" && len(flags) != len(paths) {
		return false, errors.New("-out, -conetune and -solve name another number of programs")
	}
	var files []*file
	for i, path := range paths {
		if _, err := os.Stat(path); err == nil && !*resume {
			return false, fmt.Errorf("%s is there: -resume goes on with it", path)
		}
		files = append(files, &file{path: path, program: list[i], Solve: slices.Concat(flags, make([]string, i))[i]})
	}
	return false, s.freeze(ctx, files...)
}

// settings are those of a run, which may differ when a file is gone on with.
type settings struct {
	data, made    string
	runs          int
	limit, enough time.Duration
	size          int64
	quick         bool
	grown         float64
	only          *regexp.Regexp
}

// freeze measures the cases that the files do not have.
func (s *settings) freeze(ctx context.Context, files ...*file) error {
	for _, f := range files {
		f.Runs = s.runs
		if err := f.begin(ctx); err != nil {
			return err
		}
	}
	list, err := s.list()
	if err != nil {
		return err
	}
	begun, part := time.Now(), ""
	over := make(map[string]bool) // series that have reached the limit
	for _, c := range list {
		missing := slices.DeleteFunc(slices.Clone(files), func(f *file) bool { return f.find(c.name) != nil })
		if len(missing) == 0 || c.series != "" && over[c.series] {
			continue
		}
		if c.part() != part {
			part = c.part()
			fmt.Fprintf(os.Stderr, "%s after %.0f s\n", part, time.Since(begun).Seconds())
		}
		results, err := s.measure(ctx, c, missing)
		if err != nil {
			return err
		}
		for i, f := range missing {
			if r := results[i]; r.Exit != 0 || r.Unsteady {
				fmt.Fprintln(os.Stderr, r)
			}
			over[c.series] = over[c.series] || results[i].Status == killed
			f.Cases = append(f.Cases, results[i])
			if err := f.write(); err != nil {
				return err
			}
		}
	}
	all := !s.quick && s.size == 0 && s.grown == 0 && s.only.String() == "" && s.data != ""
	for _, f := range files {
		f.Complete = f.Complete || all
		fmt.Fprintf(os.Stderr, "%s: %d cases, %.0f s\n", f.path, len(f.Cases), time.Since(begun).Seconds())
		if err := f.write(); err != nil {
			return err
		}
	}
	return nil
}

func drawFile(picture, path string) error {
	f, err := read(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(picture, draw(f).As(picture))
}

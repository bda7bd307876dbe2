// Command compare runs two builds of conetune, or one with two backends, on all files of folders, whole and in turn, and prints
// what each file came to beside the other: status, iterations, objective and processor seconds; then sums and geometric means.
//
//	go run ./bench/compare --old ../old.conetune --new ./conetune DATA/lp DATA/qp DATA/conic DATA/sdp
//
// Processor seconds are those of the process, user and system, less what the program takes to start (solve --help), the least
// of --rounds. Each round begins with the other build. The limit is by the clock: raise it on a busy machine.
// The exit code is 1 where a file is lost: the old build finds a verdict, and the new one none or another.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/bench/internal/child"
	"github.com/conetune/conetune/internal/atomicfile"
)

func main() {
	lost, err := compare()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	case lost:
		os.Exit(1)
	}
}

func compare() (lost bool, err error) {
	var c [2]contestant
	for i, name := range []string{"old", "new"} {
		flag.StringVar(&c[i].program, name, "", "the `PROGRAM` that is "+name)
		flag.StringVar(&c[i].backend, name+"-backend", "native", "its backend")
		flag.StringVar(&c[i].debug, name+"-godebug", "", "its GODEBUG, for example cpu.avx512f=off")
	}
	eps := flag.String("eps", "1e-8", "tolerance")
	limit := flag.Duration("limit", time.Minute, "limit of a solve, by the clock")
	rounds := flag.Int("rounds", 1, "how often each file is run, in turn")
	only := flag.String("only", "", "names of files, with commas between")
	out := flag.String("csv", "", "a file for the table, too")
	flag.Parse()
	if c[0].program == "" || c[1].program == "" || flag.NArg() == 0 {
		return false, errors.New("--old, --new and a folder are needed; see --help")
	}
	for i := range c {
		c[i].eps, c[i].limit = *eps, *limit
		if err := c[i].measureStart(context.Background()); err != nil {
			return false, err
		}
	}
	var rows []row
	for _, folder := range flag.Args() {
		files, err := instances(folder, *only)
		if err != nil {
			return false, err
		}
		fmt.Printf("\n%s\n%s\n", folder, heading)
		var here []row
		for i, file := range files {
			r, err := contest(context.Background(), c, file, *rounds, i)
			if err != nil {
				return false, err
			}
			fmt.Println(r)
			here = append(here, r)
		}
		fmt.Print(summary(here))
		rows = append(rows, here...)
	}
	if *out != "" {
		if err := atomicfile.Write(*out, func(w io.Writer) error { return table(w, rows) }); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(rows, row.lost), nil
}

// instances lists the files of a folder that solve reads, or those of them that are asked for.
func instances(folder, only string) ([]string, error) {
	files, err := child.Programs(folder)
	if only == "" || err != nil {
		return files, err
	}
	names := strings.Split(only, ",")
	files = slices.DeleteFunc(files, func(f string) bool { return !slices.Contains(names, child.Name(f)) })
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no program of these names", folder)
	}
	return files, nil
}

// contest runs both on a file, in each round beginning with the other.
func contest(ctx context.Context, c [2]contestant, file string, rounds, turn int) (row, error) {
	r := row{file: file}
	for round := range rounds {
		for i := range c {
			k := (i + turn + round) % 2
			got, err := c[k].solve(ctx, file)
			if err != nil {
				return r, err
			}
			if best := &r.run[k]; round == 0 || got.Seconds < best.Seconds {
				*best = got
			}
		}
	}
	return r, nil
}

// Command conicfuzz asks solvers for the answers to conic programs that were planted,
// and tells which answers are wrong.
//
//	go run ./backends/backendtest/conicfuzz -n 100000 -backends native -scale 0,3,6,8
//	go run -tags scs,osqp ./backends/backendtest/conicfuzz -n 100000 -backends native,scs,osqp
//	go run ./backends/backendtest/conicfuzz -replay verdict:6:all:17
//
// Package planted says what is planted and what is wrong. A table goes to standard
// output. The exit status is 0 when no answer is wrong, 1 when one is, 2 on bad usage,
// 130 when interrupted, with the table so far.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/clarabel" // with -tags clarabel
	_ "github.com/conetune/conetune/backends/highs"    // with -tags highs
	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp" // with -tags osqp
	_ "github.com/conetune/conetune/backends/scs"  // with -tags scs
	"github.com/conetune/conetune/internal/planted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type command struct {
	planted.Run
	show   int
	replay string
	out    string // where shrunk cases go
	shrink int    // how many of a kind
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	c, err := parse(args, errOut)
	if err != nil {
		if err != flag.ErrHelp {
			fmt.Fprintln(errOut, err)
		}
		return 2
	}
	if c.replay != "" {
		return c.again(out, errOut)
	}
	var mu sync.Mutex
	last := time.Now()
	c.Progress = func(done int) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > 10*time.Second {
			last = time.Now()
			fmt.Fprintf(errOut, "%d of %d\n", done, c.N*len(c.Scales))
		}
	}
	tally := c.Do(ctx)
	if err := tally.Print(out); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	for k, f := range tally.Findings {
		if k == c.show {
			fmt.Fprintf(out, ".. and %d more\n", len(tally.Findings)-k)
			break
		}
		fmt.Fprintf(out, "%s %s %v: %v: %s\n", f.ID, f.Backend, f.Class, f.Outcome, f.Detail)
	}
	if err := c.save(tally, out); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	switch {
	case ctx.Err() != nil:
		return 130
	case tally.All().Wrong() > 0:
		return 1
	}
	return 0
}

func parse(args []string, errOut io.Writer) (*command, error) {
	c := &command{}
	var names, mix, scales string
	f := flag.NewFlagSet("conicfuzz", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.IntVar(&c.N, "n", 10000, "cases at each scale")
	f.StringVar(&names, "backends", "native", "backends, with commas between")
	f.StringVar(&c.Mode, "mode", planted.Verdicts, "what is done with each case: "+strings.Join(planted.Modes(), ", "))
	f.StringVar(&mix, "mix", "", fmt.Sprintf("cones: one of %v; default what the backends take", planted.Mixes()))
	f.StringVar(&scales, "scale", "0",
		"powers of ten within which rows, columns, objective and right-hand side are scaled, with commas between")
	f.Uint64Var(&c.First, "seed", 1, "the seed of the first case; the next ones follow")
	f.IntVar(&c.Workers, "workers", runtime.NumCPU(), "goroutines; the result does not depend on them")
	f.IntVar(&c.Options.MaxIterations, "max-iterations", 0, "iterations of one solve; 0 is the default of the backend")
	f.IntVar(&c.show, "show", 50, "wrong answers to list")
	f.BoolVar(&c.Undecided, "undecided", false, "list undecided answers, too")
	f.StringVar(&c.out, "out", "", "a directory for wrong answers as shrunk programs, in JSON")
	f.IntVar(&c.shrink, "shrink", 3, "wrong answers of a kind to shrink")
	f.StringVar(&c.replay, "replay", "", "the ID of one case to run again and print")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("conicfuzz: unexpected argument %q", f.Arg(0))
	}
	for _, name := range strings.Split(names, ",") {
		b, err := backends.Open(name)
		if err != nil {
			return nil, err
		}
		c.Backends = append(c.Backends, b)
	}
	for _, text := range strings.Split(scales, ",") {
		k, err := strconv.Atoi(text)
		if err != nil || k < 0 || k > 30 {
			return nil, fmt.Errorf("conicfuzz: -scale %q is not numbers from 0 to 30", scales)
		}
		c.Scales = append(c.Scales, k)
	}
	if _, err := planted.ParseID(c.Mode + ":0:lin:0"); err != nil {
		return nil, err
	}
	if c.N < 1 {
		return nil, fmt.Errorf("conicfuzz: -n %d is not positive", c.N)
	}
	if mix != "" {
		if _, err := planted.ParseID(fmt.Sprintf("%s:0:%s:0", c.Mode, mix)); err != nil {
			return nil, err
		}
		c.Mix = planted.Mix(mix)
	}
	return c, nil
}

// save shrinks and writes the first findings of each kind.
func (c *command) save(t *planted.Tally, out io.Writer) error {
	if c.out == "" {
		return nil
	}
	type kind struct {
		backend string
		class   planted.Class
		planted.Outcome
	}
	done := map[kind]int{}
	for _, f := range t.Findings {
		k := kind{f.Backend, f.Class, f.Outcome}
		if done[k]++; done[k] > c.shrink || !f.Outcome.Wrong() {
			continue
		}
		b, err := backends.Open(f.Backend)
		if err != nil {
			return err
		}
		small := f.Shrink(b, c.Options, 3000)
		name := filepath.Join(c.out, strings.ReplaceAll(f.ID.String(), ":", "-")+"-"+f.Backend+".json")
		err = errors.Join(os.MkdirAll(c.out, 0o777), os.WriteFile(name, []byte(small.Case.String()+"\n"), 0o666))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s %s: %v: %s\n%s\n", f.ID, f.Backend, small.Outcome, small.Detail, small.Case)
	}
	return nil
}

// again runs one case and prints it.
func (c *command) again(out, errOut io.Writer) int {
	id, err := planted.ParseID(c.replay)
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 2
	}
	tally := &planted.Tally{Counts: map[planted.Row]*planted.Count{}}
	c.One(id, tally)
	fmt.Fprintln(out, planted.Generate(id))
	if err := tally.Print(out); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	for _, f := range tally.Findings {
		fmt.Fprintf(out, "%s %s %v: %v: %s\n", f.ID, f.Backend, f.Class, f.Outcome, f.Detail)
		fmt.Fprintln(out, f.Case)
	}
	if tally.All().Wrong() > 0 {
		return 1
	}
	return 0
}

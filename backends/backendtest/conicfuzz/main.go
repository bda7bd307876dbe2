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
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/clarabel" // with -tags clarabel
	_ "github.com/conetune/conetune/backends/highs"    // with -tags highs
	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp" // with -tags osqp
	_ "github.com/conetune/conetune/backends/pdhg"
	_ "github.com/conetune/conetune/backends/scs" // with -tags scs
	"github.com/conetune/conetune/internal/planted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type command struct {
	planted.Run
	show, shrink int
	replay       string
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	c, err := parse(args, errOut)
	if err != nil {
		if err != flag.ErrHelp {
			fmt.Fprintln(errOut, err)
		}
		return 2
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
	c.smallest(tally, out)
	if id := (planted.ID{Mode: c.Mode, Scale: c.Scales[0], Mix: c.Mix, Seed: c.First}); c.replay != "" {
		fmt.Fprintln(out, planted.Generate(id))
	}
	switch {
	case ctx.Err() != nil:
		return 130
	case tally.Counts.Wrong() > 0:
		return 1
	}
	return 0
}

// smallest shrinks the first wrong answers of each kind, and writes the programs that are left as JSON.
func (c *command) smallest(t *planted.Tally, out io.Writer) {
	type kind struct {
		backend string
		class   planted.Class
		planted.Outcome
	}
	done := map[kind]int{}
	for _, f := range t.Findings {
		k := kind{f.Backend, f.Class, f.Outcome}
		if done[k]++; done[k] <= c.shrink && f.Outcome.Wrong() {
			small := c.Shrink(f, 3000)
			fmt.Fprintf(out, "\n%s %s: %v: %s\n%s\n", f.ID, f.Backend, small.Outcome, small.Detail, small.Case)
		}
	}
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
	f.IntVar(&c.shrink, "shrink", 0, "wrong answers of a kind to shrink, and to write as JSON")
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
	for _, scale := range strings.Split(scales, ",") {
		text := fmt.Sprintf("%s:%s:%s:%d", c.Mode, scale, cmp.Or(planted.Mix(mix), planted.MixFor(c.Backends...)), c.First)
		id, err := planted.ParseID(cmp.Or(c.replay, text))
		if err != nil {
			return nil, err
		}
		c.Mode, c.Mix, c.First, c.Scales = id.Mode, id.Mix, id.Seed, append(c.Scales, id.Scale)
	}
	if c.replay != "" {
		c.N, c.Scales = 1, c.Scales[:1]
	}
	if c.N < 1 {
		return nil, fmt.Errorf("conicfuzz: -n %d is not positive", c.N)
	}
	return c, nil
}

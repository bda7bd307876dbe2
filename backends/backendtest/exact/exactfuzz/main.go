// Command exactfuzz asks solvers for the answers to tiny programs with small integers and
// compares them with the truth, which package exact finds in rational arithmetic.
//
//	go run -tags scs,osqp ./backends/backendtest/exact/exactfuzz -n 100000 -backends native,scs,osqp
//
// A table of the kinds of answers goes to standard output, with the first seeds of those
// that are not right and a shrunk program of each. The exit status is 0 when no answer is
// wrong, 1 when one is, 2 on bad usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest/exact"
	_ "github.com/conetune/conetune/backends/clarabel" // with -tags clarabel
	_ "github.com/conetune/conetune/backends/highs"    // with -tags highs
	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp" // with -tags osqp
	_ "github.com/conetune/conetune/backends/scs"  // with -tags scs
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// example is an answer of a kind.
type example struct {
	seed uint64
	text string
}

// tally counts the answers of a backend.
type tally struct {
	count    map[exact.Kind]int
	examples map[exact.Kind][]example
}

func run(args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("exactfuzz", flag.ContinueOnError)
	flags.SetOutput(errOut)
	n := flags.Int("n", 10_000, "number of `programs`")
	first := flags.Uint64("seed", 0, "first `seed`")
	names := flags.String("backends", strings.Join(backends.Names(), ","), "`names` of the backends")
	maxN, maxM := flags.Int("variables", 4, "most variables of a program"), flags.Int("rows", 6, "most rows of a program")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "goroutines")
	scale := flags.Int("scale", 0, "largest `exponent` of the powers of two by which rows, variables, objective and right-hand sides are multiplied")
	show := flags.Int("show", 3, "examples of each kind that is not right")
	iterations := flags.Int("iterations", 0, "limit of iterations; 0 is the default of the backend")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *n < 0 || *maxN < 1 || *maxM < 0 || *workers < 1 || *scale < 0 || flags.NArg() > 0 {
		fmt.Fprintln(errOut, "exactfuzz: a count is negative or zero, or there are arguments")
		return 2
	}
	code := 0
	for _, name := range strings.Split(*names, ",") {
		b, err := backends.Open(name)
		if err != nil {
			fmt.Fprintln(errOut, err)
			return 2
		}
		o := backends.Options{MaxIterations: *iterations}
		draw := func(seed uint64) *exact.Tiny { return exact.Draw(seed, *maxN, *maxM).Scaled(seed, *scale) }
		t := ask(b, o, *first, *n, *workers, draw)
		fmt.Fprintf(out, "%s\n", name)
		for _, kind := range t.kinds() {
			fmt.Fprintf(out, "%9d  %s\n", t.count[kind], kind)
			list := t.examples[kind]
			slices.SortFunc(list, func(a, b example) int { return int(a.seed) - int(b.seed) })
			for _, e := range list[:min(*show, len(list))] {
				small := exact.Shrink(b, o, draw(e.seed))
				fmt.Fprintf(out, "           seed %d: %s\n             %s\n", e.seed, small, e.text)
			}
			if kind.Word == "wrong" || kind.Word == "error" {
				code = 1
			}
		}
	}
	return code
}

// ask asks for all programs.
func ask(b backends.ConicBackend, o backends.Options, first uint64, n, workers int, draw func(seed uint64) *exact.Tiny) *tally {
	t := &tally{map[exact.Kind]int{}, map[exact.Kind][]example{}}
	var mu sync.Mutex
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				seed := first + uint64(i)
				kind, text := exact.Compare(b, o, draw(seed))
				mu.Lock()
				t.count[kind]++
				if kind.Word != "right" {
					t.examples[kind] = append(t.examples[kind], example{seed, text})
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return t
}

// kinds sorts by word and then by number.
func (t *tally) kinds() []exact.Kind {
	var out []exact.Kind
	for k := range t.count {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b exact.Kind) int {
		if order := strings.Compare(a.Word, b.Word); order != 0 {
			return order
		}
		if order := t.count[b] - t.count[a]; order != 0 {
			return order
		}
		return strings.Compare(a.String(), b.String())
	})
	return out
}

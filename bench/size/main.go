// Command size measures how the time and the memory of the backends grow with linear, quadratic and second-order cone
// programs, whose solutions are planted.
//
//	go run -tags scs,osqp,clarabel,highs ./bench/size -to 1e6 -out size.jsonl -draw size.png
//
// Sizes grow tenfold from a thousand variables. Each solve is a process of its own, whose limits are -limit and
// -memory; a backend that reaches one is not asked for larger programs of the family. -eps is the tolerance. The lines
// of the file have the family, the variables, rows and entries, the backend, the status, the seconds of set-up and
// solve by the clock, the peak memory in bytes, the iterations, the largest residual, and how far the objective is from
// that of the planted solution, as a part of it. -draw with no other flag than -out draws the lines that are there.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/clarabel"
	_ "github.com/conetune/conetune/backends/highs"
	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp"
	_ "github.com/conetune/conetune/backends/pdhg"
	_ "github.com/conetune/conetune/backends/scs"
	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/figure"
	"github.com/conetune/conetune/internal/memory"
	"github.com/conetune/conetune/internal/usage"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// line is a measurement.
type line struct {
	Family     string  `json:"family"`
	Variables  int     `json:"variables"`
	Rows       int     `json:"rows"`
	Entries    int     `json:"entries"`
	Backend    string  `json:"backend"`
	Eps        float64 `json:"eps"`
	Status     string  `json:"status"`
	Seconds    float64 `json:"seconds"`
	Bytes      float64 `json:"bytes"`
	Iterations int     `json:"iterations"`
	Residual   float64 `json:"residual"`
	Off        float64 `json:"off"`
}

// options are those of the command line.
type options struct {
	backends, families, memory, one, out, draw string
	from, to, eps                              float64
	threads                                    int
	limit                                      time.Duration
}

func run() error {
	var o options
	flag.StringVar(&o.backends, "backends", strings.Join(backends.Names(), ","), "backends, with commas between")
	flag.StringVar(&o.families, "families", "transport,flow,lasso,power", "families of programs, with commas between")
	flag.StringVar(&o.memory, "memory", "8GiB", "memory of a solve, which native keeps to")
	flag.StringVar(&o.one, "one", "", "the family of the one program that this process solves with the one backend")
	flag.StringVar(&o.out, "out", "size.jsonl", "file of the lines")
	flag.StringVar(&o.draw, "draw", "", "picture of the lines")
	flag.Float64Var(&o.from, "from", 1e3, "variables of the first program")
	flag.Float64Var(&o.to, "to", 1e5, "variables of the last one")
	flag.Float64Var(&o.eps, "eps", 1e-4, "tolerance")
	flag.IntVar(&o.threads, "threads", 1, "threads of a solve")
	flag.DurationVar(&o.limit, "limit", time.Minute, "time of a solve")
	flag.Parse()
	if o.one != "" {
		return o.solve()
	}
	measure := o.draw == ""
	flag.Visit(func(f *flag.Flag) { measure = measure || f.Name != "draw" && f.Name != "out" })
	if measure {
		if err := o.measure(); err != nil || o.draw == "" {
			return err
		}
	}
	return o.picture()
}

// measure runs a process for each solve.
func (o *options) measure() error {
	out, err := os.OpenFile(o.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, family := range strings.Split(o.families, ",") {
		ended := map[string]bool{}
		for n := o.from; n <= o.to*1.001; n *= 10 {
			for _, backend := range strings.Split(o.backends, ",") {
				if ended[backend] {
					continue
				}
				l, err := o.process(family, backend, n)
				if err != nil {
					return err
				}
				ended[backend] = l.Status != backends.Optimal.String()
				text, err := json.Marshal(l)
				if err != nil {
					return err
				}
				if _, err = fmt.Fprintf(out, "%s\n", text); err != nil {
					return err
				}
				fmt.Printf("%-9s %8d variables %-8s %-16s %8.3f s %6.0f MB %6d iterations, residual %.0e, off %.0e\n", family,
					l.Variables, backend, l.Status, l.Seconds, l.Bytes/1e6, l.Iterations, l.Residual, l.Off)
			}
		}
	}
	return out.Close()
}

// process solves one program in a process of its own.
func (o *options) process(family, backend string, n float64) (l line, err error) {
	self, err := os.Executable()
	if err != nil {
		return l, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*o.limit+time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, self, "-one", family, "-backends", backend, "-from", fmt.Sprint(n), "-eps",
		fmt.Sprint(o.eps), "-limit", o.limit.String(), "-memory", o.memory, "-threads", fmt.Sprint(o.threads))
	child.Stderr = os.Stderr
	text, err := child.Output()
	if err != nil {
		l = line{Family: family, Variables: int(n), Backend: backend, Status: "failed"}
	} else if err := json.Unmarshal(text, &l); err != nil {
		return l, err
	}
	l.Eps, l.Bytes = o.eps, usage.Peak(child.ProcessState)
	return l, nil
}

// solve solves one program.
func (o *options) solve() error {
	at := slices.IndexFunc(families, func(f family) bool { return f.name == o.one })
	if at < 0 {
		return fmt.Errorf("unknown family %q", o.one)
	}
	b, err := backends.Open(o.backends)
	if err != nil {
		return err
	}
	room, err := memory.Parse(o.memory)
	if err != nil {
		return err
	}
	p := families[at].make(int(o.from), rand.New(rand.NewPCG(1, uint64(o.from))))
	l := line{Family: o.one, Variables: len(p.Q), Rows: len(p.B), Entries: p.A.NNZ(), Backend: o.backends,
		Status: "unsupported"}
	if b.Capabilities().Unsupported(b.Name(), p.Problem) == nil {
		begin := time.Now()
		solver, err := b.Setup(p.Problem, backends.Options{Eps: o.eps, TimeLimit: o.limit, Memory: room, Threads: o.threads})
		if err != nil {
			return err
		}
		sol, err := solver.Solve(context.Background())
		if err != nil {
			return err
		}
		l.Seconds, l.Status, l.Iterations = time.Since(begin).Seconds(), sol.Status.String(), sol.Iterations
		if sol.X != nil {
			l.Residual, l.Off = sol.Residuals.Max(), math.Abs(sol.Objective-p.value)/max(1, math.Abs(p.value))
		}
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}

// picture draws the optimal lines of the file, a panel for each family.
func (o *options) picture() error {
	file, err := os.Open(o.out)
	if err != nil {
		return err
	}
	defer file.Close()
	f := figure.Figure{Title: "Growth with the program", XLabel: "variables", LogX: true}
	var names, of []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		if !slices.Contains(of, l.Family) {
			of = append(of, l.Family)
			f.Panels = append(f.Panels, figure.Panel{YLabel: l.Family + " (s)", LogY: true, NoLegend: len(of) > 1})
		}
		name := fmt.Sprintf("%s, %g", l.Backend, l.Eps)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if l.Status == backends.Optimal.String() {
			f.Panels[slices.Index(of, l.Family)].Add(name, slices.Index(names, name), float64(l.Variables), l.Seconds)
		}
	}
	return atomicfile.Write(o.draw, f.As(o.draw))
}

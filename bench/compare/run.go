package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/conetune/conetune/bench/internal/child"
)

// contestant is a build with its options.
type contestant struct {
	program, backend, debug, eps string
	limit                        time.Duration
	start                        float64 // processor seconds before there is a file
}

// run is what a solve came to.
type run struct {
	Status     string
	Iterations int
	Objective  *float64 // nil if it has no value
	Seconds    float64  `json:"-"` // of the processor
}

// solved says whether the run ended with a verdict.
func (r run) solved() bool {
	return r.Status == "optimal" || r.Status == "primal_infeasible" || r.Status == "dual_infeasible"
}

// measureStart takes the least of some runs that only print their flags.
func (c *contestant) measureStart(ctx context.Context) error {
	for i := range 5 {
		cmd := exec.CommandContext(ctx, c.program, "solve", "--help")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s solve --help: %w", c.program, err)
		}
		if s := child.CPU(cmd.ProcessState); i == 0 || s < c.start {
			c.start = s
		}
	}
	return nil
}

// grace is how long after the limit a process is ended.
const grace = 10 * time.Second

// solve runs the program on a file. What it says about a program that it cannot solve is a status; an error means that the program does not run.
func (c contestant) solve(ctx context.Context, file string) (run, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit+grace)
	defer cancel()
	var out, text bytes.Buffer
	cmd := exec.CommandContext(ctx, c.program, "solve", file, "--backend", c.backend, "--eps", c.eps, "--time-limit", c.limit.String(), "--json")
	cmd.Stdout, cmd.Stderr = &out, &text
	if c.debug != "" {
		cmd.Env = append(os.Environ(), "GODEBUG="+c.debug)
	}
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return run{}, err
	}
	r := run{Status: "failed"}
	if ctx.Err() != nil {
		r.Status = "killed"
	} else if json.Unmarshal(out.Bytes(), &r) != nil && err == nil {
		return r, fmt.Errorf("%s on %s writes no JSON: %s", c.program, file, text.Bytes())
	}
	r.Seconds = max(0, child.CPU(cmd.ProcessState)-c.start)
	return r, nil
}

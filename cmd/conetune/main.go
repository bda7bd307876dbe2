// Command conetune chooses the hyperparameters of regression models by solving
// the bilevel program behind the choice with convex conic programs.
//
//	conetune tune elastic-net --data table.csv     hyperparameters, a model, its errors
//	conetune batch jobs.csv --out DIR              many tunes, stopped and resumed, on one machine or several
//	conetune predict --model model.json --data new.csv
//	conetune generate elastic-net --out DIR        synthetic data with known truth
//	conetune solve FILE                            a program in a QPS, MPS, SDPA or CBF file
//	conetune backends                              the conic solvers of this build
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 when done, 1 when a run ended without an answer of the asked
// quality, 2 on bad usage or bad input, 70 on a failure of the program itself, 71
// when memory ran out, 130 when interrupted.
package main

import (
	"os"

	_ "github.com/conetune/conetune/backends/clarabel" // with -tags clarabel
	_ "github.com/conetune/conetune/backends/highs"    // with -tags highs
	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp" // with -tags osqp
	_ "github.com/conetune/conetune/backends/pdhg"
	_ "github.com/conetune/conetune/backends/scs" // with -tags scs
	"github.com/conetune/conetune/internal/cli/process"
	"github.com/conetune/conetune/internal/cli/root"
)

func main() {
	ctx, stdout := process.Begin()
	ctx, stop := process.Watch(ctx, os.Stderr)
	code := root.Run(ctx, os.Args[1:], os.Stdin, stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Command conetune chooses the hyperparameters of regression models by solving
// the bilevel program behind the choice with convex conic programs.
//
//	conetune tune elastic-net --data table.csv     hyperparameters, a model, its errors
//	conetune predict --model model.json --data new.csv
//	conetune generate elastic-net --out DIR        synthetic data with known truth
//	conetune solve FILE                            a program in a QPS, MPS, SDPA or CBF file
//	conetune backends                              the conic solvers of this build
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 when done, 1 when a run ended without an answer of the asked
// quality, 2 on bad usage or bad input, 130 when interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp" // with -tags osqp
	_ "github.com/conetune/conetune/backends/scs"  // with -tags scs
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the next one ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

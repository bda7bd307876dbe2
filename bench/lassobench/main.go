// Command lassobench compares what models of many weights predict beside those of one, on the synthetic problems of
// LassoBench.
//
//	go run ./bench/lassobench -seeds 10
//
// The problems are those of K. Sehic, A. Gramfort, J. Salmon, L. Nardi, LassoBench: A High-Dimensional Hyperparameter
// Optimization Benchmark Suite for Lasso, AutoML 2022: four sizes, a twentieth of whose coefficients are 1 and -1 in
// turn at random places, rows N(0, S) with S_jk = 0.6^|j-k|, and noise with |X b| / |e| = 10 and 3. Rows are those that
// are left there for training; 2000 further rows are the test. Models are chosen by five folds, or with -split by
// two fifths of the rows, and are then fitted to all rows. With -groups MODEL the problems are those of groups.
//
// With -loss logistic targets are labels whose logit X b has the standard deviations 10 and 3, with -loss poisson
// counts whose log mean has the standard deviation 1 about log 10 and log 3. The lasso is that with their loss, the
// rung common of weighted-logistic or weighted-poisson, and net is logistic or poisson. -rows multiplies the numbers of
// rows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/usage"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "lassobench:", err)
		os.Exit(1)
	}
}

// methods are models as they are named in the table: weighted-lasso by its ladder, by each of its rungs and by other
// methods. groupMethods are those of groups: the first rung, the rule of the ladder, its rung without a bridge, free
// weights, and other methods.
var (
	methods = []string{
		"lasso", "adaptive-lasso", "weighted-lasso", "common", "adaptive", "adaptive-twice", "free",
		"hoag", "igjo", "random", "tpe", "cma-es", "net",
	}
	groupMethods = []string{"common", "default", "rung", tune.RungFree, "hoag", "igjo", "grid", "tpe"}
)

// ours are those that the others are not compared with.
var ours = []string{"weighted-lasso", "common", "default", "rung"}

// comparison is what is asked for.
type comparison struct {
	loss
	problems []problem
	methods  []string
	seeds    int
	split    bool
	final    string
}

func run() error {
	var c comparison
	flag.IntVar(&c.seeds, "seeds", 10, "`NUMBER` of draws of each problem")
	flag.BoolVar(&c.split, "split", false, "choose by a split in the place of folds")
	names := flag.String("methods", strings.Join(methods[:3], ","), "some of "+strings.Join(methods, ", ")+
		"; with -groups of "+strings.Join(groupMethods, ", "))
	most := flag.Int("sizes", len(sizes), "how many of the sizes, the small ones first")
	model := flag.String("groups", "", "`MODEL`, sparse-group-lasso or group-lasso, on problems of groups")
	flag.StringVar(&c.final, "final", tune.FinalAll, "final fit of these, all or train")
	rows := flag.Int("rows", 1, "`FACTOR` of the numbers of rows")
	kind := flag.String("loss", "squares", "squares, logistic or poisson")
	flag.Parse()
	c.methods = strings.Split(*names, ",")
	switch l, known := losses[*kind]; {
	case !known:
		return fmt.Errorf("unknown loss %q", *kind)
	case *model == "group-lasso":
		c.weighted, c.problems = regression.GroupLasso, groupProblems()
	case *model != "": // the 1-norm is that of groups of one
		c.weighted, c.problems = regression.SparseGroupLasso, groupProblems()[:5]
	default:
		c.loss, c.problems = l, lassoProblems(sizes[:*most], *rows, l)
	}
	return c.measure()
}

// outcome is what a method comes to on a draw: logarithms of the test error over that of the truth and of the
// validation error, infinite where there is no such model or the method does not take it, the F-score of the features
// in use, and CPU seconds.
type outcome struct{ test, val, score, seconds float64 }

// measure compares methods in geometric means over the draws. The best of the other methods is that of each draw.
func (c *comparison) measure() error {
	fmt.Println("| problem | method | test error over that of the truth | over the first method's " +
		"| over the best other's | validation, over that | F-score | CPU s |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	total, over := make([][6]float64, len(c.methods)), make([][]float64, len(c.methods))
	for _, p := range c.problems {
		means := make([][6]float64, len(c.methods))
		for seed := range c.seeds {
			d, err := p.draw(uint64(seed))
			if err != nil {
				return err
			}
			list := make([]outcome, len(c.methods))
			for k, name := range c.methods {
				if list[k], err = c.fit(d, name); err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, name, err)
				}
			}
			for k, o := range list {
				test, val := math.Inf(1), math.Inf(1)
				for j, other := range list {
					if j != k && !slices.Contains(ours, c.methods[j]) {
						test, val = min(test, other.test), min(val, other.val)
					}
				}
				over[k] = append(over[k], o.test-list[0].test)
				for i, v := range [6]float64{o.test, o.test - list[0].test, o.test - test, o.val - val, o.score, o.seconds} {
					means[k][i] += v / float64(c.seeds)
					total[k][i] += v / float64(c.seeds*len(c.problems))
				}
			}
		}
		for k, m := range means {
			printRow(p.name, c.methods[k], m)
		}
	}
	for k, m := range total {
		worse := indices.Where(over[k], func(v float64) bool { return v > math.Log(1.02) })
		n := float64(len(over[k]))
		printRow("all", fmt.Sprintf("%s (standard error over the first's %.3f, %.0f %% over 1.02)", c.methods[k],
			stat.StdErr(stat.StdDev(over[k], nil), n), 100*float64(len(worse))/n), m)
	}
	return nil
}

func printRow(problem, method string, m [6]float64) {
	fmt.Printf("| %s | %s | %.3f | %.3f | %.3f | %.3f | %.2f | %.3f |\n", problem, method, math.Exp(m[0]), math.Exp(m[1]),
		math.Exp(m[2]), math.Exp(m[3]), m[4], m[5])
}

// fit is the outcome of a method on a draw.
func (c *comparison) fit(d *draw, method string) (o outcome, err error) {
	begun := usage.Processor()
	var rows dataset.Division
	if n := len(d.rows.Y); c.split {
		rows = &dataset.Split{Train: d.rows.Rows(indices.Range(0, d.cut)), Val: d.rows.Rows(indices.Range(d.cut, n)),
			Test: d.test}
	} else {
		cv, err := dataset.CrossValidate(d.rows, 5, d.seed, nil)
		if err != nil {
			return o, err
		}
		cv.Test, rows = d.test, cv
	}
	build, options, config := c.weighted, regression.Options{Intercept: true}, tune.Config{Final: c.final}
	if options.Standardize = d.groups == 0; !options.Standardize {
		if options.Groups, err = groups.Equal(len(d.truth), d.groups); err != nil {
			return o, err
		}
	}
	switch method {
	case "weighted-lasso", "default", "rung":
	case "net":
		build = c.net
	case "adaptive-lasso":
		build, options.Pilot, options.Gamma = c.adaptive, "lasso", 2
	case "lasso":
		if build = c.lasso; build == nil {
			build, config.Rung = c.weighted, "common"
		}
	case "common", "adaptive", "adaptive-twice", tune.RungFree:
		config.Rung = method
	default:
		if config.Method = method; d.groups == 0 {
			config.Scope = tune.ScopeEach
		}
	}
	unable := outcome{test: math.Inf(1), val: math.Inf(1)}
	if build == nil {
		return unable, nil
	}
	m, err := build(rows, options)
	if err != nil {
		return o, err
	}
	r, err := tune.Run(context.Background(), m, config)
	if err == nil && method == "rung" {
		within := func(r tune.Rung) bool { return !(r.Above > r.StandardError) }
		config.Rung = r.Ladder[slices.IndexFunc(r.Ladder, within)].Name
		r, err = tune.Run(context.Background(), m, config)
	}
	if _, is := errors.AsType[*tune.UnableError](err); is {
		return unable, nil
	} else if err != nil {
		return o, err
	}
	return outcome{math.Log(*r.Refit.Test / d.error()), math.Log(r.Refit.Validation), d.score(r.RefitFit.Coefficients),
		usage.Processor() - begun}, nil
}

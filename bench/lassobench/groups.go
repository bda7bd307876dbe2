package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/usage"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// grouped is a problem of groups of features. Features are independent, and each of its blocks of features begins with
// the coefficients that are not 0.
type grouped struct {
	name                                string
	train, val, features, parts, blocks int
	ratio                               float64                   // |X b| / |e|
	begins                              func(block int) []float64 // block 1, 2, ..
}

func rising(int) []float64 { return []float64{1, 2, 3, 4, 5} }

// groupProblems are those of the paper, of BiC-GAFFA (Overcoming Lower-Level Constraints in Bilevel Optimization: A
// Novel Approach with Regularized Gap Functions, arXiv 2406.01992), and of AGILS (Alternating Gradient-Type Algorithm
// for Bilevel Optimization with Inexact Lower-Level Solutions via Moreau Envelope-based Reformulation, arXiv
// 2412.18929), which LDPM took over: the coefficients of its block g begin with 2g times 2g.
var groupProblems = []grouped{
	{"AGILS", 200, 200, 300, 5, 5, 3, func(g int) []float64 {
		return slices.Repeat([]float64{float64(2 * g)}, 2*g)
	}},
	{"BiC-GAFFA", 100, 100, 150, 30, 5, 3, rising},
	{"paper 600/30", 100, 100, 600, 30, 3, 2, rising},
	{"paper 600/300", 100, 100, 600, 300, 3, 2, rising},
	{"paper 1200/300", 100, 100, 1200, 300, 3, 2, rising},
	{"groups of one", 100, 50, 500, 500, 25, 3, func(int) []float64 { return []float64{1} }}, // as weighted-lasso
}

// groupMethods are the first rung, the rule of the ladder, its rung without a bridge, free weights, and other methods.
var groupMethods = []string{"common", "default", "rung", tune.RungFree, "hoag", "igjo", "grid", "tpe"}

// ours are those that the others are not compared with.
var ours = groupMethods[:3]

// measureGroups compares methods on the problems of groups, each with its refit to all rows, in geometric means over
// the draws. The best of the other methods is that of each draw.
func measureGroups(methods []string, model, final string, seeds int, split bool) error {
	fmt.Println("| problem | method | test error over common's | over the best other's | validation, over that | CPU s |")
	fmt.Println("|---|---|---|---|---|---|")
	problems := groupProblems
	if model != "group-lasso" { // the 1-norm is that of groups of one
		problems = problems[:len(problems)-1]
	}
	total := make([][4]float64, len(methods))
	for _, p := range problems {
		means := make([][4]float64, len(methods))
		for seed := range seeds {
			list := make([][4]float64, len(methods)) // logarithms of test error, validation error, and CPU s
			for k, name := range methods {
				begun := usage.Processor()
				test, val, err := p.fit(model, name, final, uint64(seed), split)
				if unable := new(tune.UnableError); errors.As(err, &unable) {
					test, val = math.Inf(1), math.Inf(1)
				} else if err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, name, err)
				}
				list[k] = [4]float64{math.Log(test), math.Log(test), math.Log(val), usage.Processor() - begun}
			}
			for k, row := range list {
				best := [2]float64{math.Inf(1), math.Inf(1)}
				for j, other := range list {
					if j != k && !slices.Contains(ours, methods[j]) {
						best = [2]float64{min(best[0], other[1]), min(best[1], other[2])}
					}
				}
				for i, v := range [4]float64{row[0] - list[0][0], row[1] - best[0], row[2] - best[1], row[3]} {
					means[k][i] += v / float64(seeds)
					total[k][i] += v / float64(seeds*len(problems))
				}
			}
		}
		printGroups(methods, p.name, means)
	}
	printGroups(methods, "all", total)
	return nil
}

func printGroups(methods []string, problem string, means [][4]float64) {
	for k, m := range means {
		fmt.Printf("| %s | %s | %.3f | %.3f | %.3f | %.2f |\n", problem, methods[k], math.Exp(m[0]), math.Exp(m[1]),
			math.Exp(m[2]), m[3])
	}
}

// fit is the test and the validation error of a method on a draw.
func (p *grouped) fit(model, method, final string, seed uint64, bySplit bool) (test, val float64, err error) {
	b := make([]float64, p.features)
	for g := range p.blocks {
		copy(b[g*p.features/p.blocks:], p.begins(g+1))
	}
	drawn, _, err := dataset.Generate(dataset.Config{Train: p.train, Val: p.val, Test: testRows, Features: p.features,
		Independent: true, Coefficients: b, SNR: p.ratio}, seed)
	if err != nil {
		return 0, 0, err
	}
	var rows dataset.Division = drawn
	if !bySplit {
		cv, err := dataset.CrossValidate(dataset.Stack(drawn.Train, drawn.Val), 5, seed, nil)
		if err != nil {
			return 0, 0, err
		}
		cv.Test, rows = drawn.Test, cv
	}
	build, o := regression.SparseGroupLasso, regression.Options{Intercept: true}
	if model == "group-lasso" {
		build = regression.GroupLasso
	}
	if o.Groups, err = groups.Equal(p.features, p.parts); err != nil {
		return 0, 0, err
	}
	m, err := build(rows, o)
	if err != nil {
		return 0, 0, err
	}
	config := tune.Config{Final: final}
	switch method {
	case "default":
	case "rung":
		r, err := tune.Run(context.Background(), m, config)
		if err != nil {
			return 0, 0, err
		}
		within := func(r tune.Rung) bool { return !(r.Above > r.StandardError) }
		config.Rung = r.Ladder[slices.IndexFunc(r.Ladder, within)].Name
	case "common", tune.RungFree:
		config.Rung = method
	default:
		config.Method = method
	}
	r, err := tune.Run(context.Background(), m, config)
	if err != nil {
		return 0, 0, err
	}
	return *r.Refit.Test, r.Refit.Validation, nil
}

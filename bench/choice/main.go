// Command choice measures how far what a search along paths chooses is above the least of a fine grid.
//
//	go run ./bench/choice -tables 1000 -model lasso
//
// Tables are random, small and of many shapes: more features than rows and fewer, nearly as many, alike ones, a few that count, many that count little, noise alone. Weights
// are chosen by ten folds; the grid is even in the logarithm, for two weights along each of five shares, and is solved by the same engine. The error of a choice is that of the
// folds, at its weights, over the least of the grid.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/problems/grouplasso"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/lasso"
	"github.com/conetune/conetune/problems/logistic"
	"github.com/conetune/conetune/problems/ridge"
	"github.com/conetune/conetune/tune"
)

func main() {
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "choice:", err)
		os.Exit(1)
	}
}

func measure() error {
	tables := flag.Int("tables", 1000, "`NUMBER` of tables")
	points := flag.Int("points", 200, "points of the grid, along each share")
	model := flag.String("model", "lasso", "lasso, ridge, group-lasso, elastic-net or logistic")
	each := flag.Bool("each", false, "print a line for each table: number, rows, features, points, error over the least")
	flag.Parse()
	var over []float64
	solves := 0
	for k := range *tables {
		d := table(uint64(k), *model == "logistic")
		above, tried, err := judge(d, *model, *points)
		if err != nil {
			return fmt.Errorf("table %d: %w", k, err)
		}
		if *each {
			n, p := d.Data.Dims()
			fmt.Printf("%d %d %d %d %.3g\n", k, n, p, tried, above)
		}
		over, solves = append(over, above), solves+tried
	}
	slices.Sort(over)
	fmt.Printf("%s, %d tables, %.1f points each: above the least of %d by", *model, len(over), float64(solves)/float64(len(over)), *points)
	for _, bound := range []float64{1e-4, 1e-3, 1e-2} {
		from, _ := slices.BinarySearch(over, bound)
		fmt.Printf(" %g: %d,", bound, len(over)-from)
	}
	fmt.Printf(" at most %.2g\n", over[len(over)-1])
	return nil
}

// judge returns by which share the error of what is chosen is above the least of a grid, and how many points were looked at.
func judge(d *dataset.CrossValidation, name string, points int) (above float64, tried int, err error) {
	ctx := context.Background()
	shares := []float64{1}
	var m tune.Model
	switch name {
	case "lasso":
		m, err = lasso.New(d, lasso.Options{Intercept: true, Standardize: true})
	case "ridge":
		m, err = ridge.New(d, ridge.Options{Intercept: true, Standardize: true})
	case "group-lasso":
		var g *groups.Groups
		_, p := d.Data.Dims()
		size := 1
		for p%(2*size) == 0 && size < 4 {
			size *= 2
		}
		if g, err = groups.Equal(p, p/size); err == nil {
			m, err = grouplasso.New(d, g, grouplasso.Options{Intercept: true, Standardize: true})
		}
	case "elastic-net":
		m, err = elasticnet.New(d, elasticnet.Options{Intercept: true, Standardize: true})
		shares = []float64{1, 0.9, 0.5, 0.1, 0}
	case "logistic":
		m, err = logistic.New(d, logistic.Options{Intercept: true, Standardize: true})
		shares = []float64{1, 0.9, 0.5, 0.1, 0}
	default:
		err = fmt.Errorf("model %q, expected lasso, ridge, group-lasso, elastic-net or logistic", name)
	}
	if err != nil {
		return 0, 0, err
	}
	r, err := tune.Run(ctx, m, tune.Config{Method: tune.MethodVFiDCA})
	if err != nil || r.Selection == nil {
		return 0, 0, fmt.Errorf("nothing was chosen: %w", err)
	}
	fit, err := m.Advice().Together(ctx)
	if err != nil || fit == nil {
		return 0, 0, fmt.Errorf("folds are not solved together: %w", err)
	}
	const gap, decades = 1e-7, 4 // of the grid
	least, unit := math.Inf(1), 0.0
	top := fit.LambdaMax()
	for _, share := range shares {
		chain, first, span := lower.NewChain(fit, gap), top/share, float64(decades)
		if share == 0 || name == "ridge" { // whose coefficients vanish nowhere
			first, span = 100*top, 2*decades
		}
		for k := range points {
			l := first * math.Pow(10, -span*float64(k)/float64(points-1))
			pt, err := chain.Solve(ctx, weights(l, share, r.Selection.Lambda))
			if err != nil {
				return 0, 0, err
			}
			if unit == 0 {
				unit = m.Evaluate(pt.X).Validation / pt.Validation
			}
			if pt.Solved {
				least = math.Min(least, unit*pt.Validation)
			}
		}
	}
	return r.Refit.Validation/least - 1, len(r.Trace), nil
}

// weights are those of a sum with the share of the first, or its factor for each weight of many in the proportions of those chosen.
func weights(sum, share float64, chosen []float64) []float64 {
	if len(chosen) == 2 && share < 1 {
		return []float64{share * sum, (1 - share) * sum}
	}
	out := slices.Clone(chosen)
	most := slices.Max(chosen)
	for j := range out {
		out[j] *= sum / most
	}
	return out
}

// table is the one of a number, with ten folds.
func table(number uint64, labels bool) *dataset.CrossValidation {
	rng := rand.New(rand.NewPCG(number, 1))
	of := func(list ...int) int { return list[rng.IntN(len(list))] }
	n := of(20, 30, 40, 60, 80, 120, 200, 300)
	p := of(2, 5, 10, 20, 40, 80, 150)
	if rng.IntN(4) == 0 { // nearly as many as training rows
		p = max(2, n*9/10+rng.IntN(7)-3)
	}
	x := mat.NewDense(n, p, nil)
	alike, heavy := []float64{0, 0, 0.5, 0.9, 0.99}[rng.IntN(5)], rng.IntN(4) == 0
	factor := rng.IntN(2) == 0
	for i := range n {
		common, before := rng.NormFloat64(), 0.0
		for j := range p {
			v := rng.NormFloat64()
			if heavy {
				v *= math.Exp(rng.NormFloat64())
			}
			if factor {
				v = alike*common + math.Sqrt(1-alike*alike)*v
			} else if j > 0 {
				v = alike*before + math.Sqrt(1-alike*alike)*v
			}
			before = v
			x.Set(i, j, v)
		}
	}
	y := mat.NewVecDense(n, nil)
	count := min(p, of(0, 1, 3, 10, p, p)) // features that count
	b := mat.NewVecDense(p, nil)
	for _, j := range rng.Perm(p)[:count] {
		b.SetVec(j, rng.NormFloat64())
	}
	if count > 0 {
		y.MulVec(x, b)
		y.ScaleVec(1/max(mat.Norm(y, 2), 1e-9)*math.Sqrt(float64(n)), y)
	}
	noise := []float64{0.01, 0.3, 1, 1, 3}[rng.IntN(5)]
	d := &dataset.Data{X: x}
	for i := range n {
		v := y.AtVec(i) + noise*rng.NormFloat64()
		if labels {
			v = math.Copysign(1, v)
			if i < 4 { // both are there
				v = float64(1 - 2*(i%2))
			}
		}
		d.Y = append(d.Y, v)
	}
	for j := range p {
		d.Features = append(d.Features, fmt.Sprintf("x%d", j))
	}
	cv, err := dataset.CrossValidate(d, 10, number, nil)
	if err != nil {
		panic(err) // there are more rows than folds
	}
	return cv
}

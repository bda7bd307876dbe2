// Command lassobench compares what models of many weights predict beside those of one, on the synthetic problems of
// LassoBench.
//
//	go run ./bench/lassobench -seeds 10
//
// The problems are those of K. Sehic, A. Gramfort, J. Salmon, L. Nardi, LassoBench: A High-Dimensional Hyperparameter
// Optimization Benchmark Suite for Lasso, AutoML 2022: four sizes, a twentieth of whose coefficients are 1 and -1 in
// turn at random places, rows N(0, S) with S_jk = 0.6^|j-k|, and noise with |X b| / |e| = 10 and 3. Rows are those that
// are left there for training; 2000 further rows are the test. Models are chosen by five folds, or with -split by
// two fifths of the rows, and are then fitted to all rows. With -groups MODEL the problems are those of groups.go.
//
// With -loss logistic targets are labels whose logit X b has the standard deviations 10 and 3, with -loss poisson
// counts whose log mean has the standard deviation 1 about log 10 and log 3. The lasso is that with their loss, the
// rung common of weighted-logistic or weighted-poisson, and net is logistic or poisson. -rows multiplies the numbers of
// rows.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/deviance"
	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/usage"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

func main() {
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "lassobench:", err)
		os.Exit(1)
	}
}

// sizes are rows and features, and ratios those of signal to noise.
var (
	sizes  = [][2]int{{25, 60}, {42, 100}, {127, 300}, {425, 1000}}
	ratios = []float64{10, 3}
)

// methods are models as they are named in the table: weighted-lasso by its ladder, by each of its rungs and by other
// methods.
var methods = []string{
	"lasso", "adaptive-lasso", "weighted-lasso", "common", "adaptive", "adaptive-twice", "free",
	"hoag", "igjo", "random", "tpe", "cma-es", "net",
}

func measure() error {
	seeds := flag.Int("seeds", 10, "`NUMBER` of draws of each problem")
	split := flag.Bool("split", false, "choose by a split in the place of folds")
	names := flag.String("methods", strings.Join(methods[:3], ","), "some of "+strings.Join(methods, ", ")+
		"; with -groups of "+strings.Join(groupMethods, ", "))
	most := flag.Int("sizes", len(sizes), "how many of the sizes, the small ones first")
	model := flag.String("groups", "", "`MODEL`, sparse-group-lasso or group-lasso, on problems of groups")
	final := flag.String("final", tune.FinalAll, "final fit of these, all or train")
	rows := flag.Int("rows", 1, "`FACTOR` of the numbers of rows")
	kind := flag.String("loss", "squares", "squares, logistic or poisson")
	flag.Parse()
	l, known := losses[*kind]
	if !known {
		return fmt.Errorf("unknown loss %q", *kind)
	}
	list := strings.Split(*names, ",")
	if *model != "" {
		return measureGroups(list, *model, *final, *seeds, *split)
	}
	fmt.Println(
		"| rows x features, ratio | method | test error over that of the truth | over the lasso's | F-score | CPU s |")
	fmt.Println("|---|---|---|---|---|---|")
	all := make([][]float64, len(list)) // logarithms of test errors over those of the first method
	for _, size := range sizes[:*most] {
		for _, ratio := range ratios {
			sums := make([][3]float64, len(list))
			for seed := range *seeds {
				p := draw(uint64(seed), size[0]**rows, size[1], ratio, l)
				var first float64
				for k, name := range list {
					begun := usage.Processor()
					fit, err := p.fit(name, *split)
					if err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
					e := math.Log(p.error(fit.Coefficients, fit.Intercept) / p.error(p.coefficients, p.intercept))
					if k == 0 {
						first = e
					}
					sums[k][0] += e / float64(*seeds)
					sums[k][1] += p.score(fit.Coefficients) / float64(*seeds)
					sums[k][2] += (usage.Processor() - begun) / float64(*seeds)
					all[k] = append(all[k], e-first)
				}
			}
			for k, name := range list {
				over := math.Exp(sums[k][0] - sums[0][0])
				fmt.Printf("| %d x %d, %g | %s | %.3f | %.3f | %.2f | %.3f |\n",
					size[0]**rows, size[1], ratio, name, math.Exp(sums[k][0]), over, sums[k][1], sums[k][2])
			}
		}
	}
	for k, name := range list {
		mean, sd := stat.MeanStdDev(all[k], nil)
		se := sd / math.Sqrt(float64(len(all[k])))
		worse := 0.0
		for _, v := range all[k] {
			if v > math.Log(1.02) {
				worse += 100 / float64(len(all[k]))
			}
		}
		fmt.Printf("| all | %s | standard error %.3f, %.0f %% over 1.02 | %.3f | | |\n", name, se, worse, math.Exp(mean))
	}
	return nil
}

// loss is a kind of targets: its models, how X b becomes a value and that a target, and what a value costs.
type loss struct {
	lasso, weighted, net func(dataset.Division, regression.Options) (*regression.Model, error)
	value                func(square, ratio float64) (scale, intercept float64) // of X b of that mean square
	draw                 func(rng *rand.Rand, f float64) (y float64)
	of                   func(f, y float64) float64
}

var losses = map[string]loss{
	"squares": {
		lasso: regression.Lasso, weighted: regression.WeightedLasso, net: regression.ElasticNet,
		of: func(f, y float64) float64 { return (f - y) * (f - y) },
	},
	"logistic": {
		weighted: regression.WeightedLogistic, net: regression.Logistic,
		value: func(square, ratio float64) (scale, intercept float64) { return ratio / math.Sqrt(square), 0 },
		draw: func(rng *rand.Rand, f float64) float64 {
			if rng.Float64() < 1/(1+math.Exp(-f)) {
				return 1
			}
			return -1
		},
		of: func(f, y float64) float64 { return max(-y*f, 0) + math.Log1p(math.Exp(-math.Abs(f))) },
	},
	"poisson": {
		weighted: regression.WeightedPoisson, net: regression.Poisson,
		value: func(square, ratio float64) (scale, intercept float64) { return 1 / math.Sqrt(square), math.Log(ratio) },
		draw:  func(rng *rand.Rand, f float64) float64 { return distuv.Poisson{Lambda: math.Exp(f), Src: rng}.Rand() },
		of:    func(f, y float64) float64 { return deviance.HalfPoisson(y, math.Exp(f), f) },
	},
}

// problem is a draw.
type problem struct {
	loss
	rows, tests  *dataset.Data
	coefficients []float64
	intercept    float64
}

const testRows = 2000

func draw(seed uint64, n, p int, ratio float64, l loss) *problem {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	out := &problem{loss: l, coefficients: make([]float64, p)}
	for k, j := range rng.Perm(p)[:max(1, p/20)] {
		out.coefficients[j] = 1 - 2*float64(k%2)
	}
	x, y, norms := mat.NewDense(n+testRows, p, nil), make([]float64, n+testRows), [2]float64{}
	noise := make([]float64, len(y))
	const correlation = 0.6
	for i := range y {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
			if j > 0 {
				row[j] = correlation*row[j-1] + math.Sqrt(1-correlation*correlation)*row[j]
			}
			y[i] += row[j] * out.coefficients[j]
		}
		noise[i] = rng.NormFloat64()
		norms[0], norms[1] = norms[0]+y[i]*y[i], norms[1]+noise[i]*noise[i]
	}
	scale := math.Sqrt(norms[0]/norms[1]) / ratio
	for i := range y {
		y[i] += scale * noise[i]
	}
	if l.draw != nil {
		scale, out.intercept = l.value(norms[0]/float64(len(y)), ratio)
		floats.Scale(scale, out.coefficients)
		for i := range y {
			y[i] = l.draw(rng, out.intercept+floats.Dot(x.RawRowView(i), out.coefficients))
		}
	}
	features := make([]string, p)
	for j := range features {
		features[j] = fmt.Sprintf("x%d", j+1)
	}
	all := &dataset.Data{X: x, Y: y, Features: features, Target: "y"}
	out.rows, out.tests = all.Rows(indices.Range(0, n)), all.Rows(indices.Range(n, n+testRows))
	return out
}

// fit is the predictor of a method.
func (p *problem) fit(name string, bySplit bool) (problems.Fit, error) {
	var rows dataset.Division
	if n := len(p.rows.Y); bySplit {
		cut := n * 3 / 5
		rows = &dataset.Split{Train: p.rows.Rows(indices.Range(0, cut)), Val: p.rows.Rows(indices.Range(cut, n))}
	} else {
		cv, err := dataset.CrossValidate(p.rows, 5, 1, nil)
		if err != nil {
			return problems.Fit{}, err
		}
		rows = cv
	}
	var m problems.Model
	var err error
	config := tune.Config{}
	o := regression.Options{Intercept: true, Standardize: true}
	switch {
	case name == "lasso" && p.lasso != nil:
		m, err = p.lasso(rows, o)
	case name == "net":
		m, err = p.net(rows, o)
	case name == "adaptive-lasso":
		o.Pilot, o.Gamma = "lasso", 2
		m, err = regression.AdaptiveLasso(rows, o)
	default:
		m, err = p.weighted(rows, o)
		switch name {
		case "weighted-lasso":
		case "lasso":
			config.Rung = "common"
		case "common", "adaptive", "adaptive-twice", tune.RungFree:
			config.Rung = name
		default:
			config.Method, config.Scope = name, tune.ScopeEach
		}
	}
	if err != nil {
		return problems.Fit{}, err
	}
	r, err := tune.Run(context.Background(), m, config)
	if err != nil {
		return problems.Fit{}, err
	}
	return r.RefitFit, nil
}

// error is the mean loss of the test rows.
func (p *problem) error(coefficients []float64, intercept float64) float64 {
	sum := 0.0
	for i, f := range p.tests.Mul(coefficients) {
		sum += p.of(f+intercept, p.tests.Y[i])
	}
	return sum / float64(len(p.tests.Y))
}

// score is the F-score of the features in use.
func (p *problem) score(coefficients []float64) float64 {
	right, used, count := 0.0, 0.0, 0.0
	for j, v := range coefficients {
		if v != 0 {
			used++
		}
		if p.coefficients[j] != 0 {
			count++
			if v != 0 {
				right++
			}
		}
	}
	return 2 * right / math.Max(used+count, 1)
}

package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/adaptive"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/lasso"
	"github.com/conetune/conetune/problems/wlasso"
	"github.com/conetune/conetune/tune"
)

// BenchmarkLassoBench has what models of many weights predict beside those of one, on the synthetic problems of K.
// Sehic, A. Gramfort, J. Salmon, L. Nardi, LassoBench: A High-Dimensional Hyperparameter Optimization Benchmark Suite
// for Lasso, AutoML 2022: four sizes, a twentieth of whose coefficients are 1 and -1 in turn at random places, rows
// N(0, S) with S_jk = 0.6^|j-k|, and noise with |X b| / |e| = 10 and 3. Rows are those that are left there for training;
// 2000 further rows are the test. With the truth dense all coefficients are standard normal, with noise there are none.
// Models are chosen by five folds, or by a split with two fifths of the rows, and are then fitted to all rows.
//
// -benchtime Nx takes the seeds 0 to N - 1. test/truth is the geometric mean of the test error over that of the truth,
// of which those of two methods are to be divided, and F the mean F-score of the features in use. All of it takes hours.
func BenchmarkLassoBench(b *testing.B) {
	for _, truth := range []string{"sparse", "dense", "noise"} {
		for _, by := range []string{"folds", "split"} {
			for _, size := range [][2]int{{25, 60}, {42, 100}, {127, 300}, {425, 1000}} {
				for _, ratio := range []float64{10, 3} {
					for _, method := range []string{
						"lasso", "adaptive-lasso", "weighted-lasso", // by its ladder, by each of its rungs and by other methods
						"common", "adaptive", "adaptive-twice", "free", "hoag", "igjo", "random", "tpe", "cma-es",
					} {
						b.Run(fmt.Sprintf("%s/%s/%dx%d/ratio=%g/%s", truth, by, size[0], size[1], ratio, method), func(b *testing.B) {
							error, score, n := 0.0, 0.0, 0.0
							for seed := uint64(0); b.Loop(); seed++ {
								p := draw(seed, size[0], size[1], ratio, truth)
								fit, err := p.fit(method, by == "split")
								require.NoError(b, err)
								error += math.Log(p.error(fit.Coefficients, fit.Intercept) / p.error(p.coefficients, 0))
								score, n = score+p.score(fit.Coefficients), n+1
							}
							b.ReportMetric(math.Exp(error/n), "test/truth")
							b.ReportMetric(score/n, "F")
						})
					}
				}
			}
		}
	}
}

// problem is a draw.
type problem struct {
	rows, tests  *dataset.Data
	coefficients []float64
}

const testRows = 2000

func draw(seed uint64, n, p int, ratio float64, truth string) *problem {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	out := &problem{coefficients: make([]float64, p)}
	switch truth {
	case "dense":
		for j := range out.coefficients {
			out.coefficients[j] = rng.NormFloat64()
		}
	case "sparse":
		for k, j := range rng.Perm(p)[:max(1, p/20)] {
			out.coefficients[j] = 1 - 2*float64(k%2)
		}
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
	if scale == 0 {
		scale = 1
	}
	for i := range y {
		y[i] += scale * noise[i]
	}
	features := make([]string, p)
	for j := range features {
		features[j] = fmt.Sprintf("x%d", j+1)
	}
	all := &dataset.Data{X: x, Y: y, Features: features, Target: "y"}
	out.rows, out.tests = part(all, 0, n), part(all, n, n+testRows)
	return out
}

// part are some rows.
func part(d *dataset.Data, from, to int) *dataset.Data {
	list := make([]int, to-from)
	for i := range list {
		list[i] = from + i
	}
	return d.Rows(list)
}

// fit is the predictor of a method.
func (p *problem) fit(name string, bySplit bool) (tune.Fit, error) {
	var rows dataset.Division
	if n := len(p.rows.Y); bySplit {
		rows = &dataset.Split{Train: part(p.rows, 0, n*3/5), Val: part(p.rows, n*3/5, n)}
	} else {
		cv, err := dataset.CrossValidate(p.rows, 5, 1, nil)
		if err != nil {
			return tune.Fit{}, err
		}
		rows = cv
	}
	var m tune.Model
	var err error
	config := tune.Config{}
	switch name {
	case "lasso":
		m, err = lasso.New(rows, lasso.Options{Intercept: true, Standardize: true})
	case "adaptive-lasso":
		m, err = adaptive.New(rows, adaptive.Lasso, 2, adaptive.Options{Intercept: true, Standardize: true})
	default:
		m, err = wlasso.New(rows, wlasso.Options{Intercept: true, Standardize: true})
		switch name {
		case "weighted-lasso":
		case "common", "adaptive", "adaptive-twice", tune.RungFree:
			config.Rung = name
		default:
			config.Method, config.Scope = name, tune.ScopeEach
		}
	}
	if err != nil {
		return tune.Fit{}, err
	}
	r, err := tune.Run(context.Background(), m, config)
	if err != nil {
		return tune.Fit{}, err
	}
	return r.RefitFit, nil
}

// error is the mean squared error of the test rows.
func (p *problem) error(coefficients []float64, intercept float64) float64 {
	sum := 0.0
	for i, f := range p.tests.Mul(coefficients) {
		d := p.tests.Y[i] - f - intercept
		sum += d * d
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

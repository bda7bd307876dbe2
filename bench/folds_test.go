package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// table has n normal rows of p features, neighbours correlated with rho, and the target of a sum s of a tenth of them,
// of variance 1.
func table(n, p int, rho float64, target func(r *rand.Rand, s float64) float64) *dataset.Data {
	r := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "y", Features: make([]string, p)}
	for j := range p {
		d.Features[j] = fmt.Sprint("x", j+1)
	}
	b := make([]float64, p)
	for j := range max(1, p/10) {
		b[10*j%p] = r.NormFloat64()
	}
	size := mat.Norm(mat.NewVecDense(p, b), 2)
	for i := range n {
		last, s := r.NormFloat64(), 0.0
		for j := range p {
			if j > 0 {
				last = rho*last + math.Sqrt(1-rho*rho)*r.NormFloat64()
			}
			d.X.(*mat.Dense).Set(i, j, last)
			s += b[j] * last / size
		}
		d.Y[i] = target(r, s)
	}
	return d
}

// BenchmarkFolds is the ordinary job: one table, one model, its weights chosen by ten folds.
func BenchmarkFolds(b *testing.B) {
	noisy := func(r *rand.Rand, s float64) float64 { return s + 0.7*r.NormFloat64() }
	label := func(r *rand.Rand, s float64) float64 {
		return math.Copysign(1, r.Float64()-1/(1+math.Exp(3*s)))
	}
	count := func(r *rand.Rand, s float64) float64 { return distuv.Poisson{Lambda: math.Exp(0.8 * s), Src: r}.Rand() }
	for _, c := range []struct {
		name  string
		data  *dataset.Data
		model func(*dataset.CrossValidation) (problems.Model, error)
	}{
		{"lasso-300x30", table(300, 30, 0, noisy), func(v *dataset.CrossValidation) (problems.Model, error) {
			return regression.Lasso(v, regression.Options{Intercept: true, Standardize: true})
		}},
		{"lasso-500x250-correlated", table(500, 250, 0.9, noisy), func(v *dataset.CrossValidation) (problems.Model, error) {
			return regression.Lasso(v, regression.Options{Intercept: true, Standardize: true})
		}},
		{"elastic-net-100x2000", table(100, 2000, 0, noisy), func(v *dataset.CrossValidation) (problems.Model, error) {
			return regression.ElasticNet(v, regression.Options{Intercept: true, Standardize: true})
		}},
		{"logistic-400x25", table(400, 25, 0, label), func(v *dataset.CrossValidation) (problems.Model, error) {
			return regression.Logistic(v, regression.Options{Intercept: true, Standardize: true})
		}},
		{"poisson-300x100", table(300, 100, 0, count), func(v *dataset.CrossValidation) (problems.Model, error) {
			return regression.Poisson(v, regression.Options{Intercept: true, Standardize: true})
		}},
		{"group-lasso-300x300", table(300, 300, 0, noisy), func(v *dataset.CrossValidation) (problems.Model, error) {
			g, err := groups.Equal(300, 30)
			if err != nil {
				return nil, err
			}
			return regression.GroupLasso(v, regression.Options{Groups: g, Intercept: true, Standardize: true})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			division := must.Of(dataset.CrossValidate(c.data, 10, 1, nil))(b)
			var r *tune.Result
			for b.Loop() {
				m := must.Of(c.model(division))(b)
				r = must.Of(tune.Run(context.Background(), m, tune.Config{Seed: 1}))(b)
				require.Equal(b, outcome.Converged, r.Status)
			}
			b.ReportMetric(float64(len(r.Trace)), "fits/op")
		})
	}
}

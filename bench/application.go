package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/problems/svm"
	"github.com/conetune/conetune/tune"
)

// Application is a model with data that are made up by a seed, on which backends are compared.
type Application struct {
	// Model is the name of the model on the command line, Data that of the data.
	Model, Data string
	// Build generates the data and the model.
	Build func() (tune.Model, error)
}

// lowRank says that the stages are solved with working sets on backends without the cone of the nuclear norm: as one
// semidefinite program, the subproblem of a matrix completion is out of reach.
func (a *Application) lowRank() bool { return a.Model == "matrix-completion" }

// wide says that the stages are solved with working sets on backends that take second-order cones by sequences of
// quadratic programs: in many features each of these is a long one.
func (a *Application) wide() bool { return a.Data == wideNet }

// wideNet are the data of the elastic net with most features.
const wideNet = "100-100-100-p2500"

// constructor is that of a regression.
type constructor func(dataset.Division, regression.Options) (*regression.Model, error)

// Applications returns all applications, small ones first within a model.
func Applications() []Application {
	rows := func(config dataset.Config, err error) (*dataset.Split, error) {
		if err != nil {
			return nil, err
		}
		data, _, err := dataset.Generate(config, 1)
		return data, err
	}
	type made = func() (tune.Model, error)
	split := func(preset string, build constructor, f func(y float64) float64, o regression.Options) made {
		return func() (tune.Model, error) {
			data, err := rows(dataset.Preset(preset))
			if err != nil {
				return nil, err
			}
			if f == nil {
				return build(data, o)
			}
			return build(data.Map(f), o)
		}
	}
	grouped := func(preset string, build constructor) made {
		return func() (tune.Model, error) {
			config, m, err := dataset.GroupedPreset(preset)
			data, err := rows(config, err)
			if err != nil {
				return nil, err
			}
			g, err := groups.Equal(config.Features, m)
			if err != nil {
				return nil, err
			}
			return build(data, regression.Options{Groups: g})
		}
	}
	plain := func(preset string, build constructor) made {
		return split(preset, build, nil, regression.Options{})
	}
	sign := func(y float64) float64 { return math.Copysign(1, y) }
	count := func(y float64) float64 { return math.Round(math.Exp(y / 4)) }
	const small = "100-100-100-p50"
	return []Application{
		{"elastic-net", "100-100-250-p250", plain("100-100-250-p250", regression.ElasticNet)},
		{"elastic-net", wideNet, plain(wideNet, regression.ElasticNet)},
		{"weighted-lasso", "100-100-250-p250", plain("100-100-250-p250", regression.WeightedLasso)},
		{"sparse-group-lasso", "100-100-100-p600-m30", grouped("100-100-100-p600-m30", regression.SparseGroupLasso)},
		{"group-lasso", "100-100-100-p60-m20", grouped("100-100-100-p60-m20", regression.GroupLasso)},
		{"fused-lasso", small, plain(small, regression.FusedLasso)},
		{"bounded-elastic-net", small, plain(small, regression.BoundedElasticNet)},
		{"huber", small, plain(small, regression.Huber)},
		{"quantile", small, plain(small, regression.Quantile)},
		{"logistic", small + ", signs", split(small, regression.Logistic, sign, regression.Options{})},
		{"poisson", small + ", counts", split(small, regression.Poisson, count, regression.Options{Intercept: true})},
		{"multi-task", small + ", three targets", severalTargets},
		{"matrix-completion", "60-60", completion},
		{"svm", "three folds of 100 rows, 20 features", machines},
	}
}

// severalTargets is a regression of three targets that use the same six of fifty features.
func severalTargets() (tune.Model, error) {
	const rows, features, targets = 100, 50, 3
	random := rand.New(rand.NewPCG(2, 5))
	draw := func() *dataset.Data {
		x := mat.NewDense(rows, features, nil)
		d := &dataset.Data{X: x, Y: make([]float64, rows), Targets: mat.NewDense(rows, targets, nil)}
		for j := range features {
			d.Features = append(d.Features, fmt.Sprintf("x%d", j+1))
		}
		for i := range rows {
			for j := range features {
				x.Set(i, j, random.NormFloat64())
			}
			for k := range targets {
				y := 2 * random.NormFloat64()
				for j := range 6 { // six features that all targets use, with coefficients 1, 2, 3
					y += float64(1+(j+k)%3) * x.At(i, j)
				}
				d.Targets.Set(i, k, y)
			}
		}
		return d
	}
	train, val := draw(), draw()
	return regression.MultiTask(&dataset.Split{Train: train, Val: val}, regression.Options{})
}

// completion is a matrix completion of the paper's size.
func completion() (tune.Model, error) {
	config, err := matcomp.Preset("60-60")
	if err != nil {
		return nil, err
	}
	data, err := matcomp.Generate(config, 1)
	if err != nil {
		return nil, err
	}
	return matcomp.New(data, matcomp.Options{})
}

// machines is a support vector machine for two overlapping classes, which three of twenty features tell apart.
func machines() (tune.Model, error) {
	const rows, features = 300, 20
	random := rand.New(rand.NewPCG(1, 5))
	x, y := mat.NewDense(rows, features, nil), make([]float64, rows)
	names := make([]string, features)
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	for i := range y {
		y[i] = float64(2*(i%2) - 1)
		for j := range features {
			v := random.NormFloat64()
			if j < 3 {
				v += 0.7 * y[i]
			}
			x.Set(i, j, v)
		}
	}
	data := &dataset.Data{X: x, Y: y, Features: names, Target: "y"}
	classes, err := svm.Classes(data)
	if err != nil {
		return nil, err
	}
	cv, err := dataset.CrossValidate(data, 3, 1, classes)
	if err != nil {
		return nil, err
	}
	return svm.New(cv, svm.Options{})
}

// Models returns the names of the models that have applications.
func Models() []string {
	var names []string
	for _, a := range Applications() {
		if !slices.Contains(names, a.Model) {
			names = append(names, a.Model)
		}
	}
	return names
}

// Select returns the applications of the named models, all where names is empty.
func Select(names []string) ([]Application, error) {
	for _, name := range names {
		if !slices.Contains(Models(), name) {
			return nil, fmt.Errorf("bench: unknown model %q; known are: %s", name, strings.Join(Models(), ", "))
		}
	}
	var out []Application
	for _, a := range Applications() {
		if len(names) == 0 || slices.Contains(names, a.Model) {
			out = append(out, a)
		}
	}
	return out, nil
}

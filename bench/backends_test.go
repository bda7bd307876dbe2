package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	_ "github.com/conetune/conetune/backends/osqp"
	_ "github.com/conetune/conetune/backends/scs"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// polyhedral is the native solver without second-order cones, as OSQP is.
type polyhedral struct{ backends.ConicBackend }

func (polyhedral) Name() string { return "polyhedral" }

func init() {
	native, err := backends.Open("native")
	if err != nil {
		panic(err)
	}
	backends.Register(polyhedral{backendtest.Lines(native)})
}

func TestBackends(t *testing.T) {
	seen := 0
	rows := must.Of(Backends(context.Background(), BackendsOptions{
		Models: []string{"weighted-lasso"}, Backends: []string{"native", "polyhedral"}, Repeats: 1,
		Observe: func(_ BackendRow, done, all int) {
			seen++
			require.Equal(t, seen, done)
			require.Equal(t, 8, all)
		},
	}))(t)
	require.Len(t, rows, 8)
	for i, r := range rows {
		stage := i / 2
		want := append(stageNames(), Run)[stage]
		require.Equal(t, want, r.Stage)
		require.Equal(t, []string{"native", "polyhedral"}[i%2], r.Backend)
		require.Contains(t, []string{"optimal", "converged"}, r.Status, r.Reason)
		require.Less(t, *r.Residual, 1e-7)
		require.Less(t, *r.Error, 1e-5)
		require.Positive(t, r.Seconds)
		require.Positive(t, r.Iterations)
		require.Positive(t, r.Setups)
	}
	require.Greater(t, rows[5].Updates, rows[4].Updates, "without the second-order cone the subproblem is a search")
}

func stageNames() (names []string) {
	for _, s := range stages {
		names = append(names, string(s))
	}
	return names
}

// A pair that does not go together is in the table once, with the reason.
func TestUnsupportedPair(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	rows := must.Of(Backends(ctx, BackendsOptions{
		Models: []string{"elastic-net"}, Backends: []string{"polyhedral"}, Eps: []float64{1e-6, 1e-8}, Repeats: 1,
		Observe: func(_ BackendRow, done, _ int) {
			if done == 4 {
				cancel()
			}
		},
	}))(t)
	require.Len(t, rows, 4)
	require.Equal(t, "optimal", rows[0].Status)
	for _, r := range rows[2:] { // the bound on a sum of squares
		require.Equal(t, "unsupported", r.Status, r.Reason)
		require.Contains(t, r.Reason, "second-order cone")
		require.Nil(t, r.Error)
	}
	var page bytes.Buffer
	text := Markdown(rows)
	require.Equal(t, 1, strings.Count(text, "unsupported"))
	require.Equal(t, 3, strings.Count(text, "polyhedral  ")+strings.Count(text, "polyhedral |"))
	require.NoError(t, WriteHTML(&page, rows, Page{Version: "1 < 2", Command: "x"}))
	require.Contains(t, page.String(), "1 &lt; 2")
	require.Contains(t, page.String(), "<span>elastic-net 100-100-250-p250</span></caption>")
	must.Of(json.Marshal(rows))(t)
}

func TestBackendsRejects(t *testing.T) {
	for want, o := range map[string]BackendsOptions{
		"unknown model":   {Models: []string{"x"}},
		"unknown backend": {Backends: []string{"x"}},
		"-1 repeats":      {Repeats: -1},
	} {
		_, err := Backends(context.Background(), o)
		require.ErrorContains(t, err, want)
	}
}

// What package model says of the methods that a model is for is what the model says.
func TestModes(t *testing.T) {
	for _, a := range applications {
		m := must.Of(a.Build())(t)
		for _, method := range tune.Methods() {
			require.Equal(t, tune.Able(method, m.Advice().Modes), slices.Contains(model.Able(method), m.Name()), "%s, %s",
				m.Name(), method)
		}
	}
}

// BenchmarkBackends solves every stage of every application on every backend of the build:
// application/stage/backend/eps.
func BenchmarkBackends(b *testing.B) {
	reference := must.Of(backends.Open(Reference))(b)
	for _, a := range applications {
		b.Run("model="+a.Model+"/data="+a.Data, func(b *testing.B) {
			m := must.Of(a.Build())(b)
			s := must.Of(newPoint(context.Background(), m.Program(), reference))(b)
			for _, name := range slices.DeleteFunc(backends.Names(), func(n string) bool { return n == "polyhedral" }) {
				solver := must.Of(backends.Open(name))(b)
				o := BackendsOptions{Repeats: 1, TimeLimit: time.Minute}
				for _, eps := range o.tolerances(solver) {
					for _, stage := range append(stageNames(), Run) {
						row := BackendRow{Stage: stage, Backend: name, Eps: eps}
						b.Run(fmt.Sprintf("stage=%s/backend=%s/eps=%g", strings.ReplaceAll(stage, " ", "-"), name, eps),
							func(b *testing.B) {
								for b.Loop() {
									if stage == Run {
										o.run(context.Background(), &row, m, 0)
									} else {
										o.stage(context.Background(), &row, s, solver, 0, a)
									}
									if row.Status == unsupported || row.Status == failed {
										b.Skip(row.Reason)
									}
								}
								b.ReportMetric(float64(row.Iterations), "solver-iterations")
								if row.Residual != nil {
									b.ReportMetric(-math.Log10(max(*row.Residual, 1e-16)), "digits") // of the residual
								}
							})
					}
				}
			}
		})
	}
}

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
		model func(dataset.Division, regression.Options) (*regression.Model, error)
	}{
		{"lasso-300x30", table(300, 30, 0, noisy), regression.Lasso},
		{"lasso-500x250-correlated", table(500, 250, 0.9, noisy), regression.Lasso},
		{"elastic-net-100x2000", table(100, 2000, 0, noisy), regression.ElasticNet},
		{"logistic-400x25", table(400, 25, 0, label), regression.Logistic},
		{"poisson-300x100", table(300, 100, 0, count), regression.Poisson},
		{"group-lasso-300x300", table(300, 300, 0, noisy), regression.GroupLasso},
	} {
		b.Run(c.name, func(b *testing.B) {
			division := must.Of(dataset.CrossValidate(c.data, 10, 1, nil))(b)
			o := regression.Options{Intercept: true, Standardize: true}
			if c.name == "group-lasso-300x300" {
				o.Groups = must.Of(groups.Equal(300, 30))(b)
			}
			var r *tune.Result
			for b.Loop() {
				m := must.Of(c.model(division, o))(b)
				r = must.Of(tune.Run(context.Background(), m, tune.Config{Seed: 1}))(b)
				require.Equal(b, outcome.Converged, r.Status)
			}
			b.ReportMetric(float64(len(r.Trace)), "fits/op")
		})
	}
}

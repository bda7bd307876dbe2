package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/elasticnet"
	"github.com/conetune/conetune/tune"
)

// sizes are those of the paper's experiments, and one with many rows.
var sizes = []string{"100-20-250-p250", "100-100-250-p250", "1000-200-250-p250", "100-100-100-p2500"}

func program(b *testing.B, size string) dca.Program {
	b.Helper()
	return model(b, size).Program()
}

func model(b *testing.B, size string) *elasticnet.Model {
	b.Helper()
	config, err := dataset.Preset(size)
	require.NoError(b, err)
	split, _, err := dataset.Generate(config, 1)
	require.NoError(b, err)
	m, err := elasticnet.New(split, elasticnet.Options{})
	require.NoError(b, err)
	return m
}

func solver(b *testing.B, m *convex.Model, sets bool) *convex.Solver {
	b.Helper()
	prog, err := m.Compile()
	require.NoError(b, err)
	backend, err := backends.Open("native")
	require.NoError(b, err)
	s, err := prog.Solver(convex.SolverOptions{Backend: backend, WorkingSets: sets, ColdStart: true})
	require.NoError(b, err)
	return s
}

// measure solves again and again, moving a parameter each time so that nothing is reused but the analysis.
func measure(b *testing.B, s *convex.Solver, move func(round int)) {
	b.Helper()
	worst := 0.0
	round := 0
	b.ReportAllocs()
	for b.Loop() {
		move(round)
		round++
		r, err := s.Solve(context.Background())
		require.NoError(b, err)
		require.Equal(b, backends.Optimal, r.Status)
		worst = max(worst, r.Residuals.Max())
	}
	b.ReportMetric(float64(s.Stats().Iterations)/float64(round), "iterations/op")
	b.ReportMetric(worst, "residual")
}

// BenchmarkLowerLevel solves min l(b) subject to the two radii at the start of the paper's runs.
func BenchmarkLowerLevel(b *testing.B) {
	for _, size := range sizes {
		for _, sets := range []bool{false, true} {
			b.Run(fmt.Sprintf("data=%s/sets=%v", size, sets), func(b *testing.B) {
				p := program(b, size)
				m := convex.NewModel()
				r := m.Parameter("r", p.Radii)
				level := p.Build(m, r.Expr())
				m.Minimize(level.Train)
				for _, c := range level.Constraints {
					m.Constrain(convex.LessEqual(c, convex.Const(0)))
				}
				s := solver(b, m, sets)
				measure(b, s, func(k int) { require.NoError(b, r.Set([]float64{10 + 1e-3*float64(k%2), 5})) })
			})
		}
	}
}

// BenchmarkSubproblem solves the first subproblem of the algorithm: the
// validation loss, the proximal term at (0, r0), and the penalty of the largest
// of the linearised value-function constraint and the two radii.
func BenchmarkSubproblem(b *testing.B) {
	for _, size := range sizes {
		for _, sets := range []bool{false, true} {
			b.Run(fmt.Sprintf("data=%s/sets=%v", size, sets), func(b *testing.B) {
				p := program(b, size)
				m := convex.NewModel()
				r, t, alpha := m.Variable("r", p.Radii), m.Variable("t", 1), m.Parameter("alpha", 1)
				level := p.Build(m, r.Expr())
				prox := convex.SumSquares(r.Expr().Minus(convex.Const(p.H0...)))
				for _, x := range level.X {
					prox = prox.Plus(convex.SumSquares(x.Expr()))
				}
				m.Minimize(level.Validation.Plus(prox.Scale(5e-4)).PlusAffine(alpha.Dot(t.Expr())))
				value := level.Train.PlusAffine(r.Expr().Dot([]float64{0.35, 0})) // v and its slope, roughly
				m.Constrain(convex.LessEqual(value.MinusAffine(convex.Const(2+3.5)), t.Expr()))
				for _, c := range level.Constraints {
					m.Constrain(convex.LessEqual(c, t.Expr()))
				}
				m.Constrain(convex.GreaterEqual(t.Expr(), convex.Const(0)), convex.GreaterEqual(r.Expr(), convex.Const(0, 0)))
				s := solver(b, m, sets)
				measure(b, s, func(k int) { require.NoError(b, alpha.Set([]float64{1 + 1e-3*float64(k%2)})) })
			})
		}
	}
}

// BenchmarkRun is a whole run with the paper's settings, from data in memory to the refit.
func BenchmarkRun(b *testing.B) {
	for _, size := range sizes {
		b.Run("data="+size, func(b *testing.B) {
			m := model(b, size)
			b.ReportAllocs()
			var r *tune.Result
			for b.Loop() {
				var err error
				r, err = tune.VFiDCA(context.Background(), m, tune.Config{Preset: tune.PresetPaper})
				require.NoError(b, err)
				require.Equal(b, dca.Converged, r.Status)
			}
			b.ReportMetric(float64(r.Iterations), "iterations")
			b.ReportMetric(float64(r.SolverIterations), "solver-iterations")
			b.ReportMetric(r.LowerGap, "gap")
		})
	}
}

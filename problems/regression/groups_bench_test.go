package regression_test

import (
	"testing"

	"github.com/conetune/conetune/internal/modeltest"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/tune"
)

// The paper's settings on the paper's sizes. Reports the iterations of the method beside the time.
func BenchmarkPaper(b *testing.B) {
	for _, name := range []string{"100-100-100-p600-m30", "100-100-100-p600-m300"} {
		b.Run(name, func(b *testing.B) {
			c, count := must.Both(dataset.GroupedPreset(name))(b)
			split := must.First(dataset.Generate(c, 1))(b)
			g := must.Of(groups.Equal(c.Features, count))(b)
			for b.Loop() {
				m := must.Of(regression.SparseGroupLasso(split, options{Groups: g}))(b)
				s := m.PaperSettings()
				res := modeltest.Solve(b, m, s)
				b.ReportMetric(float64(res.Iterations), "iterations")
			}
		})
	}
}

// A hundred thousand features in ten thousand groups: go test -run '^$' -bench Scale -benchtime 1x.
func BenchmarkScale(b *testing.B) {
	c, count := must.Both(dataset.GroupedPreset("500-100-100-p100000-m10000"))(b)
	split := must.First(dataset.Generate(c, 1))(b)
	g := must.Of(groups.Equal(c.Features, count))(b)
	for _, preset := range []string{tune.PresetPaper, ""} {
		b.Run("preset="+preset, func(b *testing.B) {
			for b.Loop() {
				m := must.Of(regression.SparseGroupLasso(split, options{Groups: g}))(b)
				res := must.Of(tune.VFiDCA(b.Context(), m, tune.Config{Preset: preset}))(b)
				b.ReportMetric(float64(res.Iterations), "iterations")
				b.ReportMetric(*res.Refit.Test, "test-of-refit")
			}
		})
	}
}

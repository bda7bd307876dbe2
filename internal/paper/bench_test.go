package paper

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkItem does the first seed of every line of the tables with drawn data, and reports the errors of the refit
// beside the time.
func BenchmarkItem(b *testing.B) {
	p, err := NewPlan(nil, nil, nil, 1, nil)
	require.NoError(b, err)
	for _, i := range p.Items() {
		b.Run(fmt.Sprintf("table=%s/row=%s/method=%s/backend=%s", i.Table, i.Row, i.Method, i.Backend), func(b *testing.B) {
			var r *Record
			for b.Loop() {
				var err error
				r, err = Execute(context.Background(), i, nil)
				require.NoError(b, err)
				require.NotEqual(b, failed, r.Status, r.Message)
			}
			if r.Refit.Validation != nil && r.Refit.Test != nil {
				b.ReportMetric(*r.Refit.Validation, "validation-of-refit")
				b.ReportMetric(*r.Refit.Test, "test-of-refit")
			}
			b.ReportMetric(float64(r.Iterations), "iterations")
		})
	}
}

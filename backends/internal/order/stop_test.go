package order

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// TestStopAnywhere ends the analysis at every look at the context, of which there is one
// wherever the code allows: nothing comes out, nothing panics, and there is no further look.
func TestStopAnywhere(t *testing.T) {
	for name, p := range map[string]pattern{
		"grid": grid2D(8, 8), "random": randomPattern(40, 120, 1), "lasso": lasso(6, 30),
		"rows aside": bipartite(3, 400, 0.5, 1), "empty": randomPattern(30, 0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			wantPerm := p.amd()
			q := p.permuted(wantPerm)
			wantParent := Etree(q.n, q.colptr, q.rowidx, nil)
			wantPost := Postorder(wantParent, nil)
			wantCounts := ColCounts(q.n, q.colptr, q.rowidx, wantParent, wantPost, nil)
			s := stop.Every(1)
			for name, c := range map[string]struct {
				want []int32
				run  func() []int32
			}{
				"AMD":       {wantPerm, func() []int32 { return AMD(p.n, p.colptr, p.rowidx, Options{Stop: s}) }},
				"Etree":     {wantParent, func() []int32 { return Etree(q.n, q.colptr, q.rowidx, s) }},
				"Postorder": {wantPost, func() []int32 { return Postorder(wantParent, s) }},
				"ColCounts": {wantCounts, func() []int32 { return ColCounts(q.n, q.colptr, q.rowidx, wantParent, wantPost, s) }},
			} {
				at := 0
				for {
					ctx := stoptest.After(at)
					s.Begin(ctx, 0)
					got := c.run()
					if ctx.Looks() <= at {
						require.Equal(t, c.want, got, "%s, not stopped", name)
						break
					}
					require.Nil(t, got, "%s, stopped at look %d", name, at)
					require.Equal(t, at+1, ctx.Looks(), name)
					at++
				}
				require.GreaterOrEqual(t, at, p.n, "%s: looks", name)
			}
		})
	}
}

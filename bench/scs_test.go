//go:build (scs && cgo && !syslibs) || (scs_go && !(scs && cgo))

package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/scs"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
)

// TestSetUpsOfSCS has one elastic net solved by both backends: SCS sets up a program of each kind, and the subproblem
// once more where its working set grows. Before it took new matrices it set up 9 times.
func TestSetUpsOfSCS(t *testing.T) {
	config := must.Of(dataset.InSets.Preset("100-20-250-p250"))(t)
	split := must.First(dataset.Generate(config, 1))(t)
	m := must.Of(regression.ElasticNet(split, regression.Options{}))(t)
	results := map[string]*dca.Result{}
	for _, name := range []string{"native", "scs"} {
		s := m.PaperSettings()
		s.Backend = must.Of(backends.Open(name))(t)
		results[name] = must.Of(dca.Solve(context.Background(), m.Program(), s))(t)
	}
	scs, native := results["scs"], results["native"]
	require.InEpsilon(t, native.UpperValue, scs.UpperValue, 1e-4)
	require.LessOrEqual(t, scs.Stats.Setups, 3)
	require.GreaterOrEqual(t, scs.Stats.Updates, 2*scs.Iterations-1)
}

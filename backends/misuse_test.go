package backends_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/clarabel"
	"github.com/conetune/conetune/backends/highs"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/backends/osqp"
	"github.com/conetune/conetune/backends/scs"
)

// What the calls of the table answer, by name.
func TestMisuseNamed(t *testing.T) {
	var none context.Context
	p := &backends.Problem{Q: []float64{1}, B: []float64{1, 2}, Cones: []backends.Cone{backends.Zero(1)}}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"backends: the problem is nil", func() { backends.Recheck(nil, nil, nil, nil) }},
		{"backends: the parts of the problem do not fit together; Problem.Validate says where",
			func() { backends.NewJudge(p) }},
		{"backends: a vector does not have the length that the problem asks for",
			func() { backends.CheckDualInfeasible(new(backends.Problem), []float64{1}) }},
		{"backends: a vector does not have the dimension of its cone", func() { backends.Zero(2).Distance([]float64{1}) }},
		{"backends: a cone has no known kind", func() { backends.Cone{Kind: 99}.DualDistance(nil) }},
		{"backends: a Judge is zero; NewJudge makes one", func() { new(backends.Judge).Optimal(nil, nil, nil, 1) }},
		{"backends: Checked: the backend is nil", func() { backends.Checked(nil) }},
		{"backends: EndedBy: the context is nil", func() { backends.EndedBy(none) }},
	} {
		require.PanicsWithValue(t, c.want, c.f)
	}
	require.Zero(t, backends.PSDOrder(-1))
	be := backendtest.Open(t, "native")
	_, err := be.Setup(nil, backends.Options{})
	require.EqualError(t, err, "backends: Problem: is nil")
	require.EqualError(t, backends.Capabilities{}.Unsupported("x", nil), "backends: Problem: is nil")
	_, err = backendtest.Setup(t, be, &backends.Problem{Q: []float64{0}}, backends.Options{}).Solve(none)
	require.EqualError(t, err, "backends: Context: is nil")
}

// TestMissing: a build without the C library of a backend has its settings and knows its name, and asking for it says
// how to get it.
func TestMissing(t *testing.T) {
	_ = []any{clarabel.Settings{}, highs.Settings{}, osqp.Settings{}, scs.Settings{}}
	for _, name := range []string{"clarabel", "highs", "osqp", "scs"} {
		require.Contains(t, backends.Known(), name)
		_, err := backends.Open(name)
		if backends.Missing(name) == "" {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err)
		for _, want := range []string{`this build lacks "` + name + `"`, "make deps", "-tags " + name} {
			assert.True(t, strings.Contains(err.Error(), want), "%v", err)
		}
	}
}

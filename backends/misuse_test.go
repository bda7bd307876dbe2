package backends_test

import (
	"context"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/misuse"
)

// functions are those of the package that are no methods. TestMisuse fails where one is missing.
var functions = map[string]any{
	"Blocks": backends.Blocks, "CheckDualInfeasible": backends.CheckDualInfeasible, "CheckPrimalInfeasible": backends.CheckPrimalInfeasible,
	"Distance": backends.Distance, "Known": backends.Known, "Missing": backends.Missing, "Names": backends.Names, "PSDOrder": backends.PSDOrder,
	"Register": backends.Register, "RelativeGap": backends.RelativeGap, "SettingsOf": backends.SettingsOf[int], "Stationarity": backends.Stationarity,
	"Box": backends.Box, "DualExponential": backends.DualExponential, "DualGeneralizedPower": backends.DualGeneralizedPower, "DualPower": backends.DualPower,
	"Exponential": backends.Exponential, "GeneralizedPower": backends.GeneralizedPower, "Nonnegative": backends.Nonnegative,
	"NuclearNorm": backends.NuclearNorm, "PSD": backends.PSD, "Power": backends.Power, "SecondOrder": backends.SecondOrder, "Zero": backends.Zero,
	"Checked": backends.Checked, "Open": backends.Open, "NewJudge": backends.NewJudge, "Recheck": backends.Recheck, "EndedBy": backends.EndedBy,
	"NewTriplets": backends.NewTriplets, "Rows": backends.Rows,
}

// Every function and method of the package with arguments that are nil, zero, or of wrong lengths returns, or panics
// with a message of its own.
func TestMisuse(t *testing.T) {
	one := sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1})
	p := &backends.Problem{Q: []float64{1}, A: one, B: []float64{1}, Cones: []backends.Cone{backends.Nonnegative(1)}}
	short := &backends.Problem{Q: []float64{1, 2}, A: one, B: []float64{1, 2, 3}, Cones: []backends.Cone{backends.Nonnegative(1)}}
	be := backendtest.Open(t, "native")
	s := backendtest.Setup(t, be, p, backends.Options{})
	cones := []any{
		backends.Zero(2), backends.Nonnegative(2), backends.Box([]float64{0}, []float64{1}), backends.Box([]float64{0}, nil), backends.SecondOrder(3), backends.PSD(2),
		backends.Exponential(), backends.DualExponential(), backends.Power(0.3), backends.DualPower(0.3), backends.NuclearNorm(2, 2),
		backends.GeneralizedPower([]float64{0.5, 0.5}, 1), backends.DualGeneralizedPower([]float64{0.5, 0.5}, 1), backends.Cone{}, backends.Cone{Kind: 99, Dim: 2},
	}
	receivers := append([]any{
		be, s, p, *p, short, new(backends.Problem), backends.NewJudge(p), new(backends.Judge), backends.Capabilities{}, backends.Options{},
		backends.Optimal, backends.Residuals{}, new(backends.Tally), backends.NewTriplets(3), new(backends.Triplets), backends.ZeroCone,
		new(backends.MemoryError), new(backends.NonconvexError), new(backends.ProblemError), new(backends.UnsupportedError),
	}, cones...)
	wrong := append([]any{
		p, short, new(backends.Problem), []float64{1}, []float64{1, 2}, []float64{1, 2, 3, 4}, -1, 5, backends.Update{Q: []float64{}, A: one}, backends.Update{P: one},
		backends.Point{X: []float64{1, 2}}, "native", backends.Options{Eps: -1}, backends.Options{Settings: 3}, t.Context(),
		backends.ConeKind(99), backends.Status(99), backends.NuclearNormCone, []backends.Cone{{Kind: 99, Dim: -1}},
	}, cones...)
	misuse.Try(t, "backends: ", functions, receivers, wrong)
}

// What the calls of the table answer, by name.
func TestMisuseNamed(t *testing.T) {
	var none context.Context
	p := &backends.Problem{Q: []float64{1}, B: []float64{1, 2}, Cones: []backends.Cone{backends.Zero(1)}}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"backends: the problem is nil", func() { backends.Recheck(nil, nil, nil, nil) }},
		{"backends: the parts of the problem do not fit together; Problem.Validate says where", func() { backends.NewJudge(p) }},
		{"backends: a vector does not have the length that the problem asks for", func() { backends.CheckDualInfeasible(new(backends.Problem), []float64{1}) }},
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

package misuse

import (
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
)

// backendsFunctions are those of the package that are no methods. The test fails where one is missing.
var backendsFunctions = map[string]any{
	"Blocks": backends.Blocks, "Rows": backends.Rows, "CheckDualInfeasible": backends.CheckDualInfeasible,
	"CheckPrimalInfeasible": backends.CheckPrimalInfeasible,
	"Distance":              backends.Distance, "Known": backends.Known, "Missing": backends.Missing,
	"Names":    backends.Names,
	"PSDOrder": backends.PSDOrder,
	"Register": backends.Register, "RelativeGap": backends.RelativeGap, "SettingsOf": backends.SettingsOf[int],
	"Stationarity": backends.Stationarity,
	"Box":          backends.Box, "DualExponential": backends.DualExponential,
	"DualGeneralizedPower": backends.DualGeneralizedPower, "DualPower": backends.DualPower,
	"Exponential": backends.Exponential, "GeneralizedPower": backends.GeneralizedPower,
	"Nonnegative": backends.Nonnegative,
	"NuclearNorm": backends.NuclearNorm, "PSD": backends.PSD, "Power": backends.Power, "SecondOrder": backends.SecondOrder,
	"Zero":    backends.Zero,
	"Checked": backends.Checked, "Open": backends.Open, "NewJudge": backends.NewJudge, "Recheck": backends.Recheck,
	"EndedBy":     backends.EndedBy,
	"NewTriplets": backends.NewTriplets, "NewDerivative": backends.NewDerivative,
}

// Every function and method of the package with arguments that are nil, zero, or of wrong lengths returns, or panics
// with a message of its own.
func TestBackends(t *testing.T) {
	one := sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1})
	p := &backends.Problem{Q: []float64{1}, A: one, B: []float64{1}, Cones: []backends.Cone{backends.Nonnegative(1)}}
	short := &backends.Problem{Q: []float64{1, 2}, A: one, B: []float64{1, 2, 3},
		Cones: []backends.Cone{backends.Nonnegative(1)}}
	be, err := backends.Open("native")
	if err != nil {
		t.Fatal(err)
	}
	s, err := be.Setup(p, backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cones := []any{
		backends.Zero(2), backends.Nonnegative(2), backends.Box([]float64{0}, []float64{1}), backends.Box([]float64{0}, nil),
		backends.SecondOrder(3), backends.PSD(2),
		backends.Exponential(), backends.DualExponential(), backends.Power(0.3), backends.DualPower(0.3),
		backends.NuclearNorm(2, 2),
		backends.GeneralizedPower([]float64{0.5, 0.5}, 1), backends.DualGeneralizedPower([]float64{0.5, 0.5}, 1),
		backends.Cone{}, backends.Cone{Kind: 99, Dim: 2},
	}
	derivative, err := backends.NewDerivative(t.Context(), p, backends.Point{X: []float64{0}, S: []float64{1}, Z: []float64{0}})
	if err != nil {
		t.Fatal(err)
	}
	receivers := append([]any{
		derivative, new(backends.Derivative),
		be, s, p, *p, short, new(backends.Problem), backends.NewJudge(p), new(backends.Judge), backends.Capabilities{},
		backends.Options{},
		backends.Optimal, backends.Residuals{}, new(backends.Tally), backends.NewTriplets(3), new(backends.Triplets),
		backends.ZeroCone,
		new(backends.MemoryError), new(backends.ProblemError), new(backends.UnsupportedError),
	}, cones...)
	wrong := append([]any{
		p, short, new(backends.Problem), []float64{1}, []float64{1, 2}, []float64{1, 2, 3, 4}, -1, 5,
		backends.Update{Q: []float64{}, A: one}, backends.Update{P: one},
		backends.Point{X: []float64{1, 2}}, backends.Point{X: []float64{1}, S: []float64{1}, Z: []float64{-1}}, "native", backends.Options{Eps: -1}, backends.Options{Settings: 3}, t.Context(),
		backends.ConeKind(99), backends.Status(99), backends.NuclearNormCone, []backends.Cone{{Kind: 99, Dim: -1}},
	}, cones...)
	tryAll(t, "backends", backendsFunctions, receivers, wrong)
}

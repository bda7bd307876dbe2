package misuse

import (
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// convexFunctions are those of the package that are no methods. The test fails where one is missing.
var convexFunctions = map[string]any{
	"Abs": convex.Abs, "Const": convex.Const, "Equal": convex.Equal, "Exp": convex.Exp,
	"GreaterEqual": convex.GreaterEqual,
	"GroupNorms":   convex.GroupNorms, "Huber": convex.Huber, "LessEqual": convex.LessEqual, "Linear": convex.Linear,
	"LogSumExp": convex.LogSumExp,
	"Logistic":  convex.Logistic, "Max": convex.Max, "NewModel": convex.NewModel, "Norm1": convex.Norm1,
	"Norm2":   convex.Norm2,
	"NormInf": convex.NormInf, "NuclearNorm": convex.NuclearNorm, "Pos": convex.Pos, "Stack": convex.Stack,
	"SumSquares": convex.SumSquares,
}

// Every function and method of the package, with arguments that are zero or nil, on values of a model and on zero
// ones, and with values of another model or length: it returns, and where it panics the message is the package's own.
func TestConvex(t *testing.T) {
	m := convex.NewModel()
	x, p := m.Variable("x", 3), m.Parameter("p", 3)
	c := convex.LessEqual(convex.Linear(x.Expr()), p.Expr())
	m.Minimize(convex.SumSquares(x.Expr()))
	m.Constrain(c)
	prog := must.Of(m.Compile())(t)
	be := must.Of(backends.Open("native"))(t)
	s := must.Of(prog.Solver(convex.SolverOptions{Backend: be}))(t)
	r := must.Of(s.Solve(t.Context()))(t)
	other := convex.NewModel()
	y, q := other.Variable("y", 2), other.Parameter("q", 2)
	receivers := []any{
		x.Expr(), convex.Affine{}, convex.SumSquares(x.Expr()), convex.Convex{}, m, new(convex.Model), x,
		new(convex.Variable), (*convex.Variable)(nil),
		p, new(convex.Parameter), (*convex.Parameter)(nil), c, new(convex.Constraint), (*convex.Constraint)(nil), prog,
		new(convex.Program), r, new(convex.Result),
		s, new(convex.Solver),
	}
	// Arguments of a type: the zero value, and those here.
	wrong := []any{
		y, q, y.Expr(), q.Expr(), convex.Norm1(y.Expr()), convex.LessEqual(convex.Linear(y.Expr()), q.Expr()),
		new(convex.Variable), new(convex.Parameter),
		new(convex.Constraint), -1, 7, []float64{1}, []int{-1, 9}, [][]int{{5}}, convex.Point{y: {1}}, convex.Point{x: {1}},
		convex.Point{nil: {1}},
	}
	tryAll(t, "convex", convexFunctions, receivers, wrong)
}

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
	"NewTriplets": backends.NewTriplets,
}

// Every function and method of the package with arguments that are nil, zero, or of wrong lengths returns, or panics
// with a message of its own.
func TestBackends(t *testing.T) {
	one := sparse.NewCSC(1, 1, []int{0, 1}, []int{0}, []float64{1})
	p := &backends.Problem{Q: []float64{1}, A: one, B: []float64{1}, Cones: []backends.Cone{backends.Nonnegative(1)}}
	short := &backends.Problem{Q: []float64{1, 2}, A: one, B: []float64{1, 2, 3},
		Cones: []backends.Cone{backends.Nonnegative(1)}}
	be := must.Of(backends.Open("native"))(t)
	s := must.Of(be.Setup(p, backends.Options{}))(t)
	cones := []any{
		backends.Zero(2), backends.Nonnegative(2), backends.Box([]float64{0}, []float64{1}), backends.Box([]float64{0}, nil),
		backends.SecondOrder(3), backends.PSD(2),
		backends.Exponential(), backends.DualExponential(), backends.Power(0.3), backends.DualPower(0.3),
		backends.NuclearNorm(2, 2),
		backends.GeneralizedPower([]float64{0.5, 0.5}, 1), backends.DualGeneralizedPower([]float64{0.5, 0.5}, 1),
		backends.Cone{}, backends.Cone{Kind: 99, Dim: 2},
	}
	receivers := append([]any{
		be, s, p, *p, short, new(backends.Problem), backends.NewJudge(p), new(backends.Judge), backends.Capabilities{},
		backends.Options{},
		backends.Optimal, backends.Residuals{}, new(backends.Tally), backends.NewTriplets(3), new(backends.Triplets),
		backends.ZeroCone,
		new(backends.MemoryError), new(backends.NonconvexError), new(backends.ProblemError), new(backends.UnsupportedError),
	}, cones...)
	wrong := append([]any{
		p, short, new(backends.Problem), []float64{1}, []float64{1, 2}, []float64{1, 2, 3, 4}, -1, 5,
		backends.Update{Q: []float64{}, A: one}, backends.Update{P: one},
		backends.Point{X: []float64{1, 2}}, "native", backends.Options{Eps: -1}, backends.Options{Settings: 3}, t.Context(),
		backends.ConeKind(99), backends.Status(99), backends.NuclearNormCone, []backends.Cone{{Kind: 99, Dim: -1}},
	}, cones...)
	tryAll(t, "backends", backendsFunctions, receivers, wrong)
}

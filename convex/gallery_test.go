package convex_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// g and spd are the data of testdata/gallery.py.
func g(k, rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows * cols {
		m.Set(i/cols, i%cols, float64(((k+2)*(i+1)*(i+1)*(i+1)+k*i)%1009)/504-1)
	}
	return m
}

func spd(k, n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	m.Mul(g(k, n, n), g(k, n, n).T())
	for i := range n {
		m.Set(i, i, m.At(i, i)+1)
	}
	return m
}

func symmetric(k, n int) *mat.Dense {
	m := g(k, n, n)
	m.Add(g(k, n, n), m.T())
	return m
}

// gallery are the problems of testdata/gallery.py, as short as there.
var gallery = map[string]func(m *convex.Model){
	"diet": func(m *convex.Model) {
		x := m.Vector("x", 3, convex.Nonneg())
		m.Ge("need", convex.Mul([][]float64{{2, 1, 0}, {0, 1, 3}}, x), []float64{4, 6})
		m.Minimize(convex.Dot([]float64{1, 1.5, 2}, x))
	},
	"transport": func(m *convex.Model) {
		x := m.Matrix("x", 2, 3, convex.Nonneg())
		m.Le("supply", convex.SumRows(x), []float64{30, 45})
		m.Ge("demand", convex.SumRows(convex.Transpose(x)), []float64{20, 25, 25})
		m.Minimize(convex.Dot([][]float64{{4, 6, 9}, {5, 3, 8}}, x))
	},
	"chebyshev_centre": func(m *convex.Model) {
		x, r, root := m.Vector("x", 2), m.Vector("r", 1), math.Sqrt(5)
		a := [][]float64{{2, 1}, {2, -1}, {-1, 2}, {-1, -2}}
		m.Le("sides", convex.Add(convex.Mul(a, x), convex.Scale(root, r)), 1)
		m.Maximize(r)
	},
	"least_absolute": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Minimize(convex.Norm1(convex.Sub(convex.Mul(g(1, 12, 3), x), g(2, 12, 1))))
	},
	"chebyshev_fit": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Minimize(convex.NormInf(convex.Sub(convex.Mul(g(1, 12, 3), x), g(2, 12, 1))))
	},
	"max_flow": func(m *convex.Model) {
		net := [][]float64{{1, 1, 0, 0, 0}, {-1, 0, 1, 1, 0}, {0, -1, -1, 0, 1}}
		f, flow := m.Vector("f", 5, convex.Nonneg()), m.Vector("flow", 1)
		m.Eq("balance", convex.Mul(net, f), convex.Scale([]float64{1, 0, 0}, flow))
		m.Le("capacity", f, []float64{3, 2, 1, 3, 2.5})
		m.Maximize(flow)
	},
	"basis_pursuit": func(m *convex.Model) {
		x := m.Vector("x", 10)
		m.Eq("fit", convex.Mul(g(3, 4, 10), x), g(4, 4, 1))
		m.Minimize(convex.Norm1(x))
	},
	"piecewise_linear": func(m *convex.Model) {
		x := m.Vector("x", 2)
		m.Le("box", convex.Abs(x), 4)
		m.Minimize(convex.Max(convex.Add(convex.Mul(g(5, 6, 2), x), g(6, 6, 1))))
	},
	"quantile": func(m *convex.Model) {
		r := convex.Sub(g(7, 15, 1), convex.Mul(g(8, 15, 2), m.Vector("x", 2)))
		m.Minimize(convex.Sum(convex.Add(convex.Scale(0.8, convex.Pos(r)), convex.Scale(0.2, convex.Pos(convex.Neg(r))))))
	},
	"production": func(m *convex.Model) {
		x := m.Vector("x", 2, convex.Nonneg())
		m.Le("limits", convex.Mul([][]float64{{1, 0}, {0, 2}, {3, 2}}, x), []float64{4, 12, 18})
		m.Maximize(convex.Dot([]float64{3, 5}, x))
	},
	"matrix_game": func(m *convex.Model) {
		p := m.Vector("p", 3, convex.Nonneg())
		m.Eq("sum", convex.Sum(p), 1)
		m.Maximize(convex.Min(convex.Mul([][]float64{{3, -2, -5}, {-1, 4, -6}, {-3, -1, 2}}, p)))
	},
	"least_squares": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Eq("sum", convex.Sum(x), 1)
		m.Minimize(convex.SumSquares(convex.Sub(convex.Mul(g(1, 12, 3), x), g(2, 12, 1))))
	},
	"ridge": func(m *convex.Model) {
		x := m.Vector("x", 4)
		fit := convex.SumSquares(convex.Sub(convex.Mul(g(9, 10, 4), x), g(10, 10, 1)))
		m.Minimize(convex.Add(fit, convex.Scale(0.5, convex.SumSquares(x))))
	},
	"lasso": func(m *convex.Model) {
		x, limit := m.Vector("x", 6), m.Parameter("limit", []float64{0})
		fit := convex.SumSquares(convex.Sub(convex.Mul(g(11, 12, 6), x), g(12, 12, 1)))
		m.Minimize(convex.Add(fit, convex.Scale(limit, convex.Norm1(x))))
	},
	"portfolio": func(m *convex.Model) {
		w, gamma := m.Vector("w", 5, convex.Nonneg()), m.Parameter("gamma", []float64{0})
		m.Eq("budget", convex.Sum(w), 1)
		m.Maximize(convex.Sub(convex.Dot(g(13, 5, 1), w), convex.Scale(gamma, convex.QuadForm(w, spd(14, 5)))))
	},
	"control": func(m *convex.Model) {
		a, b, start := [][]float64{{1, 0.2}, {0, 1}}, [][]float64{{0}, {0.2}}, m.Parameter("start", make([]float64, 2))
		x, u := m.Matrix("x", 2, 11), m.Matrix("u", 1, 10)
		m.Eq("", convex.Cols(x, 1, 11), convex.Add(convex.Mul(a, convex.Cols(x, 0, 10)), convex.Mul(b, u)))
		m.Eq("begin", convex.Cols(x, 0, 1), start)
		m.Le("force", convex.Abs(u), 1)
		m.Minimize(convex.Add(convex.SumSquares(x), convex.Scale(0.1, convex.SumSquares(u))))
	},
	"svm": func(m *convex.Model) {
		w, c, a, y := m.Vector("w", 3), m.Vector("c", 1), g(16, 14, 3), g(15, 14, 1)
		y.Apply(func(i, _ int, v float64) float64 { return math.Copysign(1, v+2*a.At(i, 0)) }, y)
		hinge := convex.Sum(convex.Pos(convex.Sub(1, convex.Scale(y, convex.Add(convex.Mul(a, w), c)))))
		m.Minimize(convex.Add(convex.Scale(0.5, convex.SumSquares(w)), hinge))
	},
	"huber": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Minimize(convex.Scale(2, convex.Sum(convex.Huber(convex.Sub(convex.Mul(g(1, 12, 3), x), g(2, 12, 1)), 0.3))))
	},
	"bounded_squares": func(m *convex.Model) {
		x := m.Vector("x", 4, convex.Bounds(-0.1, 0.2))
		m.Minimize(convex.SumSquares(convex.Sub(convex.Mul(g(9, 10, 4), x), g(10, 10, 1))))
	},
	"simplex_projection": func(m *convex.Model) {
		x := m.Vector("x", 6, convex.Nonneg())
		m.Eq("sum", convex.Sum(x), 1)
		m.Minimize(convex.SumSquares(convex.Sub(x, g(17, 6, 1))))
	},
	"smoothing": func(m *convex.Model) {
		x := m.Vector("x", 20)
		bends := convex.SumSquares(convex.Diff(convex.Diff(x)))
		m.Minimize(convex.Add(convex.SumSquares(convex.Sub(x, g(18, 20, 1))), convex.Scale(3, bends)))
	},
	"total_variation": func(m *convex.Model) {
		x := m.Vector("x", 20)
		fit := convex.Scale(0.5, convex.SumSquares(convex.Sub(x, g(18, 20, 1))))
		m.Minimize(convex.Add(fit, convex.Scale(0.4, convex.TotalVariation(x))))
	},
	"elastic_net": func(m *convex.Model) {
		x := m.Vector("x", 6)
		fit := convex.SumSquares(convex.Sub(convex.Mul(g(11, 12, 6), x), g(12, 12, 1)))
		m.Minimize(convex.Add(fit, convex.Scale(0.3, convex.Norm1(x)), convex.Scale(0.2, convex.SumSquares(x))))
	},
	"isotonic": func(m *convex.Model) {
		x := m.Vector("x", 12)
		m.Ge("order", convex.Diff(x), 0)
		m.Minimize(convex.SumSquares(convex.Sub(x, g(19, 12, 1))))
	},
	"quadratic": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Eq("rows", convex.Mul(g(22, 2, 4), x), []float64{1, 2})
		m.Le("ball", convex.SumSquares(x), 9)
		m.Minimize(convex.Add(convex.Scale(0.5, convex.QuadForm(x, spd(20, 4))), convex.Dot(g(21, 4, 1), x)))
	},
	"factor_model": func(m *convex.Model) {
		w, d := m.Vector("w", 6, convex.Nonneg()), []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
		m.Eq("budget", convex.Sum(w), 1)
		m.Ge("gain", convex.Dot(g(24, 6, 1), w), 0.1)
		m.Minimize(convex.Add(convex.SumSquares(convex.Mul(g(23, 6, 2).T(), w)), convex.Dot(d, convex.Power(w, 2))))
	},
	"deconvolution": func(m *convex.Model) {
		x := m.Vector("x", 12, convex.Nonneg())
		m.Le("total", convex.Sum(x), 1)
		m.Minimize(convex.SumSquares(convex.Sub(convex.Conv([]float64{1, 0.5, 0.25}, x), g(25, 14, 1))))
	},
	"inventory": func(m *convex.Model) {
		x := m.Vector("x", 8, convex.Nonneg())
		stock := convex.Add(5, convex.CumSum(convex.Sub(x, []float64{3, 4, 2, 5, 6, 1, 4, 3})))
		m.Ge("kept", stock, 0)
		m.Minimize(convex.Add(convex.SumSquares(x), convex.Scale(0.5, convex.Sum(stock))))
	},
	"least_norm": func(m *convex.Model) {
		x := m.Vector("x", 8)
		m.Eq("rows", convex.Mul(g(26, 3, 8), x), g(27, 3, 1))
		m.Minimize(convex.Norm2(x))
	},
	"robust_lp": func(m *convex.Model) {
		x := m.Vector("x", 2)
		for name, a := range map[string][]float64{"first": {2, 1}, "second": {-1, 1}, "third": {0, -1}} {
			m.Le(name, convex.Add(convex.Dot(a, x), convex.Scale(0.2, convex.Norm2(x))), 1)
		}
		m.Maximize(convex.Sum(x))
	},
	"fermat_weber": func(m *convex.Model) {
		x, p, sum := m.Vector("x", 2), g(28, 5, 2), convex.Const(0)
		for i := range 5 {
			sum = convex.Add(sum, convex.Norm2(convex.Sub(x, p.RawRowView(i))))
		}
		m.Minimize(sum)
	},
	"group_lasso": func(m *convex.Model) {
		x := m.Vector("x", 9)
		groups := convex.Sum(convex.GroupNorms(x, [][]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}))
		fit := convex.SumSquares(convex.Sub(convex.Mul(g(29, 12, 9), x), g(30, 12, 1)))
		m.Minimize(convex.Add(fit, convex.Scale(1.5, groups)))
	},
	"enclosing_ball": func(m *convex.Model) {
		c, r := m.Vector("c", 2), m.Vector("r", 1)
		for name, p := range map[string][]float64{"first": {0, 0}, "second": {2, 0}, "third": {0.8, 2.5}} {
			m.Le(name, convex.Norm2(convex.Sub(c, p)), r)
		}
		m.Minimize(r)
	},
	"image": func(m *convex.Model) {
		x := m.Matrix("x", 4, 5)
		fit := convex.SumSquares(convex.Sub(x, g(31, 4, 5)))
		m.Minimize(convex.Add(fit, convex.Scale(0.5, convex.TotalVariation(x))))
	},
	"root_lasso": func(m *convex.Model) {
		x := m.Vector("x", 6)
		fit := convex.Norm2(convex.Sub(convex.Mul(g(11, 12, 6), x), g(12, 12, 1)))
		m.Minimize(convex.Add(fit, convex.Scale(0.2, convex.Norm1(x))))
	},
	"risk_limit": func(m *convex.Model) {
		w := m.Vector("w", 5)
		m.Eq("budget", convex.Sum(w), 1)
		m.Le("risk", convex.QuadForm(w, spd(14, 5)), 2)
		m.Maximize(convex.Dot(g(13, 5, 1), w))
	},
	"quadratic_over_linear": func(m *convex.Model) {
		x, y := m.Vector("x", 3), m.Vector("y", 1)
		m.Le("cap", y, 0.4)
		m.Minimize(convex.Add(convex.QuadOverLin(convex.Sub(convex.Mul(g(32, 4, 3), x), g(33, 4, 1)), y), y))
	},
	"delays": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Le("width", convex.Sum(x), 6)
		m.Minimize(convex.Dot([]float64{1, 2, 3, 4}, convex.Power(x, -1)))
	},
	"fair_shares": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Le("rows", convex.Mul([][]float64{{1, 2, 3, 1}, {2, 1, 1, 3}}, x), []float64{4, 5})
		m.Maximize(convex.GeoMean(x))
	},
	"harmonic": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Le("cost", convex.Dot([]float64{1, 2, 3, 4}, x), 8)
		m.Maximize(convex.Scale(4, convex.Norm(x, -1)))
	},
	"risk_at_worst": func(m *convex.Model) {
		w := m.Vector("w", 4, convex.Nonneg())
		losses := convex.Neg(convex.Mul(g(34, 20, 4), w))
		m.Eq("budget", convex.Sum(w), 1)
		m.Le("gain", convex.Sum(losses), 0)
		m.Minimize(convex.Scale(0.25, convex.SumLargest(losses, 4)))
	},
	"max_cut": func(m *convex.Model) {
		x, w := m.Matrix("x", 5, 5, convex.PSD()), symmetric(35, 5)
		w.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, w)
		m.Eq("one", convex.Diag(x), 1)
		m.Maximize(convex.Scale(0.25, convex.Dot(w, convex.Sub(1, x))))
	},
	"nearest_correlation": func(m *convex.Model) {
		x := m.Matrix("x", 4, 4, convex.PSD())
		m.Eq("one", convex.Diag(x), 1)
		m.Minimize(convex.SumSquares(convex.Sub(x, convex.Scale(0.5, symmetric(36, 4)))))
	},
	"largest_eigenvalue": func(m *convex.Model) {
		x, a := m.Vector("x", 2), symmetric(37, 4)
		shift := convex.Add(convex.Scale(convex.At(x, 0), symmetric(38, 4)), convex.Scale(convex.At(x, 1), symmetric(39, 4)))
		m.Minimize(convex.LambdaMax(convex.Add(a, shift)))
	},
	"completion": func(m *convex.Model) {
		x := m.Matrix("x", 4, 5)
		known := [][]float64{{1, 0, 1, 1, 0}, {0, 1, 1, 0, 1}, {1, 1, 0, 1, 0}, {0, 1, 0, 1, 1}}
		m.Minimize(convex.Add(convex.SumSquares(convex.Scale(known, convex.Sub(x, g(40, 4, 5)))), convex.NuclearNorm(x)))
	},
	"inverse_covariance": func(m *convex.Model) {
		p := m.Matrix("p", 4, 4, convex.Symmetric())
		fit := convex.Sub(convex.LogDet(p), convex.Trace(convex.Mul(spd(41, 4), p)))
		m.Maximize(convex.Sub(fit, convex.Scale(0.2, convex.Norm1(p))))
	},
	"d_optimal": func(m *convex.Model) {
		w, v := m.Vector("w", 8, convex.Nonneg()), g(42, 3, 8)
		m.Eq("sum", convex.Sum(w), 1)
		m.Maximize(convex.LogDet(convex.Mul(convex.Mul(v, convex.Diag(w)), v.T())))
	},
	"a_optimal": func(m *convex.Model) {
		w, v := m.Vector("w", 8, convex.Nonneg()), g(42, 3, 8)
		m.Eq("sum", convex.Sum(w), 1)
		m.Minimize(convex.TraceInverse(convex.Mul(convex.Mul(v, convex.Diag(w)), v.T())))
	},
	"e_optimal": func(m *convex.Model) {
		w, v := m.Vector("w", 8, convex.Nonneg()), g(42, 3, 8)
		m.Eq("sum", convex.Sum(w), 1)
		m.Maximize(convex.LambdaMin(convex.Mul(convex.Mul(v, convex.Diag(w)), v.T())))
	},
	"matrix_fraction": func(m *convex.Model) {
		x, p := m.Vector("x", 3), m.Matrix("p", 3, 3, convex.Symmetric())
		m.Eq("given", x, []float64{1, 2, 3})
		m.Le("trace", convex.Trace(p), 5)
		m.PSD("low", convex.Sub(p, mat.NewDiagDense(3, []float64{0.5, 0.5, 0.5})))
		m.Minimize(convex.MatrixFrac(x, p))
	},
	"spectral_fit": func(m *convex.Model) {
		x := m.Matrix("x", 2, 3)
		m.Minimize(convex.SpectralNorm(convex.Sub(convex.Mul(g(43, 4, 2), x), g(44, 4, 3))))
	},
	"lyapunov": func(m *convex.Model) {
		p, eye := m.Matrix("p", 2, 2, convex.Symmetric()), mat.NewDiagDense(2, []float64{1, 1})
		ap := convex.Mul([][]float64{{-1, 0.2}, {0.5, -2}}, p)
		m.PSD("stable", convex.Neg(convex.Add(ap, convex.Transpose(ap), eye)))
		m.Minimize(convex.Trace(p))
	},
	"mixing_chain": func(m *convex.Model) {
		p := m.Matrix("p", 4, 4, convex.Symmetric(), convex.Nonneg())
		m.Eq("", convex.SumRows(p), 1)
		m.Eq("", convex.At(p, 0, 3), 0)
		m.Minimize(convex.SpectralNorm(convex.Sub(p, 0.25)))
	},
	"max_entropy": func(m *convex.Model) {
		p := m.Vector("p", 6)
		m.Eq("sum", convex.Sum(p), 1)
		m.Eq("mean", convex.Dot([]float64{1, 2, 3, 4, 5, 6}, p), 4.5)
		m.Maximize(convex.Sum(convex.Entropy(p)))
	},
	"divergence": func(m *convex.Model) {
		p := m.Vector("p", 5)
		m.Eq("sum", convex.Sum(p), 1)
		m.Ge("mean", convex.Dot([]float64{0, 1, 2, 3, 4}, p), 2.5)
		m.Minimize(convex.Sum(convex.RelativeEntropy(p, []float64{0.1, 0.2, 0.3, 0.25, 0.15})))
	},
	"logistic": func(m *convex.Model) {
		w, y := m.Vector("w", 3), g(45, 16, 1)
		y.Apply(func(_, _ int, v float64) float64 { return -math.Copysign(1, v) }, y)
		loss := convex.Sum(convex.Logistic(convex.Scale(y, convex.Mul(g(46, 16, 3), w))))
		m.Minimize(convex.Add(loss, convex.Scale(0.1, convex.SumSquares(w))))
	},
	"soft_maximum": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Le("ball", convex.Norm2(x), 1)
		m.Minimize(convex.LogSumExp(convex.Add(convex.Mul(g(47, 8, 3), x), g(48, 8, 1))))
	},
	"water_filling": func(m *convex.Model) {
		x := m.Vector("x", 4, convex.Nonneg())
		m.Eq("power", convex.Sum(x), 1)
		m.Maximize(convex.Sum(convex.Log(convex.Add(x, []float64{0.8, 1, 1.2, 0.3}))))
	},
	"poisson": func(m *convex.Model) {
		f, y := convex.Mul(g(49, 14, 3), m.Vector("x", 3)), make([]float64, 14)
		for i := range y {
			y[i] = float64(i) / 5
		}
		m.Minimize(convex.Sub(convex.Sum(convex.Exp(f)), convex.Dot(y, f)))
	},
	"betting": func(m *convex.Model) {
		b := m.Vector("b", 3, convex.Nonneg())
		m.Eq("sum", convex.Sum(b), 1)
		wealth := convex.Mul([][]float64{{2, 0.3, 1}, {0.4, 1.9, 1}, {0.8, 1.2, 1}}, b)
		m.Maximize(convex.Dot([]float64{0.4, 0.3, 0.3}, convex.Log(wealth)))
	},
	"power_control": func(m *convex.Model) {
		x := m.Vector("x", 2)
		m.Eq("line", convex.Dot([]float64{1, 2}, x), 1)
		squares := convex.Exp(convex.SumSquares(convex.Sub(x, 1)))
		m.Minimize(convex.Add(squares, convex.Power(convex.Exp(convex.At(x, 0)), 2)))
	},
	"product_of_norms": func(m *convex.Model) {
		x := m.Vector("x", 3)
		far := convex.Norm2(convex.Sub(x, []float64{1, 2, 3}))
		m.Minimize(convex.LogSumExp(convex.Stack(far, convex.Norm1(x), convex.Scale(2, convex.NormInf(x)))))
	},
	"three_norm": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Eq("rows", convex.Mul(g(50, 2, 4), x), []float64{1, 2})
		m.Minimize(convex.Norm(x, 3))
	},
	"powers": func(m *convex.Model) {
		x := m.Vector("x", 3, convex.Nonneg())
		m.Ge("sum", convex.Sum(x), 4)
		m.Minimize(convex.Sum(convex.Add(convex.Power(x, 1.5), convex.Power(x, -0.5))))
	},
	"utility": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Le("budget", convex.Sum(x), 10)
		m.Maximize(convex.Dot([]float64{1, 2, 3, 4}, convex.Power(x, 0.3)))
	},
	"roots": func(m *convex.Model) {
		x := m.Vector("x", 4)
		m.Le("budget", convex.Sum(x), 10)
		m.Le("cap", x, 4)
		m.Maximize(convex.Dot([]float64{1, 2, 3, 4}, convex.Power(x, 0.5)))
	},
	"envelopes": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Eq("line", convex.Dot([]float64{1, 1, -1}, x), 2)
		worst := convex.Maximum(convex.Power(convex.Sub(x, 1), 2), convex.Abs(x), convex.Scale(0.5, x))
		m.Minimize(convex.Sum(convex.Sub(worst, convex.Minimum(x, convex.Sub(2, x)))))
	},
	"kronecker": func(m *convex.Model) {
		x := m.Matrix("x", 2, 2)
		m.Eq("trace", convex.Trace(x), 1)
		m.Minimize(convex.SumSquares(convex.Sub(convex.Kron([][]float64{{1, 2}, {3, -1}}, x), g(51, 4, 4))))
	},
	"everything": func(m *convex.Model) {
		x := m.Vector("x", 3)
		m.Le("ball", convex.SumSquares(x), 2)
		m.Eq("plane", convex.Sum(x), 0.5)
		sums := convex.Add(convex.Norm2(convex.Sub(x, 1)), convex.Sum(convex.Exp(convex.Scale(0.25, x))))
		rest := convex.Sub(convex.Power(convex.Abs(convex.At(x, 0)), 1.5), convex.Log(convex.Add(convex.At(x, 1), 3)))
		m.Minimize(convex.Add(sums, rest))
	},
	"infeasible_lp": func(m *convex.Model) {
		x := m.Vector("x", 2, convex.Nonneg())
		m.Le("", convex.Sum(x), -1)
		m.Minimize(convex.Sum(x))
	},
	"unbounded_lp": func(m *convex.Model) {
		x := m.Vector("x", 2, convex.Nonneg())
		m.Le("", convex.At(x, 0), 1)
		m.Minimize(convex.Dot([]float64{1, -1}, x))
	},
	"infeasible_balls": func(m *convex.Model) {
		x := m.Vector("x", 2)
		m.Le("", convex.Norm2(convex.Sub(x, []float64{2, 0})), 0.5)
		m.Le("", convex.Norm2(convex.Add(x, []float64{2, 0})), 0.5)
		m.Minimize(convex.At(x, 0))
	},
	"infeasible_matrix": func(m *convex.Model) {
		x := m.Matrix("x", 2, 2, convex.PSD())
		m.Eq("", convex.At(x, 0, 1), 2)
		m.Le("", convex.Diag(x), 1)
		m.Minimize(convex.Trace(x))
	},
}

// solved is what CVXPY with Clarabel says of a problem.
type solved struct {
	Name   string
	Lines  int
	Solves []struct {
		Status    string
		Value     float64
		Duals     map[string][]float64
		Parameter []float64
	}
}

func recorded(t testing.TB) (list []solved) {
	require.NoError(t, json.Unmarshal(must.Of(os.ReadFile("testdata/gallery.json"))(t), &list))
	require.Len(t, gallery, len(list))
	return list
}

// Values and multipliers are those of CVXPY with Clarabel at 1e-10.
func TestGallery(t *testing.T) {
	statuses := map[string]backends.Status{"optimal": backends.Optimal, "infeasible": backends.PrimalInfeasible,
		"unbounded": backends.DualInfeasible}
	for _, p := range recorded(t) {
		t.Run(p.Name, func(t *testing.T) {
			m := convex.NewModel()
			gallery[p.Name](m)
			s := solver(t, m, convex.SolverOptions{Options: backends.Options{Eps: 1e-11}})
			for _, want := range p.Solves {
				if want.Parameter != nil {
					require.NoError(t, s.Set(m.Only(), want.Parameter))
				}
				r := must.Of(s.Solve(t.Context()))(t)
				require.Equal(t, statuses[want.Status], r.Status, r.Message)
				if want.Status != "optimal" {
					continue
				}
				require.InDelta(t, want.Value, r.Objective, 1e-7*max(1, math.Abs(want.Value)))
				for name, dual := range want.Duals {
					inDelta(t, dual, r.Dual(m.Named()[name]), 1e-5, name)
				}
			}
		})
	}
}

// The problems are at most 1.3 times as long as in Python.
func TestGalleryLines(t *testing.T) {
	own := 0
	for _, line := range strings.Split(string(must.Of(os.ReadFile("gallery_test.go"))(t)), "\n") {
		if strings.HasPrefix(line, "\t\t") && own >= 0 {
			own++
		}
		if line == "// solved is what CVXPY with Clarabel says of a problem." {
			break
		}
	}
	peer := 0
	for _, p := range recorded(t) {
		peer += p.Lines
	}
	t.Logf("%d lines in Go, %d in Python", own, peer)
	require.LessOrEqual(t, float64(own), 1.3*float64(peer))
}

// Compiling and solving, and solving again with other parameters, beside what testdata/gallery.py --time says.
func BenchmarkGallery(b *testing.B) {
	for _, p := range recorded(b) {
		m := convex.NewModel()
		gallery[p.Name](m)
		set := func(s *convex.Solver, m *convex.Model, i int) {
			if p.Solves[0].Parameter != nil {
				require.NoError(b, s.Set(m.Only(), p.Solves[i%len(p.Solves)].Parameter))
			}
		}
		b.Run(p.Name, func(b *testing.B) {
			for b.Loop() {
				m := convex.NewModel()
				gallery[p.Name](m)
				s := must.Of(must.Of(m.Compile())(b).Solver(convex.SolverOptions{Backend: native(b), WorkingSets: true}))(b)
				set(s, m, 0)
				must.Of(s.Solve(b.Context()))(b)
				s.Close()
			}
		})
		if p.Solves[0].Parameter != nil {
			b.Run(p.Name+"/again", func(b *testing.B) {
				s := solver(b, m, convex.SolverOptions{})
				for i := 0; b.Loop(); i++ {
					set(s, m, i)
					must.Of(s.Solve(b.Context()))(b)
				}
			})
		}
	}
}

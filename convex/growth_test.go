package convex_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
)

// threes is x times a sparse matrix with three entries in a row, one of them far from the others.
func threes(x convex.Expr) convex.Expr {
	n := x.Len()
	start, index := []int{0}, []int(nil)
	for i := range n {
		start, index = append(start, 3*i+3), append(index, i, (i+1)%n, (7919*i+n/2)%n)
	}
	return convex.Mul(sparse.NewCSR(n, n, start, index, slices.Repeat([]float64{1, 2, 3}, n)), x)
}

// growing are models of vectors of length n.
var growing = map[string]func(m *convex.Model, x, y *convex.Variable, n int){
	"beside": func(m *convex.Model, x, y *convex.Variable, _ int) { m.Le("", convex.Beside(x, y), 1) },
	"cones":  func(m *convex.Model, x, _ *convex.Variable, _ int) { m.Ge("", convex.Log(threes(x)), 0) },
	"affine sum": func(m *convex.Model, x, _ *convex.Variable, n int) {
		f := convex.At(x, 0)
		for i := range n {
			f = convex.Add(f, convex.Scale(i+1, convex.At(x, i)))
		}
		m.Minimize(f)
	},
	"sum from the right": func(m *convex.Model, x, _ *convex.Variable, n int) {
		f := convex.At(x, 0)
		for i := range n {
			f = convex.Sub(convex.At(x, i), convex.Scale(f, 0.9))
		}
		m.Minimize(f)
	},
	"entries of a stack": func(m *convex.Model, x, _ *convex.Variable, n int) {
		var each []convex.Operand
		for i := range n {
			each = append(each, convex.Add(convex.At(x, i), i))
		}
		all := convex.Stack(each...)
		for i := range n {
			m.Le("", convex.At(all, i), 1)
		}
	},
	"convex sum": func(m *convex.Model, x, _ *convex.Variable, n int) {
		f := convex.At(x, 0)
		for i := range n {
			f = convex.Add(f, convex.Power(convex.At(x, i), 2))
		}
		m.Minimize(f)
	},
}

// The time and memory to build, compile and assemble a model of n scalars grow as n does.
func BenchmarkGrowth(b *testing.B) {
	for name, build := range growing {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					m := convex.NewModel()
					build(m, m.Vector("x", n), m.Vector("y", n), n)
					must.Of(must.Of(m.Compile())(b).Problem())(b)
				}
			})
		}
	}
}

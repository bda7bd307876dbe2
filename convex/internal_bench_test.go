package convex

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/convex/internal/compile"
)

// benchmarkProgram has 200 rows, 2500 features and a working set of 100.
func benchmarkProgram(b *testing.B) (*compile.Program, [][]int) {
	const n, p, size = 200, 2500, 100
	rng := rand.New(rand.NewPCG(1, 1))
	data, y := make([]float64, n*p), make([]float64, n)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	m := NewModel()
	v, h := m.Variable("b", p), m.Parameter("h", 2)
	m.Minimize(SumSquares(v.Expr().MulMat(mat.NewDense(n, p, data)).Minus(Const(y...))))
	m.Constrain(LessEqual(Norm1(v.Expr()), h.Expr().At(0)), LessEqual(SumSquares(v.Expr()), h.Expr().At(1)))
	prog, err := m.Compile()
	if err != nil {
		b.Fatal(err)
	}
	set := make([]int, size)
	for k := range set {
		set[k] = 25 * k
	}
	return prog.p, [][]int{set}
}

// BenchmarkAssemble measures the assembly of a restricted program.
func BenchmarkAssemble(b *testing.B) {
	p, active := benchmarkProgram(b)
	b.ReportAllocs()
	for b.Loop() {
		p.NewLayout(active).Assemble()
	}
}

// BenchmarkNumbers measures new values of b and q.
func BenchmarkNumbers(b *testing.B) {
	p, active := benchmarkProgram(b)
	as := p.NewLayout(active).Assemble()
	q, right := make([]float64, as.N), make([]float64, as.M)
	b.ReportAllocs()
	for b.Loop() {
		as.ValueQ(q)
		as.B.Value(right)
	}
}

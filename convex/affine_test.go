package convex_test

import (
	"math"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/conetune/conetune/convex"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/proptest"
)

// traced is an expression together with its value, computed entry by entry
// without the package, at one point.
type traced struct {
	a     convex.Expr
	value []float64
	hasP  bool // a parameter is in it
}

// world is a model with a point to evaluate at.
type world struct {
	m      *convex.Model
	vars   []*convex.Variable
	pt     convex.Point
	params []*convex.Parameter
}

func number(t *rapid.T, label string) float64 {
	return float64(rapid.IntRange(-4, 4).Draw(t, label)) / 2
}

func numbers(t *rapid.T, n int, label string) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = number(t, label)
	}
	return v
}

func newWorld(t *rapid.T) *world {
	w := &world{m: convex.NewModel(), pt: convex.Point{}}
	for k := range 3 {
		v := w.m.Vector(string(rune('x'+k)), rapid.IntRange(1, 4).Draw(t, "length"))
		w.vars = append(w.vars, v)
		w.pt[v] = numbers(t, v.Len(), "x")
		w.params = append(w.params, w.m.Parameter(string(rune('p'+k)), numbers(t, rapid.IntRange(1, 4).Draw(t, "length"), "p")))
	}
	return w
}

// matrix draws a dense or a sparse matrix.
func matrix(t *rapid.T, rows, cols int) mat.Matrix {
	if rows == cols && rapid.Bool().Draw(t, "diagonal") {
		return mat.NewDiagDense(rows, numbers(t, rows, "M"))
	}
	d := mat.NewDense(rows, cols, numbers(t, rows*cols, "M"))
	switch rapid.IntRange(0, 3).Draw(t, "format") {
	case 1, 2:
		c := sparse.NewCOO(rows, cols, nil, nil, nil)
		for i := rows - 1; i >= 0; i-- {
			for j := range cols {
				if v := d.At(i, j); v != 0 {
					c.Set(i, j, v)
				}
			}
		}
		if rapid.Bool().Draw(t, "by rows") {
			return c.ToCSR()
		}
		return c.ToCSC()
	case 3:
		return mat.DenseCopyOf(d.T()).T()
	}
	return d
}

// expression draws an expression by random operations.
func (w *world) expression(t *rapid.T, depth int) traced {
	if depth == 0 {
		switch rapid.IntRange(0, 3).Draw(t, "leaf") {
		case 0:
			c := numbers(t, rapid.IntRange(1, 4).Draw(t, "length"), "c")
			return traced{convex.Const(c), c, false}
		case 1:
			p := w.params[rapid.IntRange(0, 2).Draw(t, "which")]
			return traced{p, p.Values(), true}
		default:
			v := w.vars[rapid.IntRange(0, 2).Draw(t, "which")]
			return traced{v, w.pt[v], false}
		}
	}
	e := w.expression(t, depth-1)
	n := len(e.value)
	out := traced{hasP: e.hasP}
	switch op := rapid.IntRange(0, 9).Draw(t, "operation"); op {
	case 0, 1: // sum, difference; operands cut to the same length or one
		f := w.expression(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		k := min(n, len(f.value))
		if k > 1 && k < max(n, len(f.value)) {
			e, f = traced{convex.Slice(e.a, 0, k), e.value[:k], e.hasP}, traced{convex.Slice(f.a, 0, k), f.value[:k], f.hasP}
		}
		at := func(v []float64, i int) float64 { return v[i%len(v)] } // broadcast
		sign := 1.0
		if op == 1 {
			sign = -1
			out.a = convex.Sub(e.a, f.a)
		} else {
			out.a = convex.Add(e.a, f.a)
		}
		for i := range max(len(e.value), len(f.value)) {
			out.value = append(out.value, at(e.value, i)+sign*at(f.value, i))
		}
		out.hasP = e.hasP || f.hasP
	case 2:
		c := number(t, "c")
		out.a = convex.Scale(c, e.a)
		for _, v := range e.value {
			out.value = append(out.value, c*v)
		}
	case 3:
		m := matrix(t, rapid.IntRange(1, 4).Draw(t, "rows"), n)
		rows, _ := m.Dims()
		out.a = convex.Mul(m, e.a)
		for i := range rows {
			sum := 0.0
			for j, v := range e.value {
				sum += m.At(i, j) * v
			}
			out.value = append(out.value, sum)
		}
	case 4:
		idx := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 5).Draw(t, "idx")
		out.a = convex.Pick(e.a, idx)
		for _, i := range idx {
			out.value = append(out.value, e.value[i])
		}
	case 5:
		c := numbers(t, n, "c")
		out.a = convex.Dot(c, e.a)
		out.value = []float64{0}
		for i, v := range e.value {
			out.value[0] += c[i] * v
		}
	case 6:
		f := w.expression(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		out.a = convex.Stack(e.a, f.a, convex.At(e.a, n-1))
		out.value = append(append(append(out.value, e.value...), f.value...), e.value[n-1])
		out.hasP = e.hasP || f.hasP
	case 9: // entries of two in turns, as the rows of a matrix
		f := w.expression(t, rapid.IntRange(0, depth-1).Draw(t, "depth"))
		k := min(n, len(f.value))
		out.a = convex.Reshape(convex.Beside(convex.Slice(e.a, 0, k), convex.Slice(f.a, 0, k)), 2*k, 1)
		for i := range k {
			out.value = append(out.value, e.value[i], f.value[i])
		}
		out.hasP = e.hasP || f.hasP
	default: // product with a parameter
		p := w.params[rapid.IntRange(0, 2).Draw(t, "which")]
		if e.hasP {
			return e
		}
		if p.Len() != n {
			if p.Len() != 1 && n != 1 {
				return e
			}
			out.a = convex.Scale(p, e.a)
			for i := range max(n, p.Len()) {
				out.value = append(out.value, p.Values()[i%p.Len()]*e.value[i%n])
			}
		} else if op == 7 {
			out.a = convex.Scale(p, e.a)
			for i, v := range e.value {
				out.value = append(out.value, p.Values()[i]*v)
			}
		} else {
			out.a = convex.Dot(p, e.a)
			out.value = []float64{0}
			for i, v := range e.value {
				out.value[0] += p.Values()[i] * v
			}
		}
		out.hasP = true
	}
	return out
}

// Every expression has the value of the operations it was made by, directly,
// as rows s = b - Ax of a compiled program, and as objective.
func TestExpressionValues(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		e := w.expression(t, rapid.IntRange(0, 5).Draw(t, "depth"))
		require.NoError(t, e.a.Err())
		require.Equal(t, len(e.value), e.a.Len())
		near(t, e.value, e.a.Eval(w.pt))

		last := convex.At(e.a, e.a.Len()-1)
		w.m.Eq("", 1, e.a)
		w.m.Ge("", e.a, 1)
		w.m.Minimize(last)
		p := must.Of(w.m.Compile())(t)
		problem := must.Of(p.Problem())(t)
		require.NoError(t, problem.Validate())
		var x []float64
		for _, v := range w.vars {
			x = append(x, w.pt[v]...)
		}
		s := mat.NewVecDense(len(problem.B), nil)
		s.MulVec(problem.A, mat.NewVecDense(len(x), x))
		s.SubVec(mat.NewVecDense(len(problem.B), problem.B), s)
		want := make([]float64, 2*len(e.value))
		for i, v := range e.value {
			want[i], want[len(e.value)+i] = v-1, v-1
		}
		near(t, want, s.RawVector().Data)

		// The linear term of the objective is its slope from zero.
		zero := last.Eval(convex.Point{})[0]
		near(t, []float64{e.value[len(e.value)-1] - zero}, []float64{mat.Dot(mat.NewVecDense(len(x), problem.Q),
			mat.NewVecDense(len(x), x))})
	})
}

// near compares with a relative tolerance for rounding.
func near(t require.TestingT, want, got []float64) {
	require.Equal(t, len(want), len(got))
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-11*(1+math.Abs(want[i])) {
			require.InDelta(t, want[i], got[i], 1e-11, "entry %d", i)
		}
	}
}

// The product of sparse matrices has their nonzeros; dense, this one would not fit into any memory.
func TestProductsOfSparseMatricesStaySparse(t *testing.T) {
	const n = 300_000
	start, index, value, factor := make([]int, n+1), make([]int, n), make([]float64, n), make([]float64, n)
	for j := range n {
		start[j+1], index[j], value[j], factor[j] = j+1, (7*j)%n, float64(1+j%3), float64(2+j%5)
	}
	m := convex.NewModel()
	x := m.Vector("x", n)
	at := make([]float64, n)
	for j := range at {
		at[j] = float64(j % 11)
	}
	a := convex.Mul(mat.NewDiagDense(n, factor), convex.Mul(sparse.NewCSC(n, n, start, index, value), x))
	got := a.Eval(convex.Point{x: at})
	for j := range n {
		i := (7 * j) % n
		if want := factor[i] * value[j] * at[j]; got[i] != want {
			t.Fatalf("entry %d is %v, expected %v", i, got[i], want)
		}
	}
	// So have products of matrices of variables, from either side, and sums of all entries before.
	sums, by := convex.CumSum(x), sparse.NewCSC(n, n, start, index, value)
	require.Equal(t, floats.CumSum(make([]float64, n), at), sums.Eval(convex.Point{x: at}))
	for _, other := range []mat.Matrix{by.ToCOO(), by.ToDOK()} {
		require.Equal(t, convex.Mul(by, x).Eval(convex.Point{x: at}), convex.Mul(other, x).Eval(convex.Point{x: at}))
	}
	m.Eq("sums", sums, 1)
	m.Eq("left", convex.Mul(by, convex.Reshape(convex.Stack(x, x), n, 2)), 1)
	m.Eq("right", convex.Mul(convex.Transpose(x), by), 1)
	problem := must.Of(must.Of(m.Compile())(t).Problem())(t)
	require.LessOrEqual(t, problem.A.NNZ(), (3+1+2+1)*n)
}

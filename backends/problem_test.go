package backends

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
)

func TestValidate(t *testing.T) {
	assert.NoError(t, bounded().Validate())
	assert.NoError(t, (&Problem{}).Validate())
	nan, csc := math.NaN(), sparse.NewCSC
	for _, c := range []struct {
		spoil func(*Problem)
		want  string
	}{
		{func(p *Problem) { p.Q[0] = nan }, "backends: Q: entry 0 is NaN"},
		{func(p *Problem) { p.B[1] = math.Inf(-1) }, "backends: B: entry 1 is -Inf"},
		{func(p *Problem) { p.A = nil }, "backends: A: is nil, but B has 2 rows"},
		{func(p *Problem) { p.A = column(1, 2, 3) }, "backends: A: is 3 x 1, expected 2 x 1"},
		{func(p *Problem) { p.A = column(1, nan) }, "backends: A: entry 1 is NaN"},
		{func(p *Problem) { p.P = column(1, 2) }, "backends: P: is 2 x 1, expected 1 x 1"},
		{func(p *Problem) { p.A = csc(2, 1, []int{0, 1}, []int{2}, []float64{1}) },
			"backends: A: row index 2 in column 0, expected 0 to 1"},
		{func(p *Problem) { p.A = csc(2, 1, []int{0, 2}, []int{1, 1}, []float64{1, 1}) },
			"backends: A: row indices of column 0 are not increasing"},
		{func(p *Problem) { p.A = csc(2, 1, []int{0, 2}, []int{0, 1}, []float64{1}) }, "do not fit together"},
		{func(p *Problem) {
			p.Q, p.P = []float64{1, 1}, csc(2, 2, []int{0, 2, 1}, []int{0}, []float64{1})
		}, "backends: P: column pointers decrease at column 1"},
		{func(p *Problem) {
			p.Q, p.P = []float64{1, 1}, csc(2, 2, []int{0, 1, 1}, []int{1}, []float64{1})
		}, "backends: P: entry (1, 0) is below the diagonal, give the upper triangle"},
		{func(p *Problem) { p.Cones = nil }, "backends: Cones: take 0 rows, but B has 2"},
		{func(p *Problem) { p.Cones[0].Dim = -2 }, "backends: Cones[0]: negative dimension -2"},
		{func(p *Problem) { p.Cones[0].Kind = 12 }, "backends: Cones[0]: unknown kind 12"},
		{func(p *Problem) { p.Cones[0] = Box([]float64{1, 3}, []float64{1, 2}) },
			"backends: Cones[0]: entry 1 has bounds [3, 2], which no number satisfies"},
		{func(p *Problem) { p.Cones[0] = Box([]float64{nan, 3}, []float64{1, 4}) },
			"backends: Cones[0]: entry 0 has bounds [NaN, 1]"},
		{func(p *Problem) { p.Cones[0] = Cone{Kind: BoxCone, Dim: 2} },
			"backends: Cones[0]: has 0 lower and 0 upper bounds for dimension 2"},
		{func(p *Problem) { p.Cones[0] = Cone{Kind: PSDCone, Dim: 2} }, "backends: Cones[0]: dimension 2 is not n(n+1)/2"},
		{func(p *Problem) { p.Cones[0] = Cone{Kind: ExponentialCone, Dim: 2} },
			"backends: Cones[0]: dimension 2, an exponential cone has 3"},
		{func(p *Problem) { p.Cones[0] = Cone{Kind: DualPowerCone, Dim: 2} },
			"backends: Cones[0]: dimension 2, a power cone has 3"},
		{func(p *Problem) { p.Cones[0] = Power(nan) }, "backends: Cones[0]: exponent NaN is not in (0, 1)"},
		{func(p *Problem) { p.Cones[0] = GeneralizedPower([]float64{0.5, 0.4}, 1) },
			"backends: Cones[0]: weights have the sum 0.9, expected 1"},
		{func(p *Problem) { p.Cones[0] = GeneralizedPower([]float64{1.5, -0.5}, 1) },
			"backends: Cones[0]: weight 0 is 1.5, expected a number in (0, 1]"},
		{func(p *Problem) { p.Cones[0] = GeneralizedPower(nil, 2) },
			"backends: Cones[0]: weights have the sum 0, expected 1"},
		{func(p *Problem) { p.Cones[0] = DualGeneralizedPower([]float64{0.5, nan}, 1) },
			"backends: Cones[0]: weight 1 is NaN"},
		{func(p *Problem) { p.Cones[0] = DualGeneralizedPower([]float64{0.5, 0.5}, 0) },
			"backends: Cones[0]: dimension 2, a generalized power cone with 2 weights has more"},
		{func(p *Problem) { p.Cones[0] = NuclearNorm(0, 2) },
			"backends: Cones[0]: has a matrix of 0 x 2, expected at least one row and one column"},
		{func(p *Problem) { p.Cones[0] = Cone{Kind: NuclearNormCone, Dim: 2, Rows: 2, Cols: 3} },
			"backends: Cones[0]: dimension 2, a nuclear norm cone of 2 x 3 has 7"},
	} {
		p := bounded()
		c.spoil(p)
		err := p.Validate()
		var wrong *ProblemError
		assert.ErrorAs(t, err, &wrong)
		assert.ErrorContains(t, err, c.want)
	}
	many := GeneralizedPower(slices.Repeat([]float64{1e-6}, 1_000_000), 1)
	assert.Empty(t, wrongWeights(many), "in doubles the sum is 1 + 8e-12")
	assert.NoError(t, Options{}.WithDefaults().Validate())
	assert.EqualError(t, Options{Eps: nan}.Validate(), "backends: Options.Eps: NaN is negative or not a number")
}

func TestDimensionsThatDoNotFit(t *testing.T) {
	want := int64(1)<<31 + 1<<15
	if strconv.IntSize == 32 {
		want = -1
	}
	assert.EqualValues(t, want, PSD(1<<16).Dim)
	assert.Equal(t, -1, NuclearNorm(math.MaxInt, 2).Dim)
	assert.ErrorContains(t, (&Problem{Q: []float64{1}, Cones: []Cone{NuclearNorm(math.MaxInt, 2)}}).Validate(), "negative")
}

// TestCSC compares with sums in a dense matrix.
func TestTriplets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		rows, cols := 1+rng.IntN(8), 1+rng.IntN(8)
		dense := make([]float64, rows*cols)
		there := make([]bool, rows*cols)
		var m Triplets
		for range rng.IntN(60) {
			i, j, v := rng.IntN(rows), rng.IntN(cols), float64(rng.IntN(9)-4)
			m.Add(i, j, v)
			dense[i*cols+j] += v
			there[i*cols+j] = true
		}
		got := must.Of(m.CSC(rows, cols))(t)
		raw := got.RawMatrix()
		count := 0
		for j := range cols {
			column := raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]]
			assert.True(t, slices.IsSorted(column))
			for k, i := range column {
				assert.Equal(t, dense[i*cols+j], raw.Data[raw.Indptr[j]+k])
				assert.True(t, there[i*cols+j])
				count++
			}
		}
		for _, here := range there {
			if here {
				count--
			}
		}
		assert.Zero(t, count, "each place once")
	}
}

func TestTripletsWithoutColumns(t *testing.T) {
	m := must.Of(new(Triplets).CSC(3, 0))(t)
	assert.Equal(t, []int{0}, m.RawMatrix().Indptr)
}

func TestTripletsOutside(t *testing.T) {
	for _, at := range [][2]int{{2, 0}, {0, 3}, {-1, 0}, {0, -1}, {math.MinInt, 0}} {
		var m Triplets
		m.Add(0, 0, 1)
		m.Add(at[0], at[1], 1)
		_, err := m.CSC(2, 3)
		assert.ErrorContains(t, err, fmt.Sprintf("entry (%d, %d) is outside of 2 x 3", at[0], at[1]))
	}
	_, err := (&Triplets{Row: []int32{0}, Value: []float64{1}}).CSC(2, 2)
	assert.ErrorContains(t, err, "1 rows, 0 columns and 1 values")
	_, err = new(Triplets).CSC(-1, 2)
	assert.ErrorContains(t, err, "-1 x 2")
}

type nameless struct{ scripted }

func (*nameless) Name() string { return "" }

func TestRegistry(t *testing.T) {
	assert.Panics(t, func() { Register(nil) })
	assert.Panics(t, func() { Register(&nameless{}) })

	before, knownBefore := Names(), Known()
	_, err := Open("scripted")
	assert.ErrorContains(t, err, `unknown backend "scripted"; known are: clarabel, highs, native, osqp, pdhg, scs`)

	// A backend of the project that the build lacks is known by name.
	known["paid"] = "buy it"
	t.Cleanup(func() { delete(known, "paid") })
	_, err = Open("paid")
	assert.ErrorContains(t, err, `this build lacks "paid"; to get it: buy it`)
	assert.Equal(t, "buy it", Missing("paid"))
	assert.Contains(t, Known(), "paid")
	assert.NotContains(t, Names(), "paid")

	b := &scripted{capabilities: Capabilities{Cones: []ConeKind{PowerCone, NonnegativeCone}}, answer: exact}
	Register(b)
	t.Cleanup(func() { delete(registry.backends, "scripted") })
	assert.Panics(t, func() { Register(b) })
	assert.Equal(t, slices.Sorted(slices.Values(append(before, "scripted"))), Names())
	assert.Equal(t, slices.Sorted(slices.Values(append(knownBefore, "paid", "scripted"))), Known())
	assert.Empty(t, Missing("scripted"))

	opened := must.Of(Open("scripted"))(t)
	assert.Equal(t, "scripted", opened.Name())
	assert.True(t, opened.Capabilities().Supports(NonnegativeCone))
	assert.False(t, opened.Capabilities().Supports(PSDCone))

	// Another backend that cannot do something names this one.
	other := &nameless{}
	p := &Problem{Q: []float64{1}, A: column(1, 0, 0), B: []float64{1, 1, 1}, Cones: []Cone{Power(0.5)}}
	_, err = Checked(other).Setup(p, Options{})
	assert.ErrorContains(t, err, "does not support the power cone; these do: ")
	assert.ErrorContains(t, err, "scripted")
}

func TestNames(t *testing.T) {
	assert.Equal(t, "primal_infeasible", PrimalInfeasible.String())
	assert.Equal(t, "Status(99)", Status(99).String())
	assert.Equal(t, "dual power", DualPowerCone.String())
	assert.Equal(t, "ConeKind(-1)", ConeKind(-1).String())
	assert.Equal(t, 3.0, Residuals{1, 3, 2}.Max())
	for n := range 200 {
		assert.Equal(t, n, PSDOrder(PSD(n).Dim))
		if n > 0 {
			assert.Equal(t, n, PSDOrder(PSD(n+1).Dim-1))
		}
	}
}

// TestConvexity draws matrices Q diag(w) Q' with chosen eigenvalues, scales their rows and columns by
// powers of ten, and asks for exactly those with a negative one to be refused, with a direction that proves it
// in dense arithmetic.
func TestConvexity(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 400 {
		n := 2 + rng.IntN(12)
		var qr mat.QR
		qr.Factorize(mat.NewDense(n, n, normals(rng, n*n, 1)))
		var q mat.Dense
		qr.QTo(&q)
		w := make([]float64, n)
		negative := rng.IntN(2) == 0
		for j := range w {
			if rng.IntN(3) > 0 { // zeros are common
				w[j] = math.Pow(10, -3*rng.Float64())
			}
		}
		w[0] = 1
		if negative {
			w[n-1] = -math.Pow(10, -2*rng.Float64())
		}
		var p mat.Dense
		p.Mul(&q, mat.NewDiagDense(n, w))
		p.Mul(&p, q.T())
		decades := rng.IntN(9)
		for j := range n {
			by := math.Pow(10, float64(rng.IntN(2*decades+1)-decades))
			for i := range n {
				p.Set(i, j, p.At(i, j)*by)
				p.Set(j, i, p.At(j, i)*by)
			}
		}
		err := new(convexity).check(matrices.Upper(&p))
		if !negative {
			require.NoError(t, err)
			continue
		}
		var nonconvex *ProblemError
		require.ErrorAs(t, err, &nonconvex)
		d := mat.NewVecDense(n, nonconvex.Direction)
		for i := range n { // rounding made the two triangles differ
			for j := range i {
				p.Set(i, j, p.At(j, i))
			}
		}
		value := mat.Inner(d, &p, d)
		assert.Less(t, value, 0.0)
		assert.InEpsilon(t, value, nonconvex.Curvature, 1e-2)
		variable := slices.IndexFunc(nonconvex.Direction, func(v float64) bool { return math.Abs(v) == 1 })
		assert.Contains(t, err.Error(), fmt.Sprintf("largest in variable %d", variable))
		assert.Equal(t, 1.0, floats.Norm(nonconvex.Direction, math.Inf(1)))
	}
}

// TestConvexityByHand has the small matrices that a factorisation of the diagonal alone, or of
// positive pivots alone, would get wrong.
func TestConvexityByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      []float64 // 2 x 2, or 3 x 3
		convex bool
	}{
		{"a negative diagonal", []float64{-1, 0, 0, 1}, false},
		{"an entry beside a zero", []float64{0, 1, 1, 4}, false},
		{"an entry below a zero", []float64{4, -1, -1, 0}, false},
		{"a tiny entry beside a zero", []float64{1e8, 1e-8, 1e-8, 0}, false},
		{"singular", []float64{4, -4, -4, 4}, true},
		{"nearly singular", []float64{1, 1 - 1e-9, 1 - 1e-9, 1}, true},
		{"just not", []float64{1, 1 + 1e-3, 1 + 1e-3, 1}, false},
		{"rounded", []float64{1, 1 + 2e-16, 1 + 2e-16, 1}, true},
		{"rank one of far scales", []float64{1e16, 1e8, 1e8, 1}, true},
		{"huge", []float64{1e300, 1e301, 1e301, 1e300}, false},
		{"all minors of two are positive", []float64{1, -0.6, -0.6, -0.6, 1, -0.6, -0.6, -0.6, 1}, false},
		{"rank two", []float64{1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1}, true},
		{"an empty row", []float64{2, 0, 2, 0, 0, 0, 2, 0, 2}, true},
	} {
		n := int(math.Sqrt(float64(len(c.p))))
		err := new(convexity).check(matrices.Upper(mat.NewDense(n, n, c.p)))
		assert.Equal(t, c.convex, err == nil, c.name)
	}
	// Between convex and not: [1 1+e; 1+e 1] has the eigenvalue -e.
	for _, e := range []float64{1e-10, 1e-7, 5e-5} {
		c := new(convexity)
		assert.NoError(t, c.check(matrices.Upper(mat.NewDense(2, 2, []float64{1, 1 + e, 1 + e, 1}))))
		assert.InEpsilon(t, e, c.shift, 0.03)
	}
	assert.NoError(t, new(convexity).check(nil))
}

func TestExactSum(t *testing.T) {
	var s exactSum
	s.addProduct(1e16, 1)
	s.addProduct(1e-3, 1e-3)
	s.addProduct(-1e16, 1)
	assert.InEpsilon(t, 1e-6, s.value(), 1e-9)
	assert.Less(t, s.bound(), 1e-13)
	s = exactSum{}
	s.addTriple(1e9+1, 1e9-1, 1)
	s.addTriple(-1e9, 1e9, 1)
	assert.Equal(t, -1.0, s.value())
	s.addProduct(1e200, 1e200)
	assert.False(t, s.bound() < math.Inf(1))
}

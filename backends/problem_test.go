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
	assert.ErrorContains(t, err, `unknown backend "scripted"; known are: clarabel, highs, native, osqp, scs`)

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

package cbf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/must"
)

func solve(t *testing.T, m *Model) (*backends.Solution, formats.Solution) {
	t.Helper()
	p := must.Of(m.Conic())(t)
	s := backendtest.Solve(t, backendtest.Open(t, "native"), p.Problem, backends.Options{})
	return s, p.Solution(s)
}

func TestSolveSmall(t *testing.T) {
	m := must.Of(Read("testdata/small.cbf"))(t)
	s, got := solve(t, m)
	require.Equal(t, backends.Optimal, s.Status)
	assert.InDeltaSlice(t, []float64{math.Sqrt2, math.Sqrt2, 2, 1}, got.X, 1e-5)
	assert.InDelta(t, 6-2*math.Sqrt2, got.Objective, 1e-6)
	assert.InDelta(t, 6-2*math.Sqrt2, got.DualObjective, 1e-6)

	// The multipliers are minus the derivatives of the minimised objective by b.
	const h = 1e-4
	for i, y := range got.Y {
		value := func(shift float64) float64 {
			m := must.Of(Read("testdata/small.cbf"))(t)
			m.B = append(m.B, Entry{[4]int{i}, shift})
			s, got := solve(t, m)
			require.Equal(t, backends.Optimal, s.Status)
			return -got.Objective
		}
		assert.InDelta(t, -(value(h)-value(-h))/(2*h), y, 1e-3, "constraint %d", i)
	}
}

// TestKnownOptimum checks the point that cones.cbf states, and multipliers found by hand.
func TestKnownOptimum(t *testing.T) {
	m := must.Of(Read("testdata/cones.cbf"))(t)
	p := must.Of(m.Conic())(t)
	assert.Equal(t, []backends.Cone{backends.Zero(5), backends.PSD(2), backends.PSD(2), backends.Exponential(),
		backends.Power(.25)}, p.Problem.Cones)
	x := []float64{math.E, 1, 1, 1, 1, 1, 2, 1, math.Sqrt2, 1}
	s := make([]float64, 17)
	copy(s[5:], []float64{1, math.Sqrt2, 1, 1, 2 * math.Sqrt2, 4, 1, 1, math.E, 1, 1, 1})
	z := []float64{
		0, math.E, -3, 4, 1, // the equations
		1, -math.Sqrt2, 1, // the matrix variable: [1 -1; -1 1]
		1, -math.Sqrt2 / 2, .25, // the matrix constraint: [1 -1/2; -1/2 1/4]
		-math.E, 0, 1, // the gradient of w - v exp(u/v), over its value by w
		1, 3, -4, // that of 4 (u^(1/4) v^(3/4) - w)
	}
	residuals, primal, dual := backends.Recheck(p.Problem, x, s, z)
	assert.Less(t, residuals.Max(), 1e-9)
	assert.InDelta(t, math.E+1, primal, 1e-12)
	assert.InDelta(t, math.E+1, dual, 1e-12)
	got := p.Solution(&backends.Solution{X: x, Z: z})
	assert.Equal(t, x[:7], got.X)
	assert.InDeltaSlice(t, []float64{1, 1, 1}, got.Matrices[0], 1e-12)
	assert.Equal(t, z[:5], got.Y)
}

// inside says whether v is in the cone, straight from the definition.
func inside(c Cone, v []float64) bool {
	norm := func(v []float64) float64 { return floats.Norm(v, 2) }
	all := func(v []float64, ok func(float64) bool) bool {
		for _, x := range v {
			if !ok(x) {
				return false
			}
		}
		return true
	}
	nonnegative := func(x float64) bool { return x >= 0 }
	powers := c.Powers
	if c.Kind == GeometricMean || c.Kind == DualGeometricMean {
		for range c.Dim - 1 {
			powers = append(powers, 1)
		}
	}
	switch c.Kind {
	case Free:
		return true
	case Nonnegative:
		return all(v, nonnegative)
	case Nonpositive:
		return all(v, func(x float64) bool { return x <= 0 })
	case Zero:
		return all(v, func(x float64) bool { return x == 0 })
	case SecondOrder:
		return v[0] >= norm(v[1:])
	case RotatedSecond:
		return v[0] >= 0 && v[1] >= 0 && 2*v[0]*v[1] >= norm(v[2:])*norm(v[2:])
	case Exponential:
		return v[1] > 0 && v[0] >= v[1]*math.Exp(v[2]/v[1])
	case DualExponential:
		return v[2] < 0 && v[0] >= -v[2]*math.Exp(v[1]/v[2]-1)
	case PSDVector: // of order 2
		return v[0] >= 0 && v[2] >= 0 && v[0]*v[2] >= v[1]*v[1]/2
	}
	sum, product := floats.Sum(powers), 1.0
	l := len(powers)
	for k, a := range powers {
		base := v[k]
		if c.Kind == DualPower || c.Kind == DualGeometricMean {
			base *= sum / a
		}
		product *= math.Pow(base, a/sum)
	}
	return all(v[:l], nonnegative) && product >= norm(v[l:])
}

// slack is b - Ax.
func slack(p *backends.Problem, x []float64) []float64 {
	s := slices.Clone(p.B)
	for i := range s {
		for j, v := range x {
			s[i] -= p.A.At(i, j) * v
		}
	}
	return s
}

// TestCones takes random points and compares the rows of the conic program with
// the definition of each cone, as VAR and as CON.
func TestCones(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	counts := map[string][2]int{}
	for range 4000 {
		m := random(rng)
		if len(m.Con) == 0 {
			continue
		}
		c := m.Con[0]
		v := make([]float64, c.Dim)
		for k := range v {
			v[k] = rng.NormFloat64()
			if c.Kind != Free && c.Kind != Zero && rng.IntN(3) > 0 {
				v[k] = math.Abs(v[k])
			}
			if c.Kind == Nonpositive || c.Kind == DualExponential && k > 0 {
				v[k] = -v[k]
			}
			if c.Kind == Zero {
				v[k] = float64(rng.IntN(3) / 2)
			}
		}
		want := inside(c, v)
		asVar := &Model{Var: []Cone{c}}
		asCon := &Model{Con: []Cone{c}}
		for k, x := range v {
			asCon.B = append(asCon.B, Entry{[4]int{k}, x})
		}
		for _, m := range []*Model{asVar, asCon} {
			p := must.Of(m.Conic())(t)
			n, _ := p.Problem.Dims()
			x := make([]float64, n)
			copy(x, v)
			s := slack(p.Problem, x)
			distance, at := 0.0, 0
			for _, cone := range p.Problem.Cones {
				distance = max(distance, cone.Distance(s[at:at+cone.Dim]))
				at += cone.Dim
			}
			if want {
				assert.Less(t, distance, 1e-9, "%v at %v", c, v)
			} else {
				assert.Positive(t, distance, "%v at %v", c, v)
			}
		}
		k := counts[c.Kind]
		if want {
			k[0]++
		} else {
			k[1]++
		}
		counts[c.Kind] = k
	}
	for kind, k := range counts {
		assert.Greater(t, k[0], 5, "%s, points inside", kind)
		if kind != Free {
			assert.Greater(t, k[1], 5, "%s, points outside", kind)
		}
	}
	assert.Len(t, counts, 13)
}

// TestLongPowers has cones above and below the length from which they are towers, with optima of closed form: the
// largest weighted mean of x below |y| = t with sum x = 1 has x = w, and sum x least with the mean of x/w equal to 1
// has the same.
func TestLongPowers(t *testing.T) {
	for _, l := range []int{longPower - 3, 3 * longPower} {
		powers, sum := make([]float64, l), 0.0
		for k := range powers {
			powers[k] = float64(1 + k%3)
			sum += powers[k]
		}
		mean, w := 1.0, make([]float64, l)
		for k, a := range powers {
			w[k] = a / sum
			mean *= math.Pow(w[k], w[k])
		}
		for _, kind := range []string{Power, DualPower} {
			want := map[string]float64{Power: mean, DualPower: 1}[kind]
			// max 3y + 4z with |(y, z)| at most the mean
			m := &Model{Version: 2, Maximize: true, Var: []Cone{{kind, l + 2, powers}}, Con: []Cone{{Kind: Zero, Dim: 1}},
				B: []Entry{{[4]int{0}, -1}}}
			m.Objective = []Entry{{[4]int{l}, 3}, {[4]int{l + 1}, 4}}
			for k := range l {
				m.A = append(m.A, Entry{[4]int{0, k}, 1})
			}
			p := must.Of(m.Conic())(t)
			columns, _ := p.Problem.Dims()
			assert.Equal(t, l > longPower, columns > l+2, "a tower has auxiliary columns")
			s, got := solve(t, m)
			require.Equal(t, backends.Optimal, s.Status)
			assert.InDelta(t, 5*want, got.Objective, 1e-6)
			assert.InDelta(t, 5*want, got.DualObjective, 1e-6)
			require.Len(t, got.X, l+2)
			assert.InDelta(t, 0.6*want, got.X[l], 1e-4)
			assert.InDelta(t, w[0], got.X[0], 1e-4)
			assert.InDelta(t, 5*want, math.Abs(got.Y[0]), 1e-5, "the value is 5 want times the sum of x")
		}
	}
}

// TestMatrices compares the rows of matrix variables and constraints, and the
// objective, with sums over full symmetric matrices.
func TestMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	for range 200 {
		m := random(rng)
		m.Var, m.Con = []Cone{{Kind: Free, Dim: total(m.Var)}}, []Cone{{Kind: Nonnegative, Dim: total(m.Con)}}
		p := must.Of(m.Conic())(t)
		columns, rows := p.Problem.Dims()
		x := make([]float64, columns)
		for k := range x {
			x[k] = rng.NormFloat64()
		}
		got := p.Solution(&backends.Solution{X: x})
		full := make([]*mat.SymDense, len(m.PSDVar)) // the matrix variables
		for k, n := range m.PSDVar {
			full[k] = mat.NewSymDense(n, nil)
			at := 0
			for j := range n {
				for i := j; i < n; i++ {
					full[k].SetSym(i, j, got.Matrices[k][at])
					at++
				}
			}
		}
		inner := func(k, i, j int, v float64) float64 {
			if i != j {
				v *= 2
			}
			return v * full[k].At(i, j)
		}
		objective := 0.0
		for _, c := range m.Objective {
			objective += c.Value * x[c.Index[0]]
		}
		for _, c := range m.ObjectiveMatrix {
			objective += inner(c.Index[0], c.Index[1], c.Index[2], c.Value)
		}
		value := floats.Dot(p.Problem.Q, x)
		if m.Maximize {
			value = -value
		}
		assert.InDelta(t, objective, value, 1e-10)

		g := make([]float64, total(m.Con))
		for _, c := range m.B {
			g[c.Index[0]] += c.Value
		}
		for _, c := range m.A {
			g[c.Index[0]] += c.Value * x[c.Index[1]]
		}
		for _, c := range m.F {
			g[c.Index[0]] += inner(c.Index[1], c.Index[2], c.Index[3], c.Value)
		}
		want := g // s, cone by cone
		svec := func(a *mat.SymDense) {
			for j := range a.SymmetricDim() {
				for i := j; i < a.SymmetricDim(); i++ {
					v := a.At(i, j)
					if i != j {
						v *= math.Sqrt2
					}
					want = append(want, v)
				}
			}
		}
		for _, a := range full {
			svec(a)
		}
		for k, n := range m.PSDCon {
			a := mat.NewSymDense(n, nil)
			for _, c := range m.D {
				if i, j := c.Index[1], c.Index[2]; c.Index[0] == k {
					a.SetSym(i, j, a.At(i, j)+c.Value)
				}
			}
			for _, c := range m.H {
				if i, j := c.Index[2], c.Index[3]; c.Index[0] == k {
					a.SetSym(i, j, a.At(i, j)+c.Value*x[c.Index[1]])
				}
			}
			svec(a)
		}
		require.Len(t, want, rows)
		require.InDeltaSlice(t, want, slack(p.Problem, x), 1e-10)
	}
}

func TestConicTooLarge(t *testing.T) {
	for _, m := range []*Model{
		{Var: []Cone{{Kind: Free, Dim: math.MaxInt32}}},
		{PSDVar: []int{math.MaxInt32}},
		{PSDCon: []int{20000, 20000, 20000}},
	} {
		_, err := m.Conic()
		assert.ErrorContains(t, err, "too large")
	}
	m := &Model{Var: []Cone{{Kind: Free, Dim: 1}}, PSDCon: []int{2}, H: []Entry{{[4]int{0, 0, 1, 0}, math.MaxFloat64}}}
	_, err := m.Conic()
	assert.ErrorContains(t, err, "too large")
}

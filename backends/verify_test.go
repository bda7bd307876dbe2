package backends

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/matrices"
)

func normals(rng *rand.Rand, n int, scale float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = scale * rng.NormFloat64()
	}
	return v
}

// TestRecheck compares with dense matrix products on random data, in which each
// part of the residuals is made the largest in turn.
func TestRecheck(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, m = 4, 6
	normal := func(k int, scale float64) []float64 { return normals(rng, k, scale) }
	for range 50 {
		scale := math.Pow(10, 4*rng.Float64()-2)
		a := mat.NewDense(m, n, normal(m*n, scale))
		half := mat.NewDense(n, n, normal(n*n, 1))
		var p mat.Dense
		p.Mul(half, half.T())
		lower, up := []float64{-1, math.Inf(-1)}, []float64{math.Inf(1), 0.5}
		problem := &Problem{
			P: matrices.Upper(&p), Q: normal(n, scale), A: matrices.Compress(a), B: normal(m, 1),
			Cones: []Cone{Zero(1), Box(lower, up), SecondOrder(3)},
		}
		x, s, z := normal(n, 1), normal(m, scale), normal(m, 1)
		got, primal, dual := Recheck(problem, x, s, z)

		vec := func(v []float64) *mat.VecDense { return mat.NewVecDense(len(v), v) }
		var ax, px, atz, r, d mat.VecDense
		ax.MulVec(a, vec(x))
		px.MulVec(&p, vec(x))
		atz.MulVec(a.T(), vec(z))
		r.AddVec(&ax, vec(s))
		r.SubVec(&r, vec(problem.B))
		d.AddVec(&px, vec(problem.Q))
		d.AddVec(&d, &atz)
		size := func(v *mat.VecDense) float64 { return mat.Norm(v, math.Inf(1)) }
		distS := max(0, math.Abs(s[0]), -1-s[1], s[2]-0.5, math.Hypot(s[4], s[5])-s[3])
		distZ := max(0, -z[1], z[2], math.Hypot(z[4], z[5])-z[3])
		wantPrimal := max(size(&r), distS) / max(1, size(&ax), size(vec(s)), size(vec(problem.B)))
		wantDual := max(size(&d), distZ) / max(1, size(vec(problem.Q)), size(&px), size(&atz))
		xPx := mat.Dot(vec(x), &px)
		beta := -1*max(0, z[1]) - 0.5*max(0, -z[2])
		wantObjective := xPx/2 + mat.Dot(vec(problem.Q), vec(x))
		wantDualObjective := -xPx/2 - mat.Dot(vec(problem.B), vec(z)) + beta
		gap := math.Abs(wantObjective-wantDualObjective) / max(1, min(math.Abs(wantObjective), math.Abs(wantDualObjective)))
		assert.InEpsilon(t, wantPrimal, got.Primal, 1e-12)
		assert.InEpsilon(t, wantDual, got.Dual, 1e-12)
		assert.InDelta(t, wantObjective, primal, 1e-11*(1+xPx))
		assert.InDelta(t, wantDualObjective, dual, 1e-11*(1+xPx))
		assert.InDelta(t, gap, got.Gap, 1e-10*(1+gap))

		stationarity, by := Stationarity(problem, x, z)
		assert.InDeltaSlice(t, d.RawVector().Data, stationarity, 1e-12*by)
		assert.InEpsilon(t, max(1, size(vec(problem.Q)), size(&px), size(&atz)), by, 1e-12)
	}
}

func TestRecheckNotFinite(t *testing.T) {
	p := bounded()
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		for _, c := range [][3][]float64{
			{{v}, {0, 7}, {1, 0}}, {{-2}, {v, 7}, {1, 0}}, {{-2}, {0, 7}, {v, 0}},
		} {
			r, _, _ := Recheck(p, c[0], c[1], c[2])
			assert.False(t, r.Max() <= 1e300, "%v", c)
		}
	}
	assert.Panics(t, func() { Recheck(p, nil, []float64{0, 0}, []float64{0, 0}) })
	assert.Panics(t, func() { Stationarity(p, nil, []float64{0, 0}) })
}

// residual is that of a certificate which proves something.
func residual(t *testing.T, check func(*Problem, []float64) (float64, error), p *Problem, v []float64) float64 {
	t.Helper()
	r, err := check(p, v)
	assert.NoError(t, err)
	return r
}

// assertRefused has a certificate that proves nothing.
func assertRefused(t *testing.T, check func(*Problem, []float64) (float64, error), p *Problem, v []float64) {
	t.Helper()
	r, err := check(p, v)
	assert.True(t, err != nil || r >= 1, "%g", r)
}

// TestCertificateScale multiplies rows, columns, b and q, none of which changes
// what a certificate proves.
func TestCertificateScale(t *testing.T) {
	const off = 1e-5 // the relative error of one of two terms
	for _, k := range []float64{1e-6, 1, 1e6} {
		for _, l := range []float64{1e-6, 1, 1e6} {
			// x + y <= -k and x + y >= 0 with multipliers that are not quite the same: r = off in both columns, and x and y
			// have the size of k.
			a := two(l, -1, l, -1)
			p := &Problem{Q: []float64{1, 0}, A: a, B: []float64{-k * l, 0}, Cones: []Cone{Nonnegative(2)}}
			r := residual(t, CheckPrimalInfeasible, p, []float64{7, 7 * l * (1 + off)})
			assert.InEpsilon(t, 2*off, r, 1e-3, "b times %g, row times %g", k, l)

			a = sparse.NewCSC(1, 2, []int{0, 1, 2}, []int{0, 0}, []float64{1, -l})
			p = &Problem{Q: []float64{-k, 0}, A: a, B: []float64{0}, Cones: []Cone{Zero(1)}}
			r = residual(t, CheckDualInfeasible, p, []float64{5, 5 / l * (1 + off)})
			assert.InEpsilon(t, off, r, 1e-3, "q times %g, column times %g", k, l)
		}
		// x <= -k and x >= 0: whatever r is, the bound of x takes it in.
		p := &Problem{Q: []float64{1}, A: column(1, -1), B: []float64{-k, 0}, Cones: []Cone{Nonnegative(2)}}
		assert.Zero(t, residual(t, CheckPrimalInfeasible, p, []float64{7, 7 * (1 + off)}))

		p = &Problem{P: column(k), Q: []float64{-1}}
		// The optimum is where Px is as large as q.
		assert.InEpsilon(t, 1, residual(t, CheckDualInfeasible, p, []float64{3}), 1e-9)
	}
}

// TestCertificateFalse has vectors that pass where residuals are measured by their own terms or by those of a row
// without entries, or where sums cancel, on problems that are feasible and bounded.
func TestCertificateFalse(t *testing.T) {
	// x2 <= -1e10 holds at (0, -1e10); the row 0 <= 0 proves nothing.
	a := sparse.NewCSC(3, 2, []int{0, 1, 2}, []int{2, 1}, []float64{1, 1})
	p := &Problem{P: column2(0.13), Q: []float64{0, 0}, A: a, B: []float64{0, -1e10, 3e7}, Cones: []Cone{Nonnegative(3)}}
	assertRefused(t, CheckPrimalInfeasible, p, []float64{1, 1e-10, 0})

	// 1/2 (x+y)^2 + (x+y), whose optimum is -1/2.
	square := sparse.NewCSC(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{1, 1, 1})
	p = &Problem{P: square, Q: []float64{1, 1}}
	assertRefused(t, CheckDualInfeasible, p, []float64{1e9, -1e9 - 1})

	// x + y = 1, given twice.
	ones := two(1, 1, 1, 1)
	p = &Problem{Q: []float64{0, 0}, A: ones, B: []float64{1, 1}, Cones: []Cone{Zero(2)}}
	assertRefused(t, CheckPrimalInfeasible, p, []float64{1e9, -1e9 - 1})

	// 1/2 1e-9 x^2 - x over x >= 0, whose optimum is -5e8.
	p = &Problem{P: column(1e-9), Q: []float64{-1}, A: column(-1), B: []float64{0}, Cones: []Cone{Nonnegative(1)}}
	assert.InEpsilon(t, 1, residual(t, CheckDualInfeasible, p, []float64{1}), 1e-9)
}

// TestRadius has a certificate that is as wrong as its radius says: x + y >= 1 and x + (1 + e) y <= 0 meet
// from y = -1/e on.
func TestRadius(t *testing.T) {
	for _, e := range []float64{1e-3, 1e-6, 1e-9} {
		a := two(-1, 1, -1, 1+e)
		p := &Problem{Q: []float64{0, 0}, A: a, B: []float64{-1, 0}, Cones: []Cone{Nonnegative(2)}}
		found, err := new(checker).primalInfeasible(p, []float64{1, 1}, nil)
		assert.NoError(t, err)
		assert.InEpsilon(t, 1/e, found.radius, 1e-6)
	}
	// And an exact one.
	a := two(-1, 1, -0.1, 0.1)
	p := &Problem{Q: []float64{0, 0}, A: a, B: []float64{-1, 0}, Cones: []Cone{Nonnegative(2)}}
	found, err := new(checker).primalInfeasible(p, []float64{3, 3}, nil)
	assert.NoError(t, err)
	assert.Equal(t, math.Inf(1), found.radius)
	assert.Zero(t, found.residual)
}

// two is a matrix of order 2 by its columns.
func two(v ...float64) *sparse.CSC {
	return sparse.NewCSC(2, 2, []int{0, 2, 4}, []int{0, 1, 0, 1}, v)
}

// column2 is the 2 x 2 matrix with one entry, at the top left.
func column2(v float64) *sparse.CSC {
	return sparse.NewCSC(2, 2, []int{0, 1, 1}, []int{0}, []float64{v})
}

func TestCertificateTraps(t *testing.T) {
	// Rounding alone: x = 0.3 twice with b'z = -5e-17. No proof.
	tenth, fifth := 0.1, 0.2
	third := tenth + fifth // 0.30000000000000004
	p := &Problem{Q: []float64{0}, A: column(1, 1), B: []float64{third, 0.3}, Cones: []Cone{Zero(2)}}
	_, err := CheckPrimalInfeasible(p, []float64{-1, 1})
	assert.ErrorContains(t, err, "rounding")

	// A big bound that has nothing to do with the contradiction does no harm.
	a := sparse.NewCSC(3, 1, []int{0, 3}, []int{0, 1, 2}, []float64{1, -1, 1})
	p = &Problem{Q: []float64{0}, A: a, B: []float64{-1, 0, 1e12}, Cones: []Cone{Nonnegative(3)}}
	assert.Less(t, residual(t, CheckPrimalInfeasible, p, []float64{1, 1, 1e-22}), 1e-9)

	// A multiplier of the wrong sign proves nothing.
	p = &Problem{Q: []float64{0}, A: column(1, 1), B: []float64{-1, 0}, Cones: []Cone{Nonnegative(2)}}
	assertRefused(t, CheckPrimalInfeasible, p, []float64{1, -1})

	// A box with one finite side: only the direction towards the other is free.
	inf := math.Inf(1)
	p = &Problem{Q: []float64{-1}, A: column(-1), B: []float64{0}, Cones: []Cone{Box([]float64{-inf}, []float64{5})}}
	assert.GreaterOrEqual(t, residual(t, CheckDualInfeasible, p, []float64{1}), 1.0)
	_, err = CheckDualInfeasible(p, []float64{math.NaN()})
	assert.ErrorIs(t, err, errNotFinite)
	assert.Panics(t, func() { _, _ = CheckDualInfeasible(p, nil) })
	assert.Panics(t, func() { _, _ = CheckPrimalInfeasible(p, nil) })
}

// Two equations of one x, with weights that leave of A'z what cancellation leaves of the first: x, which the first
// fixes, takes b'z back but for rounding, which proves nothing.
func TestCertificateTakenBack(t *testing.T) {
	const x = 14.989054183368527
	p := &Problem{Q: []float64{0}, A: column(-0.0234375, 0.125), B: []float64{-0.3513059574226999, 0.125 * x},
		Cones: []Cone{Zero(2)}}
	_, err := CheckPrimalInfeasible(p, []float64{-3.778756988486257e+13, 141592.08344456146})
	assert.ErrorContains(t, err, "outweighs")
}

// TestProducts has columns with runs of all kinds, against sums entry by entry.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		m, n := 1+rng.IntN(90), 1+rng.IntN(5)
		dense := mat.NewDense(m, n, nil)
		for j := range n {
			stay := rng.Float64() // the chance that a run goes on
			for i, on := 0, true; i < m; i++ {
				if rng.Float64() > stay {
					on = !on
				}
				if on {
					dense.Set(i, j, 1+rng.Float64())
				}
			}
		}
		x, z, ax, atz := normals(rng, n, 1), normals(rng, m, 1), make([]float64, m), make([]float64, n)
		bothProducts(matrices.Compress(dense).RawMatrix(), x, z, ax, atz)
		for i := range m {
			assert.InDelta(t, mat.Dot(dense.RowView(i), mat.NewVecDense(n, x)), ax[i], 1e-12)
		}
		for j := range n {
			assert.InDelta(t, mat.Dot(dense.ColView(j), mat.NewVecDense(m, z)), atz[j], 1e-12)
		}
	}
}

// TestFarSums compares what a judge finds with rational arithmetic where terms of 1e8 cancel to their last places.
func TestFarSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	const n, m = 4, 3
	x, z, dense := []float64{1e8, -3e7, 2e8, 1.7e8}, []float64{1, -2, 0.5}, mat.NewDense(m, n, nil)
	want := 0.0 // the largest residual
	for i := range m {
		sum := new(big.Rat)
		for k := range n {
			if dense.Set(i, k, rng.NormFloat64()); k == n-1 {
				last, _ := sum.Float64()
				dense.Set(i, k, -last/x[k])
			}
			sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(dense.At(i, k)), new(big.Rat).SetFloat64(x[k])))
		}
		residual, _ := sum.Float64()
		want = max(want, math.Abs(residual))
	}
	p := &Problem{Q: make([]float64, n), A: matrices.Compress(dense), B: make([]float64, m), Cones: []Cone{Zero(m)}}
	for k := range p.Q {
		p.Q[k] = -mat.Dot(dense.ColView(k), mat.NewVecDense(m, z)) // rounded
	}
	value := new(big.Rat)
	for k, q := range p.Q {
		value.Add(value, new(big.Rat).Mul(new(big.Rat).SetFloat64(q), new(big.Rat).SetFloat64(x[k])))
	}
	objective, _ := value.Float64()
	found := NewJudge(p).measure(x, make([]float64, m), z)
	assert.InEpsilon(t, want, found.Primal, 1e-12)
	assert.InEpsilon(t, objective, found.primal, 1e-12)
	r, primal, _ := Recheck(p, x, make([]float64, m), z)
	assert.Greater(t, math.Abs(r.Primal-want), 1e-3*want, "plain sums tell it, too")
	assert.Greater(t, math.Abs(primal-objective), 1e-3*math.Abs(objective), "plain sums tell it, too")
}

// TestTermsThatCancel has terms of 1e10 that leave a residual of 1e-7 of a cost of one, for a variable of 1e-3 beside
// one of 1e7, where the objective keeps its digits. What a variable at its bound of zero has left is nothing beside others.
func TestTermsThatCancel(t *testing.T) {
	z := []float64{1e7 / 3., -(2.9e10/3 + 1) / 7.7e3, 1}
	p := &Problem{
		Q: []float64{1, -1e-7*z[0] - 3e-7*z[1], 1}, A: sparse.NewCSC(3, 3, []int{0, 2, 4, 5}, []int{0, 1, 0, 1, 2},
			[]float64{2.9e3, 7.7e3, 1e-7, 3e-7, -1}), B: []float64{3.9, 10.7, 0}, Cones: []Cone{Zero(2), Nonnegative(1)},
	}
	optimal := func(least, most float64) bool {
		x, s := []float64{1e-3, 1e7, 1e-20}, make([]float64, 3)
		r, _, _ := Recheck(p, x, s, z)
		assert.Greater(t, r.Max(), least)
		assert.Less(t, r.Max(), most)
		return NewJudge(p).Optimal(x, s, z, 1e-8)
	}
	assert.True(t, optimal(1e-7, 1e-5))
	z[1] += 1e-8 // twice the last places
	assert.False(t, optimal(5e-5, 1e-4))
}

// TestPaddedCertificate has x0 + x1 - 3 x2 = 0 twice, with entries that differ by 1e-9: the dual has a solution of 1e9.
// (-1/2, 1/2, 0) misses the first equation by so little, and no less where a large part that both equations take to
// zero gives it terms beside which this is a last place.
func TestPaddedCertificate(t *testing.T) {
	const e = 0x1p-30
	a := sparse.NewCSC(2, 3, []int{0, 2, 4, 6}, []int{0, 1, 0, 1, 0, 1}, []float64{0.375 - e, 1, 0.375, 1, -1.125, -3})
	p := &Problem{Q: []float64{2, 0, 0}, A: a, B: []float64{1, 1}, Cones: []Cone{Zero(2)}}
	for _, far := range []float64{0, 1 << 10, 1 << 20} {
		r := residual(t, CheckDualInfeasible, p, []float64{-0.5, 0.5 + 3*far, far})
		assert.Greater(t, r, e/2) // times 2/0.375, the size of z
	}
}

// TestCertificateOf106Bits has z = (1/3, 1), which is no vector of doubles.
func TestCertificateOf106Bits(t *testing.T) {
	a := two(3, -1, -3e4, 1e4)
	third := 1. / 3
	primal := &Problem{Q: []float64{0, 0}, A: a, B: []float64{-1, 0}, Cones: []Cone{Nonnegative(2)}}
	assert.Less(t, residual(t, CheckPrimalInfeasible, primal, []float64{third, 1}), 1e-25)
	transposed := two(3, -3e4, -1, 1e4)
	dual := &Problem{Q: []float64{-1, 0}, A: transposed, B: []float64{0, 0}, Cones: []Cone{Zero(2)}}
	assert.Less(t, residual(t, CheckDualInfeasible, dual, []float64{third, 1}), 1e-25)
	// More than a last place.
	assert.Greater(t, residual(t, CheckPrimalInfeasible, primal, []float64{third, 1 + 1e-12}), 1e-13)
}

// TestUnits has x >= 1000, written with numbers of 1e-12 and 1e-9, where the point 900 misses by a tenth, and beside it
// what must not hide that: a right-hand side in a row without entries, and a bound that is far.
func TestUnits(t *testing.T) {
	p := &Problem{
		Q: []float64{0}, A: sparse.NewCSC(3, 1, []int{0, 2}, []int{0, 2}, []float64{-1e-12, 1e-12}),
		B:     []float64{-1e-9, 5e15, 0},
		Cones: []Cone{Nonnegative(1), Box([]float64{0, -1e20}, []float64{6e15, 0})},
	}
	judge := NewJudge(p)
	excess := func(x float64) float64 {
		return judge.Excess([]float64{x}, []float64{max(0, -1e-9+1e-12*x), 5e15, -1e-12 * x}, make([]float64, 3), 1e-8)
	}
	assert.LessOrEqual(t, excess(1000), 1.0)
	assert.Greater(t, excess(900), 1e3)
}

// TestHiddenResiduals has points whose residuals are nothing beside the largest numbers, and far from optimal all the
// same.
func TestHiddenResiduals(t *testing.T) {
	diagonal := func(d ...float64) *sparse.CSC {
		out := sparse.NewCSC(len(d), len(d), make([]int, len(d)+1), make([]int, len(d)), d)
		for j := range d {
			out.RawMatrix().Indptr[j+1], out.RawMatrix().Ind[j] = j+1, j
		}
		return out
	}
	exp := func(e int) float64 { return math.Ldexp(1, e) }
	for _, c := range []struct {
		name                  string
		p                     *Problem
		x, s, z               []float64 // optimal
		wrong, wrongS, wrongZ []float64
	}{
		// -2^28 u + v/32 + 2^-24 v^2 with u <= 2^-14: v = -2^18, where the second part is -4096 beside -2^14. At v = 0 the
		// residual 1/32 is 2^-33 of the largest term.
		{
			name: "the gradient of a column",
			p: &Problem{
				P: diagonal(0, exp(-23)), Q: []float64{-exp(28), exp(-5)}, A: sparse.NewCSC(1, 2, []int{0, 1, 1}, []int{0},
					[]float64{exp(-6)}),
				B: []float64{exp(-20)}, Cones: []Cone{Nonnegative(1)},
			},
			x: []float64{exp(-14), -exp(18)}, s: []float64{0}, z: []float64{exp(34)},
			wrong: []float64{exp(-14), 0}, wrongS: []float64{0}, wrongZ: []float64{exp(34)},
		},
		// 2^21 u - w with w = 2^14, u >= 0.0686 and, written in numbers of 2^-15, u >= 0.07. At u = 0.0686 the residual is
		// 3e-12 of the largest term, and the objective 2 % too low.
		{
			name: "a row",
			p: &Problem{
				Q: []float64{exp(21), -1}, A: sparse.NewCSC(3, 2, []int{0, 2, 3}, []int{0, 1, 2}, []float64{-exp(-15), -1, 1}),
				B: []float64{-exp(-15) * 0.07, -0.0686, exp(14)}, Cones: []Cone{Nonnegative(2), Zero(1)},
			},
			x: []float64{0.07, exp(14)}, s: []float64{0, 0.07 - 0.0686, 0}, z: []float64{exp(36), 0, 1},
			wrong: []float64{0.0686, exp(14)}, wrongS: []float64{0, 0, 0}, wrongZ: []float64{0, exp(21), 1},
		},
		// 3/2 2^20 u - 3/2 2^50 v with u >= -2^30, v = 1, and a constant at its upper bound, 2^25, whose multiplier may be
		// anything. At u = 0 the residual of q is 2^-30 of it, and half of the objective is missing.
		{
			name: "multipliers of rows that say nothing",
			p: &Problem{
				Q: []float64{1.5 * exp(20), -1.5 * exp(50)}, A: sparse.NewCSC(3, 2, []int{0, 1, 2}, []int{0, 2}, []float64{-16, 1}),
				B: []float64{exp(36), exp(25), 1}, Cones: []Cone{Box([]float64{exp(36) - exp(34), -exp(24)},
					[]float64{1.5 * exp(36), exp(25)}), Zero(1)},
			},
			x: []float64{-exp(30), 1}, s: []float64{exp(36) - exp(34), exp(25), 0}, z: []float64{1.5 * exp(16), 0,
				1.5 * exp(50)},
			wrong: []float64{0, 1}, wrongS: []float64{exp(36), exp(25), 0}, wrongZ: []float64{0, -exp(43), 1.5 * exp(50)},
		},
	} {
		judge := NewJudge(c.p)
		assert.True(t, judge.Optimal(c.x, c.s, c.z, 1e-8), c.name)
		r, _, _ := Recheck(c.p, c.wrong, c.wrongS, c.wrongZ)
		assert.Less(t, r.Max(), 1e-8, c.name)
		assert.False(t, judge.Optimal(c.wrong, c.wrongS, c.wrongZ, 1e-8), c.name)
	}
}

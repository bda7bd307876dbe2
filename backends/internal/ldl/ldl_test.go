package ldl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// upper is a symmetric matrix: dense for the checks, upper triangle by columns
// for Analyze.
type upper struct {
	n        int
	full     [][]float64
	ptr, ind []int32
	val      []float64
	sign     []int8
}

// quasidefinite returns [P A'; A -D] with P, D positive diagonal plus, where
// asked, rows of A that are dense.
func quasidefinite(rng *rand.Rand, n, m int, density float64, denseRows int) *upper {
	size := n + m
	u := &upper{n: size, full: make([][]float64, size), sign: make([]int8, size), ptr: []int32{0}}
	for i := range u.full {
		u.full[i] = make([]float64, size)
		u.sign[i] = 1
		u.full[i][i] = 0.5 + rng.Float64()
		if i >= n {
			u.sign[i] = -1
			u.full[i][i] *= -1
		}
	}
	for i := n; i < size; i++ {
		for j := range n {
			if i-n < denseRows || rng.Float64() < density {
				v := rng.NormFloat64()
				u.full[i][j], u.full[j][i] = v, v
			}
		}
	}
	for j := range size {
		for i := 0; i <= j; i++ {
			if u.full[i][j] != 0 || i == j {
				u.ind = append(u.ind, int32(i))
				u.val = append(u.val, u.full[i][j])
			}
		}
		u.ptr = append(u.ptr, int32(len(u.ind)))
	}
	return u
}

func (u *upper) mul(x []float64) []float64 {
	y := make([]float64, u.n)
	for i, row := range u.full {
		for j, v := range row {
			y[i] += v * x[j]
		}
	}
	return y
}

func (u *upper) analyzed(t require.TestingT) *Factor {
	return must.Of(Analyze(u.n, u.ptr, u.ind, u.sign))(t)
}

// requireInverts has a random vector come back from its product.
func (u *upper) requireInverts(t require.TestingT, f *Factor, rng *rand.Rand, eps float64) {
	x := make([]float64, u.n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	b := u.mul(x)
	f.Solve(b)
	require.InDeltaSlice(t, x, b, eps)
}

type shape struct {
	n, m, dense int
	density     float64
}

func shapes() []shape {
	return []shape{
		{1, 0, 0, 0}, {3, 2, 0, 0.5}, {30, 0, 0, 0}, {40, 30, 0, 0.05}, {40, 30, 0, 0.3}, {25, 40, 0, 1},
		{200, 20, 20, 0}, {20, 200, 200, 0}, {150, 60, 30, 0.02}, {60, 60, 0, 0.1}, {120, 300, 10, 0.01},
		{300, 250, 3, 0.004},
	}
}

// The product K x of a random x is solved back to x.
func TestSolveInvertsProduct(t *testing.T) {
	for i, s := range shapes() {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			u := quasidefinite(rng, s.n, s.m, s.density, s.dense)
			f := u.analyzed(t)
			for range 3 { // the numbers change, the analysis stays
				require.Zero(t, f.Factorize(u.val, nil, 0, 1e-8))
				u.requireInverts(t, f, rng, 1e-9)
				for k := range u.val {
					u.val[k] *= 1.5
				}
				for i := range u.full {
					for j := range u.full[i] {
						u.full[i][j] *= 1.5
					}
				}
			}
		})
	}
}

// The inertia of a quasi-definite matrix is that of its blocks, so the signs of
// the pivots are known, whatever the order.
func TestPivotsHaveTheirSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	u := quasidefinite(rng, 60, 80, 0.1, 5)
	f := u.analyzed(t)
	f.Factorize(u.val, nil, 0, 1e-8)
	for j, d := range f.d {
		require.Positive(t, d*float64(f.sign[j]))
	}
}

// A zero block makes pivots vanish; they are replaced and counted. With static
// regularisation none is.
func TestSingularPivots(t *testing.T) {
	u := &upper{n: 3, ptr: []int32{0, 1, 2, 3}, ind: []int32{0, 1, 2}, val: []float64{1, 0, -2}, sign: []int8{1, 1, -1}}
	f := u.analyzed(t)
	require.Equal(t, 1, f.Factorize(u.val, nil, 1e-12, 0.5))
	x := []float64{3, 1, 4}
	f.Solve(x)
	require.InDeltaSlice(t, []float64{3, 2, -2}, x, 1e-15)
	require.Zero(t, f.Factorize(u.val, []float64{1e-3, 1e-3, -1e-3}, 1e-12, 0.5))
	x = []float64{1.001, 1, 2.001}
	f.Solve(x)
	require.InDeltaSlice(t, []float64{1, 1000, -1}, x, 1e-9)
}

// Data next to a diagonal block give twins: the factor holds no more than the
// data and one triangle.
func TestTwinsHaveNoFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	n, m := 400, 20
	u := quasidefinite(rng, n, m, 0, m)
	f := u.analyzed(t)
	// the last column may join the triangle
	require.LessOrEqual(t, f.Nonzeros(), n*m+(m+1)*(m+1))
	require.LessOrEqual(t, len(f.panels), 3)
}

func TestFactorizeAndSolveAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	u := quasidefinite(rng, 150, 120, 0.05, 10)
	f := u.analyzed(t)
	b := make([]float64, u.n)
	f.Factorize(u.val, nil, 0, 1e-8)
	allocations := testing.AllocsPerRun(5, func() {
		f.Factorize(u.val, nil, 0, 1e-8)
		f.Solve(b)
	})
	if !raceDetector { // which makes a pool drop what it holds
		require.Zero(t, allocations)
	}
}

func TestEmptyMatrix(t *testing.T) {
	f := must.Of(Analyze(0, []int32{0}, nil, nil))(t)
	require.Zero(t, f.Factorize(nil, nil, 0, 1))
	f.Solve(nil)
}

// TestStopAnywhere ends analysis, factorisation and solve at looks all over, of which there
// is one wherever the code allows. What comes after is as if nothing had been.
func TestStopAnywhere(t *testing.T) {
	for i, shape := range shapes() {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			u := quasidefinite(rand.New(rand.NewPCG(1, uint64(i))), shape.n, shape.m, shape.density, shape.dense)
			plain := u.analyzed(t)
			plain.Factorize(u.val, nil, 0, 1e-8)
			b := make([]float64, u.n)
			for i := range b {
				b[i] = float64(i)
			}
			want := slices.Clone(b)
			plain.Solve(want)

			s := stop.Every(1)
			var f *Factor
			steps := func(run func() error) {
				for at := 0; ; at += 1 + at/8 {
					ctx := stoptest.After(at)
					s.Begin(ctx, 0)
					err := run()
					if ctx.Looks() <= at {
						require.NoError(t, err)
						require.Greater(t, at, 1)
						return
					}
					require.ErrorIs(t, err, ErrStopped)
					require.Equal(t, at+1, ctx.Looks())
				}
			}
			steps(func() error {
				var err error
				f, err = AnalyzeWith(u.n, u.ptr, u.ind, u.sign, Options{Stop: s})
				return err
			})
			stopped := func() error {
				if s.Reached(0) {
					return ErrStopped
				}
				return nil
			}
			steps(func() error {
				f.Factorize(u.val, nil, 0, 1e-8)
				return stopped()
			})
			require.Equal(t, plain.val, f.val)
			require.Equal(t, plain.d, f.d)
			got := slices.Clone(b)
			steps(func() error {
				copy(got, b)
				f.Solve(got)
				return stopped()
			})
			require.Equal(t, want, got)
		})
	}
}

// TestMemory asks how much the analysis is going to keep: never less than the factor has in the end
// for its entries, and what is refused ends it.
func TestMemory(t *testing.T) {
	u := quasidefinite(rand.New(rand.NewPCG(1, 1)), 150, 60, 0.02, 30)
	var asked []int64
	f := must.Of(AnalyzeWith(u.n, u.ptr, u.ind, u.sign, Options{Memory: func(lasting, passing int64) error {
		asked = append(asked, lasting, passing)
		return nil
	}}))(t)
	require.Len(t, asked, 6)
	require.Greater(t, asked[4], int64(8*f.Nonzeros()))
	require.LessOrEqual(t, asked[2], asked[4], "the bound from the column counts is one from below")
	full := errors.New("full")
	for last := range 3 {
		calls := 0
		_, err := AnalyzeWith(u.n, u.ptr, u.ind, u.sign, Options{Memory: func(int64, int64) error {
			if calls++; calls > last {
				return full
			}
			return nil
		}})
		require.Equal(t, full, err)
		require.Equal(t, last+1, calls)
	}
}

// TestAmalgamation: the columns of a band have structures of their own, which one panel stores with few zeros.
func TestAmalgamation(t *testing.T) {
	const n, band = 400, 20
	ptr, ind, val, sign := []int32{0}, []int32(nil), []float64(nil), make([]int8, n)
	for j := range int32(n) {
		for i := max(0, j-band); i <= j; i++ {
			ind, val = append(ind, i), append(val, 1/float64(1+j-i))
		}
		val[len(val)-1] = 2 * band
		ptr, sign[j] = append(ptr, int32(len(ind))), 1
	}
	f := must.Of(Analyze(n, ptr, ind, sign))(t)
	require.Less(t, len(f.panels), n/10)
	require.Less(t, f.Nonzeros(), 3*n*(band+1))
	require.Zero(t, f.Factorize(val, nil, 0, 1))
	b := make([]float64, n)
	for j := range n {
		for k := ptr[j]; k < ptr[j+1]; k++ {
			b[ind[k]] += val[k]
			if int(ind[k]) != j {
				b[j] += val[k]
			}
		}
	}
	for f.Solve(b); len(b) > 0; b = b[1:] {
		require.InDelta(t, 1, b[0], 1e-12)
	}
}

// dominated returns numbers for the pattern whose rows are dominated by their diagonal.
func (s structure) dominated(rng *rand.Rand) []float64 {
	val, sum := make([]float64, len(s.ind)), make([]float64, s.n)
	for j := range s.n {
		for e := s.ptr[j]; e < s.ptr[j+1]-1; e++ {
			val[e] = rng.Float64()
			sum[s.ind[e]] += val[e]
			sum[j] += val[e]
		}
	}
	for j := range s.n {
		val[s.ptr[j+1]-1] = float64(s.sign[j]) * (1 + sum[j])
	}
	return val
}

// grid is the five-point stencil.
func grid(rows, cols int32) structure {
	k := make([][]int32, rows*cols)
	for v := range rows * cols {
		if v >= cols {
			k[v] = append(k[v], v-cols)
		}
		if v%cols > 0 {
			k[v] = append(k[v], v-1)
		}
	}
	return structured(k, len(k))
}

// A factor is the same to the bit for any number of threads, and after a factorisation that was stopped.
func TestThreads(t *testing.T) {
	scattered := make([][]int32, 12000)
	rng := rand.New(rand.NewPCG(7, 1))
	for j := range int32(len(scattered)) {
		for range 2 {
			if i := rng.Int32N(j + 1); i < j && (len(scattered[j]) == 0 || scattered[j][0] < i) {
				scattered[j] = append(scattered[j], i)
			}
		}
	}
	for name, s := range map[string]structure{"grid": grid(90, 110), "lasso": lassoKKT(150, 9000),
		"long": grid(6, 5000), "scattered": structured(scattered, len(scattered))} {
		t.Run(name, func(t *testing.T) {
			val := s.dominated(rand.New(rand.NewPCG(3, 5)))
			first := must.Of(Analyze(s.n, s.ptr, s.ind, s.sign))(t)
			require.Zero(t, first.Factorize(val, nil, 0, 1e-8))
			for threads := 2; threads <= 4; threads++ {
				var stops stop.Stop
				ctx, cancel := context.WithCancel(t.Context())
				stops.Begin(ctx, 0)
				f := must.Of(AnalyzeWith(s.n, s.ptr, s.ind, s.sign, Options{Threads: threads, Stop: &stops}))(t)
				require.NotEmpty(t, f.stages)
				require.NotEmpty(t, f.stages[0].crossing)
				cancel()
				f.Factorize(val, nil, 0, 1e-8)
				require.True(t, stops.Look())
				stops.Begin(t.Context(), 0)
				require.Zero(t, f.Factorize(val, nil, 0, 1e-8))
				require.Equal(t, first.val, f.val, threads)
				require.Equal(t, first.d, f.d, threads)
			}
		})
	}
}

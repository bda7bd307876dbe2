package glm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
)

// Paths of the fused lasso: with few and many features, weights, twins, constants. They are solved to their gap, and
// are those of the conic program.
func TestFusedPaths(t *testing.T) {
	for it := range 60 {
		rng := rand.New(rand.NewPCG(1, uint64(it)))
		n, p := 20+rng.IntN(80), 2+rng.IntN(60)
		table := made(uint64(it), n, p, 1)
		table.Chained = true
		switch it % 4 {
		case 1:
			for i := range n {
				table.Weights = append(table.Weights, float64(1+i%3))
			}
		case 2:
			table.Intercept = false
		case 3:
			x := table.X.(*mat.Dense)
			for i := range n {
				x.Set(i, 0, 1)
				x.Set(i, p-1, x.At(i, 1))
			}
		}
		if it%5 == 0 {
			table.Folds = [][]int{nil}
		}
		d := must.Of(New(context.Background(), table))(t)
		tol := []float64{1e-9, 1e-4}[it%2]
		top, _ := d.Path(context.Background()).LambdaMax(&Weights{Norm: slices.Repeat([]float64{1}, p)})
		for k, share := range []float64{1e-8, 1 - 1e-8, 0, 0.1, 0.5, 0.9, 1} {
			path := d.Path(context.Background())
			for _, factor := range []float64{1.0001, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5} {
				w := &Weights{Norm: slices.Repeat([]float64{factor * share * top}, p), Fusion: factor * (1 - share) * top}
				s := must.Of(path.Solve(context.Background(), w, tol))(t)
				require.True(t, s.Solved, "table %d at %g, %g: gap %g", it, share, factor, s.Gap)
				train, val := objective(table, 0, s, w)
				require.InDelta(t, train, s.Objective[0], 1e-9*(train+1), "table %d at %g, %g", it, share, factor)
				if len(table.Folds[0]) > 0 {
					require.InDelta(t, val, s.Validation[0], 1e-9*(val+1), "table %d at %g, %g", it, share, factor)
				}
				if it < 12 && factor < 0.3 && factor > 1e-4 && k > 1+it%4/3 { // which the conic program is sure to solve
					want := conic(t, table, 0, w)
					require.InDelta(t, want, train, 2*tol*d.parts[0].yy+1e-6*want, "table %d at %g, %g", it, share, factor)
				}
			}
		}
	}
}

// Paths of quantile fits, whatever the rows: with few and many features, equal targets, weights, bounds, twins and
// constants. They are solved to their gap all the way down, have the loss of their predictions on the rows left out,
// and are those of the conic program.
func TestQuantilePaths(t *testing.T) {
	for it := range 60 {
		rng := rand.New(rand.NewPCG(1, uint64(it)))
		n, p := 20+rng.IntN(80), 2+rng.IntN(40)
		table := made(uint64(it), n, p, 1)
		level := []float64{0.05, 0.3, 0.5, 0.9}[rng.IntN(4)]
		table.Loss = Pinball{level}
		switch it % 6 {
		case 1:
			for i, y := range table.Y[0] {
				table.Y[0][i] = math.Round(y / 2)
			}
		case 2:
			for i := range n {
				table.Weights = append(table.Weights, float64(1+i%3))
			}
		case 3:
			table.Intercept = false
		case 4:
			table.Lower, table.Upper = slices.Repeat([]float64{-0.2}, p), slices.Repeat([]float64{0.3}, p)
		case 5:
			x := table.X.(*mat.Dense)
			for i := range n {
				x.Set(i, 0, 1)
				x.Set(i, p-1, x.At(i, 1))
				table.Y[0][i] = x.At(i, p/2) * 2
			}
		}
		ridge := []float64{0, 1e-3, 0.1}[rng.IntN(3)]
		tol := 1e-9
		if it%3 == 0 {
			tol = 1e-4
		}
		d := must.Of(New(context.Background(), table))(t)
		path := d.Path(context.Background())
		top, _ := d.Path(context.Background()).LambdaMax(&Weights{Norm: slices.Repeat([]float64{1}, p)})
		for _, share := range []float64{1.0001, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5} {
			w := &Weights{Norm: slices.Repeat([]float64{share * top}, p)}
			if ridge > 0 {
				w.L2 = slices.Repeat([]float64{ridge}, p)
			}
			s := must.Of(path.Solve(context.Background(), w, tol))(t)
			require.True(t, s.Solved, "table %d at %g: gap %g", it, share, s.Gap)
			train, val := objective(table, 0, s, w)
			require.InDelta(t, val, s.Validation[0], 1e-9*(val+1))
			if it%10 > 0 {
				continue
			}
			want := conic(t, table, 0, w)
			require.InDelta(t, want, train, 2*tol*d.curved.train[0].null+1e-6*want+1e-7, "table %d at %g", it, share)
		}
	}
}

// awkward are n rows whose columns 1 is constant, 2 is a sum of others, 3 far from zero, 4 sorted and 5 tiny, and
// targets with noise.
func awkward(n, p int, seed uint64) (*mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		row[1], row[2], row[3], row[4], row[5] = 2.5, row[0]-row[6], 1e4+row[3], float64(i)/float64(n), 1e-9*row[5]
		for j := range row {
			y[i] += row[j] / float64(1+j)
		}
		y[i] += 3 * rng.NormFloat64()
	}
	return x, y
}

// meanSquare sums row by row, with compensation.
func meanSquare(x mat.Matrix, y, b []float64, b0 float64) float64 {
	n, p := x.Dims()
	sum, low := 0.0, 0.0
	for i := range n {
		r := y[i] - b0
		for j := range p {
			r -= x.At(i, j) * b[j]
		}
		v := r*r - low
		next := sum + v
		low = (next - sum) - v
		sum = next
	}
	return sum / float64(n)
}

// reduced is a reduced design as a matrix.
func reduced(t *testing.T, x mat.Matrix, y []float64, threads int) (*mat.Dense, []float64) {
	small, targets, ok := Reduce(x, y, threads)
	require.True(t, ok)
	m, p := small.Dims()
	out := mat.NewDense(m, p, nil)
	for j := range p {
		_, column := small.Column(j)
		out.SetCol(j, column)
	}
	return out, targets
}

// Mean squares are those of all rows, with constants and without.
func TestReduceKeepsSquares(t *testing.T) {
	for _, n := range []int{5000, 3 * reducePart, reduceParts*reducePart + 77} {
		x, y := awkward(n, 21, uint64(n))
		small, targets := reduced(t, x, y, 1)
		rows, _ := small.Dims()
		require.Equal(t, 23, rows)
		rng := rand.New(rand.NewPCG(7, 7))
		for trial := range 6 {
			b := make([]float64, 21)
			for j := range b {
				b[j] = rng.NormFloat64()
			}
			b0 := 1e4 * rng.NormFloat64()
			if trial%2 == 0 {
				b0, b[3] = 0, 1e-4*b[3]
			}
			whole := meanSquare(x, y, b, b0)
			require.InEpsilon(t, whole, meanSquare(small, targets, b, b0), 1e-11)
		}
	}
}

func TestReduceIsTheSameOnAllThreads(t *testing.T) {
	x, y := awkward(9*reducePart+5, 13, 5)
	small, targets := reduced(t, x, y, 1)
	for _, threads := range []int{2, 3, 16} {
		again, others := reduced(t, x, y, threads)
		require.Equal(t, small, again)
		require.Equal(t, targets, others)
	}
}

// Tables that would lose digits, or gain no time, are left alone.
func TestReduceRefuses(t *testing.T) {
	refused := func(x mat.Matrix, y []float64) {
		t.Helper()
		_, _, ok := Reduce(x, y, 1)
		require.False(t, ok)
	}
	x, y := awkward(5000, 21, 1)
	reduced(t, x, y, 1)
	explained := make([]float64, 5000)
	near, constant := mat.DenseCopyOf(x), make([]float64, 5000)
	for i := range explained {
		constant[i] = 3
		explained[i] = x.At(i, 0) - 2*x.At(i, 7) + 1e-4*y[i]
		near.Set(i, 2, x.At(i, 0)+1e-6*math.Sin(float64(i*i)))
	}
	refused(x, explained)
	refused(x, constant)
	refused(near, y)
	refused(x, y[1:])
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e160} {
		bad := mat.DenseCopyOf(x)
		bad.Set(77, 5, v)
		refused(bad, y)
	}
	refused(x.Slice(0, 4000, 0, 21), y[:4000])
	long, targets := awkward(1000, 200, 1)
	refused(long, targets)
	refused(sparse.NewCSR(5000, 21, make([]int, 5001), nil, nil), y)
}

// Systems of squares are those of their definition: by factors of the order of the coefficients and of the rows, and by
// conjugate gradients; of dense and of sparse tables, with norms of groups and without.
func TestSystem(t *testing.T) {
	for _, c := range []struct {
		n, p, every int // every so many-th entry is not zero
		second      float64
		group       int // features of each
	}{{60, 30, 1, 0.1, 1}, {20, 90, 1, 0.1, 1}, {20, 90, 3, 0.1, 1}, {60, 30, 3, 0, 1}, {2400, 1700, 40, 1e-3, 1},
		{60, 30, 1, 0, 10}, {20, 90, 1, 0, 10}, {20, 90, 1, 0.1, 10}, {20, 90, 3, 0.1, 3}, {2, 90, 1, 0.1, 10}} {
		rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.p)))
		x := mat.NewDense(c.n, c.p, nil)
		stored := sparse.NewCOO(c.n, c.p, nil, nil, nil)
		for i := range c.n {
			for j := range c.p {
				if (i*7+j*3)%c.every == rng.IntN(2)%c.every {
					v := 1 + rng.NormFloat64()
					x.Set(i, j, v)
					stored.Set(i, j, v)
				}
			}
		}
		table := &Table{X: x, Y: [][]float64{make([]float64, c.n)}, Folds: [][]int{nil}, Weights: make([]float64, c.n)}
		if c.every > 1 {
			table.X = stored.ToCSR()
		}
		for features := range slices.Chunk(indices.Range(0, c.p), c.group) {
			table.Units = append(table.Units, features)
		}
		total := 0.0
		for i := range c.n {
			table.Weights[i] = 1 + float64(i%3)
			total += table.Weights[i]
			table.Y[0][i] = rng.NormFloat64()
		}
		for _, intercept := range []bool{false, true} {
			table.Intercept = intercept
			d := must.Of(New(context.Background(), table))(t)
			b, w := make([]float64, c.p), &Weights{Norm: slices.Repeat([]float64{0.3}, c.p/c.group), L2: make([]float64, c.p)}
			for j := range b {
				b[j], w.L2[j] = float64(j%5), c.second*float64(1+j%2)
			}
			s := must.Of(d.System(context.Background(), 0, b, 0.5, w, 1e-13))(t)
			k := len(s.Features)
			require.Len(t, s.Features, c.p-(c.p+4)/5)
			size := k
			if intercept {
				size++
			}
			root := mat.NewDense(c.n, size, nil) // rows times the roots of their shares
			q := make([]float64, size)
			for i := range c.n {
				share := math.Sqrt(table.Weights[i] / total)
				for l, j := range s.Features {
					root.Set(i, l, share*x.At(i, j))
				}
				if intercept {
					root.Set(i, k, share)
				}
			}
			for l := range q {
				q[l] = math.Sin(float64(l))
			}
			v := s.Solve(context.Background(), q, false)
			var image, back mat.VecDense
			image.MulVec(root, mat.NewVecDense(size, v))
			back.MulVec(root.T(), &image)
			for l, j := range s.Features {
				back.SetVec(l, back.AtVec(l)+w.L2[j]*v[l])
				size, along := 0.0, 0.0 // of the unit: |b|^2 and b'v
				for m, k := range s.Features {
					if k/c.group == j/c.group {
						size, along = size+b[k]*b[k], along+b[k]*v[m]
					}
				}
				if c.group > 1 {
					back.SetVec(l, back.AtVec(l)+0.3/math.Sqrt(size)*(v[l]-b[j]*along/size))
				}
			}
			floats.Sub(back.RawVector().Data, q)
			require.Less(t, floats.Norm(back.RawVector().Data, 2), 1e-9*floats.Norm(q, 2), "%v %v", c, intercept)
		}
	}
}

// A factor of the order of the rows, of columns without number, is not made to its end where the context has one.
func TestWideStops(t *testing.T) {
	table := made(1, 20, 60, 1)
	table.Folds = [][]int{nil}
	d := must.Of(New(context.Background(), table))(t)
	f := d.newFold(0)
	of := f.scaledBy(slices.Repeat([]float64{1}, 20))
	of.load(f, d.all)
	w := &Weights{Norm: make([]float64, 60), L2: slices.Repeat([]float64{0.1}, 60)}
	ctx, cancel := context.WithCancel(context.Background())
	require.NotNil(t, f.system(d.all, d.all, w, mostFactor).wide(ctx))
	require.NotNil(t, f.direction(ctx, d.all, d.all, make([]float64, 60), w))
	cancel()
	require.Nil(t, f.system(d.all, d.all, w, mostFactor).wide(ctx))
	require.Nil(t, f.direction(ctx, d.all, d.all, make([]float64, 60), w))
	require.False(t, new(outers).add(ctx, 20, 1, make([]float64, 400), func(int, []float64) float64 {
		t.Fatal("a column after the end")
		return 1
	}))
	system := f.system(d.all, d.all, w, mostFactor)
	require.Len(t, system.solve(ctx, make([]float64, 60), 1e-8), 60)
}

// Where sweeps are linear in fewer coefficients than there are differences, the extrapolation is at their fixed point.
func TestExtrapolationIsAtTheFixedPoint(t *testing.T) {
	shrinks, fixed := []float64{0.97, 0.5, -0.3}, []float64{2, -1, 5}
	p := &past{}
	for b := make([]float64, 3); len(p.b) <= depth; {
		p.b = append(p.b, append([]float64(nil), b...))
		for j, m := range shrinks {
			b[j] = fixed[j] + m*(b[j]-fixed[j])
		}
	}
	last := append([]float64(nil), p.b[depth]...)
	require.Greater(t, floats.Distance(last, fixed, 2), 1.0)
	floats.Add(last, p.step())
	require.InDeltaSlice(t, fixed, last, 1e-2) // by what is added to the squares
}

// The least squares solution is that of Householder's method on all rows.
func TestReduceKeepsLeastSquares(t *testing.T) {
	x, y := awkward(20_000, 12, 3)
	for i := range 20_000 { // no column depends on others
		row := x.RawRowView(i)
		row[1], row[2], row[5] = row[7]*row[8], row[9]*row[10], 1e9*row[5]
	}
	solve := func(x mat.Matrix, y []float64) []float64 {
		n, p := x.Dims()
		ones := mat.NewDense(n, 1, nil)
		for i := range n {
			ones.Set(i, 0, 1)
		}
		var all mat.Dense
		all.Augment(ones, x)
		var qr mat.QR
		qr.Factorize(&all)
		b := mat.NewVecDense(p+1, nil)
		require.NoError(t, qr.SolveVecTo(b, false, mat.NewVecDense(n, y)))
		return b.RawVector().Data
	}
	small, targets := reduced(t, x, y, 1)
	want := solve(x, y)
	for j, v := range solve(small, targets) {
		require.InDelta(t, want[j], v, 1e-9*math.Max(1, math.Abs(want[j])))
	}
}

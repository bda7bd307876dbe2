package glm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	csc "github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/must"
)

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
		stored := csc.NewCOO(c.n, c.p, nil, nil, nil)
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
			v := s.Solve(context.Background(), q, nil)
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
	require.False(t, addOuters(ctx, 20, 1, make([]float64, 400), func(int, []float64) float64 {
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

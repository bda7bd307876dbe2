package glm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/conetune/conetune/convex"
	"gonum.org/v1/gonum/mat"
)

func TestTmpPinball(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for it := range 150 {
		rng = rand.New(rand.NewPCG(1, uint64(it)))
		if only := os.Getenv("IT"); only != "" && only != fmt.Sprint(it) {
			continue
		}
		start := time.Now()
		n, p := 20+rng.IntN(80), 2+rng.IntN(40)
		table := made(uint64(it), n, p, 1)
		level := []float64{0.05, 0.3, 0.5, 0.9}[rng.IntN(4)]
		table.Loss = Pinball{level}
		kind := rng.IntN(6)
		switch kind {
		case 1:
			for i := range n {
				table.Y[0][i] = math.Round(table.Y[0][i] / 2)
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
		l2 := []float64{0, 1e-3, 0.1}[rng.IntN(3)]
		d, err := New(context.Background(), table)
		if err != nil {
			t.Fatal(err)
		}
		path := d.Path(context.Background())
		top := slices.Max(d.GradientNorms(context.Background()))
		for _, s := range []float64{1.0001, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5} {
			w := &Weights{Norm: slices.Repeat([]float64{s * top}, p)}
			if l2 > 0 {
				w.L2 = slices.Repeat([]float64{l2}, p)
			}
			tol := 1e-9
			if it%3 == 0 {
				tol = 1e-4
			}
			sol, err := path.Solve(context.Background(), w, tol)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("it %d kind %d n %d p %d level %g l2 %g share %g gap %g", it, kind, n, p, level, l2, s, sol.Gap)
			if !sol.Solved {
				t.Errorf("%s: not solved", name)
				continue
			}
			for f := range 1 {
				loss := func(eta convex.Affine, y, weights []float64) convex.Convex {
					r := convex.Const(y...).Minus(eta)
					return convex.Pos(r).Dot(weights).MinusAffine(r.Dot(weights).Scale(1 - level))
				}
				_ = loss
				train, val := objective(table, f, sol, w)
				if math.Abs(val-sol.Validation[f]) > 1e-9*(val+1) {
					t.Errorf("%s: validation %g %g", name, val, sol.Validation[f])
				}
				if it%10 == 0 {
					want := conic(t, table, f, w, loss)
					if math.Abs(train-want) > 2*tol*table1(d)+1e-6*(want)+1e-7 {
						t.Errorf("%s: %g want %g", name, train, want)
					}
				}
			}
		}
		if s := time.Since(start); s > time.Second/2 {
			fmt.Println("slow", it, kind, n, p, s)
		}
	}
}

func table1(d *Data) float64 { return d.curved.train[0].null }

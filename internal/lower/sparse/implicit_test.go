package sparse

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// scattered are rows of which a tenth of the entries is not zero, with targets of a loss.
func scattered(seed uint64, n, p int, target func(f float64) float64) (x *mat.Dense, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 77))
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	for i := range n {
		f := 0.3 * rng.NormFloat64()
		for j := range p {
			if rng.IntN(10) == 0 || j == 2 { // one column is full
				v := rng.Float64() + 0.2
				x.Set(i, j, v)
				f += v * []float64{1, -1, 0.3, 0}[j%4]
			}
		}
		y[i] = target(f)
	}
	return x, y
}

func compressedColumns(x *mat.Dense) *design.Matrix { return design.New(matrices.Compress(x)) }

// smooth are losses of one value for each row.
var smooth = []string{"squares", "logistic", "poisson"}

// joined is a fit of two sets of rows.
func joined(t *testing.T, name string, train, val Sample, terms Terms) *Fit {
	t.Helper()
	g := must.Of(lossesOfTests[name].of(train, true, terms))(t)
	g = must.Of(g.With(val))(t)
	return g
}

// Without matrices a solver has the answers that it has with them, on either storage, and meets the conditions of
// optimality of the model, which gonum works out.
func TestImplicit(t *testing.T) {
	const n, m, p = 80, 40, 120
	for _, name := range smooth {
		c := lossesOfTests[name]
		x, y := scattered(1, n, p, c.target)
		v, z := scattered(2, m, p, c.target)
		centre := [][]float64{make([]float64, p), {0.1}}
		for j := range centre[0] {
			centre[0][j] = 0.1 * float64(j%3-1)
		}
		for k, w := range []*bilevel.JointWeights{
			{Train: 1, Penalties: []float64{0.01, 1e-3}},
			{Train: 1, Penalties: []float64{0.003, 0}},
			{Train: 0.7, Validation: 0.4, Rho: 1e-3, Centre: centre, Penalties: []float64{0.004, 0.01}},
			{Train: 0.7, Validation: 0.4, Rho: 1e-3, Centre: centre, Penalties: []float64{0.004, 0.01}}, // with terms
		} {
			terms := Terms{}
			if k == 3 {
				terms.Factors = someFactors(p)
				terms.Lower, terms.Upper = someBounds(p)
			}
			for _, dense := range []bool{false, true} {
				of := compressedColumns
				if dense {
					of = func(x *mat.Dense) *design.Matrix { return design.New(x) }
				}
				g := joined(t, name, Sample{X: of(x), Y: y}, Sample{X: of(v), Y: z}, terms)
				var points [2]*bilevel.JointPoint
				var checks [2]bilevel.JointPoint
				var solutions [2][][]float64
				for way, most := range []int{1000, 5} {
					s := g.solver()
					s.most = most
					s.take(nil)
					s.b[0] = 0.2
					require.NoError(t, s.Model(context.Background(), nil))
					for range 20 {
						var err error
						if points[way], err = s.Solve(context.Background(), w); err != nil || points[way] == nil {
							t.Fatal(name, k, dense, way, err)
						}
						checks[way] = must.Of(s.Check(context.Background(), w))(t)
					}
					solutions[way] = s.X()
					if way == 1 && k < 3 {
						require.Greater(t, len(s.set), most)
						stationary(t, s, w, x, v)
					}
				}
				for way, pt := range points { // the objective by its definition
					value := w.Train*pt.Train + w.Validation*pt.Validation + floats.Dot(w.Penalties, pt.Penalties)
					for i, of := range solutions[way] {
						if w.Rho > 0 {
							d := floats.Distance(of, centre[i], 2)
							value += w.Rho / 2 * d * d
						}
					}
					require.InEpsilon(t, value, pt.Objective, 1e-11, "%s %d", name, k)
				}
				require.InDelta(t, points[0].Objective, points[1].Objective, 1e-11, "%s %d", name, k)
				require.InDelta(t, points[0].Train, points[1].Train, 1e-9)
				require.InDeltaSlice(t, points[0].Penalties, points[1].Penalties, 1e-8)
				require.InDeltaSlice(t, solutions[0][0], solutions[1][0], 1e-7)
				require.InDelta(t, checks[0].Objective, checks[1].Objective, 1e-10)
				for r, row := range points[0].Curvature {
					for q, want := range row {
						require.InDelta(t, want, points[1].Curvature[r][q], 1e-3*(1e-3+math.Sqrt(row[r]*points[0].Curvature[q][q])),
							"%s %d %d %d", name, k, r, q)
					}
				}
			}
		}
	}
}

// stationary holds the conditions of optimality of the models at the last solution: the derivative of the smooth part
// is the weight where a coefficient is not zero, and no larger elsewhere.
func stationary(t *testing.T, s *solver, w *bilevel.JointWeights, train, val *mat.Dense) {
	t.Helper()
	slope := make([]float64, len(s.set))
	for k, x := range []*mat.Dense{val, train} {
		if shares(w)[k] == 0 {
			continue
		}
		n, _ := x.Dims()
		wide := mat.NewDense(n, len(s.set), nil)
		for i, e := range s.set {
			for r := range n {
				wide.Set(r, i, 1)
				if e < s.p {
					wide.Set(r, i, x.At(r, e))
				}
			}
		}
		d := make([]float64, len(s.set))
		for i := range d {
			d[i] = s.b[i] - s.a[i]
		}
		var f, g mat.VecDense
		f.MulVec(wide, mat.NewVecDense(len(d), d))
		for r := range n {
			f.SetVec(r, shares(w)[k]*(s.models[k].look.curve[r]*f.AtVec(r)-s.models[k].look.slopes[r]))
		}
		g.MulVec(wide.T(), &f)
		for i := range slope {
			slope[i] += g.AtVec(i)
		}
	}
	for i, e := range s.set {
		b := s.b[i]
		if w.Rho > 0 {
			slope[i] += w.Rho * (b - s.centre(w, e))
		}
		if e == s.p {
			require.InDelta(t, 0, slope[i], 1e-10)
			continue
		}
		slope[i] += w.Penalties[1] * b
		if b != 0 {
			require.InDelta(t, -math.Copysign(w.Penalties[0], b), slope[i], 1e-10)
		} else {
			require.LessOrEqual(t, math.Abs(slope[i]), w.Penalties[0]+1e-10)
		}
	}
}

// It ends in time.
func TestImplicitStops(t *testing.T) {
	x, y := scattered(1, 80, 120, lossesOfTests["logistic"].target)
	s := joined(t, "logistic", Sample{X: compressedColumns(x), Y: y}, Sample{X: compressedColumns(x), Y: y}, Terms{}).solver()
	s.most = 5
	s.take(nil)
	require.NoError(t, s.Model(context.Background(), nil))
	for looks := range 3 {
		pt := must.Of(s.Solve(stoptest.After(looks), &bilevel.JointWeights{Train: 1, Penalties: []float64{0.003, 0}}))(t)
		require.Nil(t, pt)
	}
}

// TestCompare is the Go side of bench/lasso.py, which sets the folder with its data: it
// solves what the file jobs.json lists and writes times and gaps to results.json.
func TestCompare(t *testing.T) {
	dir := os.Getenv("CONETUNE_LASSO")
	if dir == "" {
		t.Skip("run by bench/lasso.py")
	}
	var jobs struct {
		N, P      int
		Sparse    bool
		Intercept bool
		Repeats   int
		Batch     int
		Jobs      []struct{ Lambda, Tol float64 }
	}
	raw := must.Of(os.ReadFile(filepath.Join(dir, "jobs.json")))(t)
	require.NoError(t, json.Unmarshal(raw, &jobs))
	read := func(name string, to any) {
		f := must.Of(os.Open(filepath.Join(dir, name)))(t)
		defer f.Close()
		require.NoError(t, binary.Read(f, binary.LittleEndian, to))
	}
	count := func(name string) int {
		info := must.Of(os.Stat(filepath.Join(dir, name)))(t)
		return int(info.Size() / 8)
	}
	value := make([]float64, count("value"))
	read("value", value)
	y := make([]float64, jobs.N)
	read("y", y)
	data := func() *design.Matrix { return design.FromColumns(jobs.N, jobs.P, value) }
	if jobs.Sparse {
		start, index := make([]int64, jobs.P+1), make([]int64, len(value))
		read("start", start)
		read("index", index)
		s, i := make([]int, len(start)), make([]int, len(index))
		for k, v := range start {
			s[k] = int(v)
		}
		for k, v := range index {
			i[k] = int(v)
		}
		data = func() *design.Matrix { return design.New(sparse.NewCSC(jobs.N, jobs.P, s, i, value)) }
	}
	type result struct {
		Seconds, CPU, Objective, Gap float64
		Support                      int
	}
	var results []result
	for _, job := range jobs.Jobs {
		best := result{CPU: 1e9}
		for range jobs.Repeats {
			var u0, u1 syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u0)
			start := time.Now()
			var g *Fit
			var s *Solution
			for range jobs.Batch {
				g = must.Of(Squares(Sample{X: data(), Y: y}, jobs.Intercept, Terms{}))(t)
				s = must.Of(g.solve(context.Background(), job.Lambda, 0, job.Tol, nil))(t)
			}
			seconds := time.Since(start).Seconds() / float64(jobs.Batch)
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u1)
			if cpu := float64(u1.Utime.Nano()-u0.Utime.Nano()) / 1e9 / float64(jobs.Batch); cpu < best.CPU {
				best = result{seconds, cpu, s.Objective, s.Gap / g.scale, len(support(s))}
			}
		}
		results = append(results, best)
	}
	raw = must.Of(json.Marshal(results))(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.json"), raw, 0o644))
}

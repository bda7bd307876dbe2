package sparse

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/glm"
	"github.com/conetune/conetune/internal/lower/lowertest"
	"github.com/conetune/conetune/internal/lower/numerics"
	"github.com/conetune/conetune/internal/lower/survival"
	"github.com/conetune/conetune/internal/matrices"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/stop/stoptest"
	"github.com/conetune/conetune/outcome"
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
				var solutions, curvatures [2][][]float64
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
					solutions[way], curvatures[way] = s.X(), s.Curvature(context.Background(), w)
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
				for r, row := range curvatures[0] {
					for q, want := range row {
						require.InDelta(t, want, curvatures[1][r][q], 1e-3*(1e-3+math.Sqrt(row[r]*curvatures[0][q][q])),
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

// Features of any size that files may hold make groups; larger ones are refused.
func TestGroupsOfTinyAndHugeFeatures(t *testing.T) {
	x, y := lowertest.Sample(3, 20, 6, 3, 1)
	x.Scale(1e75, x)
	_, err := Squares(Sample{X: design.New(x), Y: y}, false, Terms{})
	require.ErrorContains(t, err, "column 0 of the design has entries that are not finite or above 1e+70 in size")
	for _, scale := range []float64{1e-300, 1e-160, 1e-75, 1e60, 1e69} {
		x, y := lowertest.Sample(3, 20, 6, 3, 1)
		x.Scale(scale, x)
		for _, intercept := range []bool{false, true} {
			c := problem{groups: lowertest.EqualGroups(6, 3), norm: []float64{0.1, 0.1}}
			g := must.Of(Groups(Sample{X: design.New(x), Y: y}, intercept, c.groups))(t)
			require.Positive(t, groupLambdaMax(g, c.groups))
			c.solve(t, g, 1e-10, nil)
		}
	}
}

// TestGroupsStall has a group of features of 1e6 that are constant to 1e-6 beside small equal ones: rounding leaves a
// gap above the tolerance, and each Newton step moves a little. It has to end.
func TestGroupsStall(t *testing.T) {
	x := mat.NewDense(5, 4, []float64{
		-1.7229740243582905, -1.7229740243582905, 1.9802872038950084e+06, 885042.7901132035,
		-0.00043123825077024964, -0.00043123825077024964, 1.980286928119816e+06, 885041.1017556873,
		-0.04315835586672629, -0.04315835586672629, 1.980287511992284e+06, 885040.5730146944,
		1.2886566824903212, 1.2886566824903212, 1.9802872387793963e+06, 885042.1687790029,
		0.34471866706533255, 0.34471866706533255, 1.9802889067580618e+06, 885040.8613351098,
	})
	c := problem{groups: [][]int{{0, 1, 2, 3}}, norm: []float64{0.001}, l1: []float64{0.001}}
	y := []float64{1.5652475842498528, 1.5652475842498528, 0, 0, 0}
	g := must.Of(Groups(Sample{X: design.New(x), Y: y}, false, c.groups))(t)
	s := c.solve(t, g, 1e-9, nil)
	// by the rounding of the processor
	require.Contains(t, []outcome.Stop{outcome.Stalled, numerics.Exhausted, outcome.Converged}, s.Status)
	require.Less(t, g.Relative(s.Gap), 1e-3) // X'X is 4e12, and rounding of it 4e-4
}

// groupLambdaMax is that common to the norms of groups and the 1-norm.
func groupLambdaMax(g *Fit, members [][]int) float64 {
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	return g.LambdaMaxOf(&glm.Weights{Norm: ones(len(members)), L1: ones(g.p)})
}

// rare are rows with a few entries in columns of very different lengths, each column divided by its standard deviation,
// most of which have one entry, some in the same row.
func rare(seed uint64, n, p, entries int, target func(f float64) float64) (x *mat.Dense, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y = mat.NewDense(n, p, nil), make([]float64, n)
	f := make([]float64, n)
	for i := range n {
		for range entries {
			j := min(p-1, int(math.Exp(rng.Float64()*math.Log(20*float64(p))))-1)
			x.Set(i, j, 0.5+rng.Float64())
		}
		f[i] = 0.3 * rng.NormFloat64()
	}
	for j := range p {
		column := mat.Col(nil, j, x)
		sum, squares := 0.0, 0.0
		for _, v := range column {
			sum += v
			squares += v * v
		}
		if sum == 0 {
			continue
		}
		mean := sum / float64(n)
		deviation := math.Sqrt(squares/float64(n) - mean*mean)
		for i, v := range column {
			x.Set(i, j, v/deviation)
			if j < 20 {
				f[i] += 0.3 * float64(j%3-1) * v
			}
		}
	}
	for i, v := range f {
		y[i] = target(v)
	}
	return x, y
}

// On tables of rare features, brought to one deviation, the solutions meet the conditions of optimality, which gonum
// works out, to the gap asked for.
func TestRareFeatures(t *testing.T) {
	const n, m, p = 300, 150, 900
	for _, name := range smooth[:2] { // predictions of some hundred have no exponential
		c := lossesOfTests[name]
		x, y := rare(4, n, p, 12, c.target)
		v, z := rare(5, m, p, 12, c.target)
		centre := [][]float64{make([]float64, p), {0.1}}
		for j := range centre[0] {
			centre[0][j] = 0.05 * float64(j%3-1)
		}
		for k, w := range []*bilevel.JointWeights{
			{Train: 1, Penalties: []float64{0.01, 1e-4}},
			{Train: 1, Penalties: []float64{0.003, 1e-7}},
			{Train: 100, Validation: 1, Rho: 1e-3, Centre: centre, Penalties: []float64{0.4, 4e-3}},
		} {
			what := fmt.Sprint(name, " ", k)
			s := joined(t, name, Sample{X: compressedColumns(x), Y: y}, Sample{X: compressedColumns(v), Y: z}, Terms{}).solver()
			s.most = 5
			s.take(nil)
			require.NoError(t, s.Model(context.Background(), nil))
			for range 12 {
				pt := must.Of(s.Solve(context.Background(), w))(t)
				require.NotNil(t, pt, what)
				_, err := s.Check(context.Background(), w) // which lets features in
				require.NoError(t, err)
			}
			stationary(t, s, w, x, v)
		}
	}
}

// Errors say what is wrong with the rows, the terms of features, the weights of penalties and the start.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	m, y := lowertest.Sample(9, 5, 3, 2, 1)
	x, ones := design.New(m), slices.Repeat([]float64{1}, 5)
	wrong := mat.DenseCopyOf(m)
	wrong.Set(2, 1, inf)
	explained := make([]float64, 5) // by the first feature
	for i := range explained {
		explained[i] = math.Copysign(1, m.At(i, 0)-floats.Sum(mat.Col(nil, 0, m))/5)
	}
	squares := func(s Sample, t Terms) (*Fit, error) { return Squares(s, true, t) }
	logistic := func(s Sample, t Terms) (*Fit, error) { return Logistic(s, true, t) }
	plain := func(s Sample, t Terms) (*Fit, error) { return Logistic(s, false, t) }
	poisson := func(s Sample, t Terms) (*Fit, error) { return Poisson(s, true, t) }
	cox := func(s Sample, t Terms) (*Fit, error) { return Cox(s, survival.Breslow, t) }
	classes := func(s Sample, t Terms) (*Fit, error) { return Multinomial(s, 3, true, t) }
	single := func(s Sample, t Terms) (*Fit, error) { return Multinomial(s, 1, true, t) }
	for _, c := range []struct {
		want string
		of   func(s Sample, t Terms) (*Fit, error)
		rows Sample
		term Terms
	}{
		{"4 targets for 5 rows", squares, Sample{X: x, Y: y[:4]}, Terms{}},
		{"target of row 2 is NaN", squares, Sample{X: x, Y: []float64{0, 1, nan, 3, 4}}, Terms{}},
		{"column 1", squares, Sample{X: design.New(wrong), Y: y}, Terms{}},
		{"no rows", squares, Sample{X: design.FromColumns(0, 3, nil)}, Terms{}},
		{"label of row 0", plain, Sample{X: x, Y: y}, Terms{}},
		{"4 labels for 5 rows", plain, Sample{X: x, Y: y[:4]}, Terms{}},
		{"all labels are 1", logistic, Sample{X: x, Y: ones}, Terms{}},
		{"4 targets for 5 rows", poisson, Sample{X: x, Y: ones[:4]}, Terms{}},
		{"target of row 1 is -1", poisson, Sample{X: x, Y: []float64{1, -1, 2, 1, 1}}, Terms{}},
		{"target of row 1 is NaN", poisson, Sample{X: x, Y: []float64{1, nan, 2, 1, 1}}, Terms{}},
		{"target of row 1 is +Inf", poisson, Sample{X: x, Y: []float64{1, inf, 2, 1, 1}}, Terms{}},
		{"all targets are 0", poisson, Sample{X: x, Y: make([]float64, 5)}, Terms{}},
		{"4 times for 5 rows", cox, Sample{X: x, Y: ones[:4]}, Terms{}},
		{"time of row 0 is +Inf", cox, Sample{X: x, Y: []float64{inf, 1, 1, 1, 1}}, Terms{}},
		{"no event has other rows", cox, Sample{X: x, Y: []float64{-1, -2, -3, -4, -5}}, Terms{}},
		{"so that there is nothing to f", cox, Sample{X: x, Y: []float64{-1, -1, -1, -1, 2}}, Terms{}},
		{"4 classes for 5 rows", classes, Sample{X: x, Y: []float64{0, 1, 2, 0}}, Terms{}},
		{"class of row 2 is 3", classes, Sample{X: x, Y: []float64{0, 1, 3, 2, 0}}, Terms{}},
		{"no row has class 1", classes, Sample{X: x, Y: []float64{0, 2, 0, 2, 0}}, Terms{}},
		{"class of row 0 is -1, ", classes, Sample{X: x, Y: []float64{-1, 2, 0, 2, 0}}, Terms{}},
		{"expected at least 2", single, Sample{X: x, Y: make([]float64, 5)}, Terms{}},
		{"weight of row 1 is 0", logistic, Sample{X: x, Y: explained, Weights: []float64{1, 0, 1, 1, 1}}, Terms{}},
		{"1 weights and 0 entries", logistic, Sample{X: x, Y: explained, Weights: []float64{1}}, Terms{}},
		{"offset of row 0 is NaN", logistic, Sample{X: x, Y: explained, Offset: []float64{nan, 1, 1, 1, 1}}, Terms{}},
		{"0 weights and 3 entries of the", logistic, Sample{X: x, Y: explained, Offset: []float64{1, 2, 3}}, Terms{}},
		{"2 factors for 3 features", squares, Sample{X: x, Y: y}, Terms{Factors: []float64{1, 1}}},
		{"factor of feature 1 is -1", squares, Sample{X: x, Y: y}, Terms{Factors: []float64{1, -1, 1}}},
		{"lower bound of feature 2 is 1", squares, Sample{X: x, Y: y}, Terms{Lower: []float64{0, 0, 1}}},
		{"upper bound of feature 0 is", squares, Sample{X: x, Y: y}, Terms{Upper: []float64{nan, 0, 1}}},
		{"explain the targets by themselves", logistic, Sample{X: x, Y: explained}, Terms{Factors: []float64{0, 1, 1}}},
	} {
		_, err := c.of(c.rows, c.term)
		require.ErrorContains(t, err, c.want)
	}
	labels := []float64{0, 1, 1, 1, 0} // or counts, or times
	for k, of := range []func(s Sample, t Terms) (*Fit, error){squares, poisson, cox, classes} {
		if k == 3 {
			labels[4] = 2
		}
		g := must.Of(of(Sample{X: x, Y: labels}, Terms{}))(t)
		for _, w := range [][2]float64{{0, 0}, {-1, 1}, {nan, 1}, {inf, 0}} {
			_, err := g.solve(context.Background(), w[0], w[1], 0, nil)
			require.ErrorContains(t, err, "expected finite numbers, not negative, one of them positive")
		}
		_, err := g.solve(context.Background(), 1, 1, nan, nil)
		require.ErrorContains(t, err, "tolerance NaN")
		_, err = g.solve(context.Background(), 1, 1, 0, &Solution{B: make([]float64, 2)})
		require.ErrorContains(t, err, "start has 2 coefficients")
	}
	g := must.Of(squares(Sample{X: x, Y: y}, Terms{}))(t)
	_, err := g.Solve(context.Background(), &glm.Weights{Norm: make([]float64, 3), L2: make([]float64, 2)}, 0, nil)
	require.ErrorContains(t, err, "3, 0 and 2 weights for 3 units")
}

package hypergradient

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/outcome"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/stretchr/testify/require"
)

var methods = []struct {
	name string
	run  func(context.Context, lower.Fit, Settings) (*Result, error)
}{
	{"IGJO", IGJO}, {"IFDM", IFDM}, {"HOAG", HOAG},
}

// generated are training and validation rows of the paper's elastic net.
func generated(t testing.TB, shape string, seed uint64) (train, val fits.Rows) {
	c := must.Of(dataset.InSets.Preset(shape))(t)
	s := must.First(dataset.Generate(c, seed))(t)
	return fits.NewRows(s.Train.X, s.Train.Y), fits.NewRows(s.Val.X, s.Val.Y)
}

// A dense scan of the lasso's one hyperparameter knows the least validation loss.
func TestLassoAgainstScan(t *testing.T) {
	train, val := generated(t, "80-60-0-p120", 3)
	m, err := fits.Lasso(train, val, false, sparse.Terms{})
	require.NoError(t, err)
	least := math.Inf(1)
	var last *lower.Point
	for i := range 3000 {
		last, err = m.Solve(context.Background(), []float64{m.LambdaMax() * math.Exp(-7*float64(i)/3000)}, 1e-10, last)
		require.NoError(t, err)
		least = min(least, last.Validation)
	}
	for _, method := range methods {
		r := must.Of(method.run(context.Background(), m, Settings{}))(t)
		require.Less(t, r.Best.Validation, least*(1+1e-4), method.name)
		require.Contains(t, []outcome.Stop{outcome.Converged, outcome.IterationLimit}, r.Status)
	}
}

// A result is a lower-level solution, no worse than any that was observed, and than a grid for the elastic net.
func TestElasticNetAgainstGrid(t *testing.T) {
	train, val := generated(t, "100-100-0-p150", 2)
	m := must.Of(fits.ElasticNet(train, val, true, sparse.Terms{}))(t)
	grid := math.Inf(1)
	for i := range 10 {
		var last *lower.Point
		for k := range 10 {
			at := []float64{m.LambdaMax() * math.Pow(10, -3*float64(i+1)/10), m.LambdaMax() * math.Pow(10, -3*float64(k)/10)}
			last = must.Of(m.Solve(context.Background(), at, 1e-10, last))(t)
			grid = min(grid, last.Validation)
		}
	}
	for _, method := range methods {
		best, solves := math.Inf(1), 0
		r := must.Of(method.run(context.Background(), m, Settings{Observe: func(k int, at *lower.Point) {
			solves++
			require.Equal(t, solves, k)
			if at.Gap <= 1e-10 {
				best = min(best, at.Validation)
			}
		}}))(t)
		require.Equal(t, solves, r.Solves, method.name)
		require.LessOrEqual(t, r.Best.Validation, best)
		require.LessOrEqual(t, r.Best.Gap, 1e-10)
		require.Less(t, r.Best.Validation, grid*1.01, method.name)
		again := must.Of(m.Solve(context.Background(), r.Best.Lambda, 1e-12, nil))(t)
		require.InEpsilon(t, again.Validation, r.Best.Validation, 1e-4)
	}
}

func TestSameBytes(t *testing.T) {
	train, val := generated(t, "60-40-0-p90", 8)
	for _, method := range methods {
		var traces [2][]float64
		for i := range traces {
			m := must.Of(fits.NewWeightedLasso(train, val, false))(t)
			r := must.Of(method.run(context.Background(), m, Settings{MaxIter: 8, Observe: func(_ int, at *lower.Point) {
				traces[i] = append(append(traces[i], at.Validation), at.X[0]...)
			}}))(t)
			traces[i] = append(traces[i], r.Best.Lambda...)
		}
		require.Equal(t, traces[0], traces[1], method.name)
	}
}

func TestCancelledAndBadStart(t *testing.T) {
	train, val := generated(t, "60-40-0-p90", 8)
	m := must.Of(fits.ElasticNet(train, val, false, sparse.Terms{}))(t)
	for _, method := range methods {
		ctx, cancel := context.WithCancel(context.Background())
		r := must.Of(method.run(ctx, m, Settings{Observe: func(k int, _ *lower.Point) {
			if k == 3 {
				cancel()
			}
		}}))(t)
		require.Equal(t, outcome.Cancelled, r.Status)
		require.Equal(t, 3, r.Solves)
		require.NotNil(t, r.Best)
		_, err := method.run(context.Background(), m, Settings{Start: []float64{1, 1, 1}})
		require.ErrorContains(t, err, "3 hyperparameters")
	}
	none := must.Of(fits.Lasso(fits.Rows{X: train.X, Y: make([]float64, 60)}, val, true, sparse.Terms{}))(t)
	_, err := IGJO(context.Background(), none, Settings{})
	require.ErrorContains(t, err, "do not depend")
}

// curve is a fit with a validation loss and its gradient by functions of lambda.
type curve struct {
	path   [][]float64
	loss   func(lambda []float64) float64
	slope  func(lambda []float64) []float64
	solved func(lambda []float64) bool // nil for always
}

func (c curve) Dim() int         { return len(c.path[0]) }
func (curve) LambdaMax() float64 { return 100 }

func (c curve) Solve(_ context.Context, lambda []float64, _ float64, _ *lower.Point) (*lower.Point, error) {
	return &lower.Point{Lambda: lambda, Validation: c.loss(lambda), Solved: c.solved == nil || c.solved(lambda)}, nil
}

func (c curve) Traits() lower.Traits {
	return lower.Traits{Path: func() [][]float64 { return c.path },
		Gradient: func(_ context.Context, at *lower.Point, _ lower.Mode, _ float64) ([]float64, error) {
			return c.slope(at.Lambda), nil
		}}
}

// plane has the validation loss 1 + (lambda_0 - 3)^2 + (lambda_1 - 2)^2.
var plane = curve{
	path:  [][]float64{{0.5, 2}, {1, 1}},
	loss:  func(l []float64) float64 { return 1 + (l[0]-3)*(l[0]-3) + (l[1]-2)*(l[1]-2) },
	slope: func(l []float64) []float64 { return []float64{2 * (l[0] - 3), 2 * (l[1] - 2)} },
}

// The least value where lambda_0 + lambda_1 <= 3 is at (2, 1), and is found by projected steps from either side.
func TestProject(t *testing.T) {
	project := func(_ context.Context, h, from []float64) error {
		if over := h[0] + h[1] - 3; over > 0 { // the least sum of ((h - t) / from)^2 with sum t = 3
			for j, v := range from {
				h[j] -= over * v * v / (from[0]*from[0] + from[1]*from[1])
			}
			if least := math.Min(h[0], h[1]); least < 0.1 {
				h[0], h[1] = math.Max(0.1, math.Min(2.9, h[0])), math.Max(0.1, math.Min(2.9, h[1]))
			}
		}
		return nil
	}
	for _, method := range methods {
		for _, start := range [][]float64{nil, {0.1, 0.2}, {50, 1}} {
			r := must.Of(method.run(t.Context(), plane, Settings{Project: project, Start: start, Tol: 1e-10,
				Observe: func(_ int, at *lower.Point) { require.LessOrEqual(t, at.Lambda[0]+at.Lambda[1], 3+1e-9) }}))(t)
			require.InDelta(t, 3, r.Best.Validation, 1e-4, "%s from %v: %v", method.name, start, r.Best.Lambda)
		}
	}
	failed := errors.New("failed")
	for _, method := range methods {
		_, err := method.run(t.Context(), plane,
			Settings{Project: func(_ context.Context, _, _ []float64) error { return failed }})
		require.ErrorIs(t, err, failed)
	}
}

// parabola is a model with the validation loss (lambda - 3)^2 + 1.
var parabola = curve{
	path:  [][]float64{{5}},
	loss:  func(l []float64) float64 { return (l[0]-3)*(l[0]-3) + 1 },
	slope: func(l []float64) []float64 { return []float64{2 * (l[0] - 3)} },
}

// From 1 the first step, of length 1, ends at 5, which is no better. Those of length 0.1 that follow multiply the
// distance from 3 by 0.8.
func TestBacktracking(t *testing.T) {
	steps := Backtracking{First: 1, Shrink: 0.1, Least: 1e-6, Share: 1e-3, Enough: 1e-2, Floor: 1e-3}
	var seen []float64
	run := func(b Backtracking, o Settings) *Result {
		seen = nil
		o.Backtracking, o.Observe = &b, func(_ int, at *lower.Point) { seen = append(seen, at.Lambda[0]) }
		return must.Of(IGJO(context.Background(), parabola, o))(t)
	}
	r := run(steps, Settings{Start: []float64{1}})
	want := []float64{1, 5}
	// The decrease from distance 2 * 0.8^k is 4 * 0.64^k * 0.36: less than 0.01 from k = 12 on.
	for k := 1; k <= 13; k++ {
		want = append(want, 3-2*math.Pow(0.8, float64(k)))
	}
	require.InEpsilonSlice(t, want, seen, 1e-12)
	require.Equal(t, outcome.Converged, r.Status)
	require.Equal(t, 13, r.Iterations)
	require.InEpsilon(t, want[len(want)-1], r.Best.Lambda[0], 1e-12)

	require.Equal(t, outcome.IterationLimit, run(steps, Settings{Start: []float64{1}, MaxIter: 4}).Status)
	require.Len(t, seen, 6)
	// 1.44 * 0.64^8 < 0.05 f < 1.44 * 0.64^7
	require.Equal(t, 9, run(steps, Settings{Start: []float64{1}, Tol: 0.05}).Iterations)
	require.Equal(t, outcome.Converged, run(steps, Settings{Start: []float64{3}}).Status)
	require.Len(t, seen, 1)
	// No step below Least, and none to below Floor.
	steps.First, steps.Share, steps.Least = 0.1, 1, 5e-3
	r = run(steps, Settings{Start: []float64{1}})
	require.InEpsilonSlice(t, []float64{1, 1.4, 1.04, 1.004}, seen, 1e-12)
	require.Equal(t, outcome.Converged, r.Status)
	steps = Backtracking{First: 2, Shrink: 0.1, Least: 1e-6, Share: 0, Enough: 1e-2, Floor: 2.5}
	run(steps, Settings{Start: []float64{4}})
	require.InEpsilonSlice(t, []float64{4, 2.5}, seen[:2], 1e-12)

	// A lower level that cannot be solved above 4.
	broken := parabola
	broken.solved = func(l []float64) bool { return l[0] <= 4 }
	r = must.Of(IGJO(context.Background(), broken, Settings{Start: []float64{1},
		Backtracking: &Backtracking{First: 1, Shrink: 0.1, Least: 1e-6, Share: 1e-3, Enough: 1, Floor: 1e-3}}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.InEpsilon(t, 1.004, r.Best.Lambda[0], 1e-12)

	for _, start := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := IGJO(context.Background(), parabola, Settings{Start: []float64{start}})
		require.ErrorContains(t, err, "the start is")
	}
}

// In u = log lambda the loss is (e^u - 3)^2 + 1. The loop below is another form of the rule: the rate is decided by the
// values seen so far.
func TestNormalised(t *testing.T) {
	const points = 30
	var seen []float64
	r := must.Of(IFDM(context.Background(), parabola, Settings{Start: []float64{0.5}, MaxIter: points,
		Normalised: &Normalised{Length: 0.7, Shrink: 0.1, Free: 5},
		Observe:    func(_ int, at *lower.Point) { seen = append(seen, at.Lambda[0]) }}))(t)
	require.Equal(t, outcome.Converged, r.Status)
	require.Len(t, seen, points)
	loss := func(l float64) float64 { return parabola.loss([]float64{l}) }
	slope := func(l float64) float64 { return 2 * (l - 3) * l }
	// 0.5 e^(0.7 k) for the first steps, which go up to 3 and beyond.
	require.InEpsilonSlice(t, []float64{0.5, 0.5 * math.Exp(0.7), 0.5 * math.Exp(1.4), 0.5 * math.Exp(2.1)}, seen[:4],
		1e-12)
	rate, worse := 0.7/math.Abs(slope(seen[0])), 0
	for k := 1; k < points; k++ {
		if k <= 5 && worse == 0 {
			rate = 0.7 / math.Abs(slope(seen[k-1]))
		}
		require.InEpsilon(t, seen[k-1]*math.Exp(-rate*slope(seen[k-1])), seen[k], 1e-12)
		if k > 1 && loss(seen[k-1]) > loss(seen[k-2]) {
			worse++
			rate /= 10
		}
	}
	require.Positive(t, worse)
	require.InDelta(t, 3, r.Best.Lambda[0], 0.3)
}

// edged has the validation loss 1 + (log lambda - 3)^2, to which loss is added below lambda = edge, and slope to the
// gradient there.
func edged(edge, loss, slope float64) curve {
	below := func(l []float64, v float64) float64 {
		if l[0] < edge {
			return v
		}
		return 0
	}
	return curve{
		path:  [][]float64{{80}, {60}, {40}},
		loss:  func(l []float64) float64 { return 1 + math.Pow(math.Log(l[0])-3, 2) + below(l, loss) },
		slope: func(l []float64) []float64 { return []float64{2*(math.Log(l[0])-3)/l[0] + below(l, slope)} },
	}
}

// A loss or a gradient that is no finite number ends a search, which keeps the best point before.
func TestNotFinite(t *testing.T) {
	for name, m := range map[string]curve{
		"loss -Inf":     edged(30, math.Inf(-1), 0),
		"loss +Inf":     edged(30, math.Inf(1), 0),
		"gradient NaN":  edged(30, 0, math.NaN()),
		"gradient +Inf": edged(30, 0, math.Inf(1)),
	} {
		for _, method := range methods {
			for _, o := range []Settings{{}, {Start: []float64{90}}} {
				r, err := method.run(context.Background(), m, o)
				require.NoError(t, err, "%s: %s", name, method.name)
				require.Equal(t, outcome.NumericalError, r.Status, "%s: %s", name, method.name)
				best := r.Best.Validation
				require.InDelta(t, 1+math.Pow(math.Log(r.Best.Lambda[0])-3, 2), best, 1e-12)
				require.LessOrEqual(t, best, 1+math.Pow(math.Log(90)-3, 2))
			}
		}
	}
	r := must.Of(IGJO(context.Background(), edged(math.Inf(1), math.Inf(1), 0), Settings{}))(t)
	require.Equal(t, outcome.NumericalError, r.Status)
	require.Nil(t, r.Best)
}

// TestCompare is the Go side of bench/hoag.py, which sets the folder with its data: it runs HOAG from the
// start in jobs.json, and from the path, and writes times and coefficients to results.json.
func TestCompare(t *testing.T) {
	dir := os.Getenv("CONETUNE_HOAG")
	if dir == "" {
		t.Skip("run by bench/hoag.py")
	}
	var jobs struct {
		Train, Val, P, Repeats int
		Start                  float64
	}
	raw := must.Of(os.ReadFile(filepath.Join(dir, "jobs.json")))(t)
	require.NoError(t, json.Unmarshal(raw, &jobs))
	read := func(name string, n int) []float64 {
		f := must.Of(os.Open(filepath.Join(dir, name)))(t)
		defer f.Close()
		v := make([]float64, n)
		require.NoError(t, binary.Read(f, binary.LittleEndian, v))
		return v
	}
	trainX, trainY := read("train.x", jobs.Train*jobs.P), read("train.y", jobs.Train)
	valX, valY := read("val.x", jobs.Val*jobs.P), read("val.y", jobs.Val)
	type result struct {
		Seconds, CPU, Validation float64
		Solves                   int
		Coefficients, Lambda     []float64
	}
	results := map[string]result{}
	makers := map[string]func(train, val fits.Rows, intercept bool) (lower.Fit, error){
		"lasso": func(train, val fits.Rows, intercept bool) (lower.Fit, error) {
			return fits.Lasso(train, val, intercept, sparse.Terms{})
		}, "weighted lasso": func(train, val fits.Rows, intercept bool) (lower.Fit, error) {
			return fits.NewWeightedLasso(train, val, intercept)
		}, "elastic net": func(train, val fits.Rows, intercept bool) (lower.Fit, error) {
			return fits.ElasticNet(train, val, intercept, sparse.Terms{})
		},
	}
	for kind, newModel := range makers {
		for _, start := range []string{"start", "path"} {
			best := result{CPU: 1e9}
			for range 5 * jobs.Repeats {
				var u0, u1 syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u0)
				begun := time.Now()
				m := must.Of(newModel(fits.Rows{X: design.FromColumns(jobs.Train, jobs.P, trainX), Y: trainY},
					fits.Rows{X: design.FromColumns(jobs.Val, jobs.P, valX), Y: valY}, false))(t)
				var s Settings
				if start == "start" {
					s.Start = []float64{jobs.Start}
				}
				r := must.Of(HOAG(context.Background(), m, s))(t)
				seconds := time.Since(begun).Seconds()
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u1)
				if cpu := float64(u1.Utime.Nano()-u0.Utime.Nano()) / 1e9; cpu < best.CPU {
					best = result{seconds, cpu, r.Best.Validation, r.Solves, r.Best.X[0], r.Best.Lambda}
				}
			}
			results[kind+" "+start] = best
		}
	}
	raw = must.Of(json.Marshal(results))(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.json"), raw, 0o644))
}

// The two weights of an elastic net, chosen on validation rows.
func ExampleIGJO() {
	split, _, err := dataset.Generate(dataset.Config{Train: 100, Val: 100, Features: 60}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	train, val := fits.NewRows(split.Train.X, split.Train.Y), fits.NewRows(split.Val.X, split.Val.Y)
	model, err := fits.ElasticNet(train, val, false, sparse.Terms{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var first float64
	r, err := IGJO(context.Background(), model, Settings{
		Start: []float64{0.01},
		Observe: func(k int, at *lower.Point) {
			if k == 1 {
				first = at.Validation
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: validation loss %.2f at the start, %.2f at the end\n", r.Status, first, r.Best.Validation)
	// Output: converged: validation loss 6.66 at the start, 4.29 at the end
}

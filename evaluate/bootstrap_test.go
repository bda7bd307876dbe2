package evaluate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/table"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// sampled is a bootstrap of a table.
func sampled(t *testing.T, name string, source *input.Source, samples int, c tune.Config) *evaluate.Bootstrap {
	rows := must.Of(source.Read())(t)
	c.Backend = "native"
	choice := evaluate.Choice{Build: builder(t, name), Intercept: true, Methods: []string{tune.MethodVFiDCA}, Config: c}
	return must.Of(choice.Bootstrap(context.Background(), rows.Outer, samples, 7, nil))(t)
}

// A sample depends on its number alone: not on how many others there are, nor on the number of threads.
func TestBootstrapByNumber(t *testing.T) {
	d := linear(rand.New(rand.NewPCG(3, 3)), 60, 5, same)
	of := func(samples, threads int) []evaluate.BootstrapFit {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return sampled(t, "elastic-net", sourceOf(d, ""), samples, tune.Config{}).Samples
	}
	few, many := of(4, 1), of(9, 4)
	require.Len(t, many, 9)
	require.Equal(t, few, many[:4])
	require.NotEqual(t, few[0].Fit, few[1].Fit)
}

// Percentiles of coefficients with hardly a penalty cover the true ones as often as they say, to two standard errors,
// whether the noise is the same everywhere or not, and the lasso keeps the two features that count in every sample.
func TestBootstrapCoverage(t *testing.T) {
	const tables, samples, level = 40, 50, 0.9
	for k, deviation := range []func([]float64) float64{same, growing} {
		var covered []float64
		for seed := range uint64(tables) {
			d := linear(rand.New(rand.NewPCG(seed, 5)), 150, 3, deviation)
			source := sourceOf(d, "")
			source.Folds, source.Repeats = 2, 1 // of which nothing depends here
			b := sampled(t, "ridge", source, samples, tune.Config{Fixed: map[string]float64{"lambda": 1e-9}})
			for j, truth := range []float64{2, -1, 0} {
				low, median, high := b.Interval(level, func(f *evaluate.BootstrapFit) float64 { return f.Fit.Coefficients[j] })
				require.True(t, low <= median && median <= high)
				in := 0.0
				if low <= truth && truth <= high {
					in = 1
				}
				covered = append(covered, in)
			}
		}
		mean := stat.Mean(covered, nil)
		t.Log(k, mean)
		require.InDelta(t, level, mean, 2*math.Sqrt(level*(1-level)/float64(len(covered))), "noise %d", k)
	}
	d := linear(rand.New(rand.NewPCG(1, 5)), 150, 6, same)
	b := sampled(t, "lasso", sourceOf(d, ""), 30, tune.Config{})
	share := b.Selected()
	require.Equal(t, []float64{1, 1}, share[:2])
	for _, v := range share[2:] {
		require.Less(t, v, 1.)
	}
}

// Percentiles of the values 0 to 100 in any order are those of numpy.percentile(range(101), .., method="weibull"), and of
// few values their ends.
func TestBootstrapInterval(t *testing.T) {
	b := &evaluate.Bootstrap{}
	for k := range 101 {
		b.Samples = append(b.Samples, evaluate.BootstrapFit{Lambda: []float64{float64(37 * k % 101)}})
	}
	low, median, high := b.Interval(0.95, func(f *evaluate.BootstrapFit) float64 { return f.Lambda[0] })
	require.InDeltaSlice(t, []float64{1.55, 50, 98.45}, []float64{low, median, high}, 1e-12)
	b.Samples = b.Samples[:3] // 0, 37 and 74
	low, median, high = b.Interval(0.95, func(f *evaluate.BootstrapFit) float64 { return f.Lambda[0] })
	require.Equal(t, []float64{0, 37, 74}, []float64{low, median, high})
}

// Samples without both labels have no model and are counted; rows in the order of time are not drawn.
func TestBootstrapWithout(t *testing.T) {
	d := linear(rand.New(rand.NewPCG(2, 2)), 30, 2, same)
	for i := range d.Y {
		d.Y[i] = 0
		if i < 3 {
			d.Y[i] = 1
		}
	}
	source := sourceOf(d, "")
	source.Wanted.Classes, source.Folds = true, 2
	b := sampled(t, "logistic", source, 40, tune.Config{})
	require.Equal(t, 40, b.Of)
	require.Equal(t, 40, len(b.Samples)+b.Failed)
	require.InDelta(t, 40*(math.Pow(0.9, 30)+30*0.1*math.Pow(0.9, 29)), b.Failed, 10) // fewer than two of the label
	require.ErrorContains(t, b.Why, "sample ")

	source = sourceOf(d, "")
	source.Wanted = table.Wanted{Division: table.Division{Time: "x1"}}
	rows := must.Of(source.Read())(t)
	_, err := (&evaluate.Choice{Build: builder(t, "lasso")}).Bootstrap(context.Background(), rows.Outer, 3, 1, nil)
	require.ErrorContains(t, err, `rows in the order of the column "x1"`)
}

// When the context ends, the samples that are done are kept, each as it would be.
func TestBootstrapStopped(t *testing.T) {
	d := linear(rand.New(rand.NewPCG(3, 3)), 60, 5, same)
	rows := must.Of(sourceOf(d, "").Read())(t)
	choice := evaluate.Choice{Build: builder(t, "lasso"), Intercept: true, Methods: []string{tune.MethodVFiDCA},
		Config: tune.Config{Backend: "native"}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := must.Of(choice.Bootstrap(ctx, rows.Outer, 500, 7, func(done int) {
		if done == 5 {
			cancel()
		}
	}))(t)
	require.True(t, b.Stopped)
	require.Zero(t, b.Failed)
	require.GreaterOrEqual(t, len(b.Samples), 4)
	require.Less(t, len(b.Samples), 50)
	require.Equal(t, sampled(t, "lasso", sourceOf(d, ""), 2, tune.Config{}).Samples[0], b.Samples[0])
}

// Copies of a row, or of the rows of a group, are in one fold, a group is drawn whole, and rows keep their weights.
func TestDrawnFolds(t *testing.T) {
	d := linear(rand.New(rand.NewPCG(2, 9)), 40, 2, same)
	for i := range d.Y {
		d.Y[i] = float64(i) // the number of the row
	}
	for _, grouped := range []bool{false, true} {
		source := sourceOf(d, "")
		if grouped {
			var text strings.Builder
			text.WriteString("x1,g,w,y\n")
			for i := range d.Y {
				fmt.Fprintf(&text, "%v,g%d,%d,%d\n", d.X.At(i, 0), i/4, i+1, i)
			}
			source.Wanted.Weights = "w"
			source.Stdin, source.Wanted.Division.Group = strings.NewReader(text.String()), "g"
		}
		outer := must.Of(source.Read())(t).Outer
		var again []float64
		for k := range 20 {
			rows := must.Of(outer.Draw(1, k))(t)
			require.NotEqual(t, again, rows.CV.Data.Y)
			again = rows.CV.Data.Y
			count := map[float64]int{}
			for _, y := range rows.CV.Data.Y {
				count[y]++
			}
			for _, f := range rows.CV.Folds {
				train := numbersOf(rows.CV.Data, f.Training(len(rows.CV.Data.Y)))
				for y := range numbersOf(rows.CV.Data, f.Val) {
					require.False(t, train[y])
				}
			}
			if !grouped {
				require.Len(t, rows.CV.Data.Y, 40)
				require.InDelta(t, 40*(1-math.Exp(-1)), len(count), 8)
				continue
			}
			for i, w := range rows.CV.Data.Weights {
				require.Equal(t, rows.CV.Data.Y[i]+1, w)
			}
			require.Len(t, rows.CV.Data.Weights, len(rows.CV.Data.Y))
			for y, n := range count {
				first := 4 * math.Floor(y/4)
				require.Equal(t, count[first], n, "group of row %v", y)
			}
		}
	}
}

// numbersOf are the numbers of some rows.
func numbersOf(d *dataset.Data, rows []int) map[float64]bool {
	out := map[float64]bool{}
	for _, i := range rows {
		out[d.Y[i]] = true
	}
	return out
}

// linear are n rows of y = 1 + 2 x1 - x2 + 0 x3 + .. + noise, whose standard deviation is that of a function.
func linear(rng *rand.Rand, n, p int, deviation func(row []float64) float64) *dataset.Data {
	d := &dataset.Data{X: mat.NewDense(n, p, nil), Y: make([]float64, n), Target: "y"}
	for j := range p {
		d.Features = append(d.Features, fmt.Sprintf("x%d", j+1))
	}
	row := make([]float64, p)
	for i := range n {
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		d.X.(*mat.Dense).SetRow(i, row)
		d.Y[i] = 1 + 2*row[0] - row[1] + deviation(row)*rng.NormFloat64()
	}
	return d
}

// same and growing are two of these.
func same([]float64) float64        { return 1 }
func growing(row []float64) float64 { return 0.2 + math.Abs(row[0]) }

// sourceOf is a table as text of CSV, with rows divided by a rule.
func sourceOf(d *dataset.Data, rule string) *input.Source {
	var text strings.Builder
	text.WriteString(strings.Join(d.Features, ",") + ",y\n")
	row := make([]float64, len(d.Features))
	for i, y := range d.Y {
		d.Fill(row, i)
		for _, v := range row {
			fmt.Fprintf(&text, "%v,", v)
		}
		fmt.Fprintf(&text, "%v\n", y)
	}
	return &input.Source{Data: input.Stream, Stdin: strings.NewReader(text.String()), Split: rule, Seed: 1}
}

// builder makes models of a name, and run chooses one for a table.
func builder(t *testing.T, name string) func(*input.Rows) (problems.Model, error) {
	spec := must.Of(model.Find(name))(t)
	return func(rows *input.Rows) (problems.Model, error) {
		return spec.Build(rows, model.Options{Standardize: true, Intercept: true, Level: 0.5, Order: 1})
	}
}

func run(t *testing.T, name string, source *input.Source, c tune.Config) (*input.Rows, problems.Model, *tune.Result) {
	rows := must.Of(source.Read())(t)
	m := must.Of(builder(t, name)(rows))(t)
	return rows, m, must.Of(tune.Compare(context.Background(), m, []string{tune.MethodVFiDCA}, false, c))(t)[0]
}

// Intervals cover new rows as often as they say, to two standard errors, whether the noise is the same everywhere or
// not; of CV+ over folds and of split conformal prediction.
func TestIntervalCoverage(t *testing.T) {
	const tables, level = 100, 0.9
	for _, rule := range []string{"", "0.5/0.5"} {
		for k, deviation := range []func([]float64) float64{same, growing} {
			var coverage, width []float64
			for seed := range uint64(tables) {
				rng := rand.New(rand.NewPCG(seed, 43))
				rows, m, r := run(t, "lasso", sourceOf(linear(rng, 100, 6, deviation), rule), tune.Config{Backend: "native"})
				c := evaluate.NewJudge(rows, m, true).Conformal(r).On(level, linear(rng, 500, 6, deviation), r.RefitFit)
				coverage, width = append(coverage, c.Coverage), append(width, c.Width)
			}
			mean, sd := stat.MeanStdDev(coverage, nil)
			t.Log(rule, k, mean, sd/math.Sqrt(tables), stat.Mean(width, nil))
			require.InDelta(t, level, mean, 2*sd/math.Sqrt(tables), "rule %q, noise %d", rule, k)
		}
	}
}

// Bounds are those of all differences and sums in order, also of ties, of folds of single rows, and where every other
// residual stands for the one before it, too.
func TestIntervalOfSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		c := &evaluate.Conformal{Around: evaluate.AroundFolds}
		var below, above, at []float64
		for range 1 + rng.IntN(8) {
			p, f := evaluate.ConformalPart{Rows: 1 + rng.IntN(9)}, math.Round(4*rng.NormFloat64())/2
			for range p.Rows {
				p.Residuals = append(p.Residuals, math.Round(8*rng.ExpFloat64())/4)
			}
			slices.Sort(p.Residuals)
			for _, r := range p.Residuals {
				below, above = append(below, f-r), append(above, f+r)
			}
			if trial%2 == 1 {
				twice := make([]float64, 2*p.Rows)
				for i := range twice {
					twice[i] = p.Residuals[i/2]
				}
				below, above, p.Rows = slices.Concat(below, below[len(below)-p.Rows:]), slices.Concat(above,
					above[len(above)-p.Rows:]), 2*p.Rows
			}
			c.Parts, at = append(c.Parts, p), append(at, f)
		}
		slices.Sort(below)
		slices.Sort(above)
		n := len(above)
		require.Equal(t, n, c.Rows())
		require.NoError(t, c.Validate(0))
		for m := 1; m <= n; m++ {
			level := (float64(m) - 0.5) / float64(n+1)
			low, high := must.Of(c.At(level))(t).Of(at)
			require.Equal(t, []float64{below[n-m], above[m-1]}, []float64{low, high}, "trial %d, %d of %d", trial, m, n)
		}
		_, err := c.At((float64(n) + 0.5) / float64(n+1))
		require.ErrorContains(t, err, fmt.Sprintf("but there are %d residuals", n))
	}
}

// Of many rows the residuals that are kept are never less than those of as many rows, and intervals around a model whose
// folds are too large are those of its own predictions.
func TestConformalKeepsLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows, m, r := run(t, "ridge", sourceOf(linear(rng, 12_000, 2, same), "9000/rest"), tune.Config{Backend: "native"})
	judge := evaluate.NewJudge(rows, m, true)
	c, fit := judge.Conformal(r), m.(interface {
		FoldFits(x [][]float64) []problems.Fit
	}).FoldFits(r.Selection.X)[0]
	require.Len(t, c.Parts, 1)
	require.Equal(t, 3000, c.Parts[0].Rows)
	require.Len(t, c.Parts[0].Residuals, 3000, "few enough")
	var all []float64
	row := make([]float64, 2)
	for i, y := range rows.Split.Val.Y {
		rows.Split.Val.Fill(row, i)
		all = append(all, math.Abs(y-fit.Value(row)))
	}
	slices.Sort(all)
	require.InDeltaSlice(t, all, c.Parts[0].Residuals, 1e-12)

	rows, m, r = run(t, "ridge", sourceOf(linear(rng, 12_000, 2, same), ""), tune.Config{Backend: "native"})
	c = evaluate.NewJudge(rows, m, true).Conformal(r)
	require.Len(t, c.Parts, 5)
	at := []float64{0, 0, 0, 0, 0}
	for _, p := range c.Parts {
		require.Equal(t, 2400, p.Rows)
		require.Len(t, p.Residuals, 1000)
	}
	low, high := must.Of(c.At(0.9))(t).Of(at)
	require.InDelta(t, 1.645, high, 0.05, "of a normal distribution")
	require.Equal(t, -high, low)
	c.Around = evaluate.AroundModel
	require.Equal(t, slices.Repeat([]problems.Fit{r.RefitFit}, 5), c.Fits(r.RefitFit))
}

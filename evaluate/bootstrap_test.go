package evaluate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/must"
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

// Copies of a row, or of the rows of a group, are in one fold, and a group is drawn whole.
func TestDrawnFolds(t *testing.T) {
	d := linear(rand.New(rand.NewPCG(2, 9)), 40, 2, same)
	for i := range d.Y {
		d.Y[i] = float64(i) // the number of the row
	}
	for _, grouped := range []bool{false, true} {
		source := sourceOf(d, "")
		if grouped {
			var text strings.Builder
			text.WriteString("x1,g,y\n")
			for i := range d.Y {
				fmt.Fprintf(&text, "%v,g%d,%d\n", d.X.At(i, 0), i/4, i)
			}
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
				train := numbersOf(rows.CV.Data, f.Train)
				for y := range numbersOf(rows.CV.Data, f.Val) {
					require.False(t, train[y])
				}
			}
			if !grouped {
				require.Len(t, rows.CV.Data.Y, 40)
				require.InDelta(t, 40*(1-math.Exp(-1)), len(count), 8)
				continue
			}
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

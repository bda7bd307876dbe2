package evaluate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

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

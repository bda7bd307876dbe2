package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

// sparseText is a table in the format of LIBSVM of the given rows and 20 000 features, with eight nonzeros a row.
func sparseText(seed uint64, rows int, target func(f float64) float64) string {
	const features = 20_000
	rng := rand.New(rand.NewPCG(seed, 31))
	var b strings.Builder
	for range rows {
		f, pairs := 0.1*rng.NormFloat64(), ""
		for k := range 8 {
			index, v := k*2400+1+rng.IntN(1+rng.IntN(12)), 0.5+rng.Float64()
			f += v * float64(k%3-1)
			pairs += fmt.Sprintf(" %d:%.17g", index, v)
		}
		fmt.Fprintf(&b, "%.17g%s %d:%.17g\n", target(f), pairs, features-rng.IntN(3), rng.Float64())
	}
	return b.String()
}

// A table of many features, few of which a row has, goes through fits, the file of the model and predictions, with the
// error that its rows give by hand.
func TestSparseTable(t *testing.T) {
	for name, target := range map[string]func(f float64) float64{
		"elastic-net":    func(f float64) float64 { return 3 + f },
		"weighted-lasso": func(f float64) float64 { return 3 + f },
		"logistic":       func(f float64) float64 { return math.Copysign(1, f) },
		"poisson":        func(f float64) float64 { return math.Round(math.Exp(f / 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			train := clitest.Write(t, dir, "train.svm", "0 20000:0 # names the number of features\n"+sparseText(1, 80, target))
			if name == "logistic" {
				train = clitest.Write(t, dir, "train.svm", "1 20000:0\n"+sparseText(1, 80, target))
			}
			val, test := clitest.Write(t, dir, "val.svm", sparseText(2, 40, target)), clitest.Write(t, dir, "test.svm", sparseText(3, 40, target))
			saved := dir + "/model.json"
			o := conetune(t, "tune", name, "--train", train, "--val", val, "--test", test, "--method", "grid", "--evaluations", "9", "--save", saved, "--json")
			o.ok(t)
			refit := o.object(t)["refit"].(map[string]any)
			m, err := model.Read(saved)
			require.NoError(t, err)
			require.Len(t, m.Coefficients, 20_000)
			require.Equal(t, "x20000", m.Features[19_999])

			p := conetune(t, "predict", "--model", saved, "--data", test, "--json").object(t)
			predicted := p["predictions"].([]any)
			sum := 0.0
			for i, line := range strings.Split(strings.TrimSpace(sparseText(3, 40, target)), "\n") {
				var y float64
				words := strings.Fields(line)
				_, err := fmt.Sscan(words[0], &y)
				require.NoError(t, err)
				f := m.Intercept
				for _, pair := range words[1:] {
					var j int
					var v float64
					_, err := fmt.Sscanf(pair, "%d:%g", &j, &v)
					require.NoError(t, err)
					f += m.Coefficients[j-1] * v
				}
				switch name {
				case "logistic":
					sum += math.Log1p(math.Exp(-y * f))
					f = math.Copysign(1, f)
				case "poisson":
					sum += math.Exp(f) - y*f
					if y > 0 {
						sum += y*math.Log(y) - y
					}
					f = math.Exp(f)
				default:
					sum += (f - y) * (f - y) / 2
				}
				require.InDelta(t, f, predicted[i], 1e-9*math.Max(1, math.Abs(f)))
			}
			require.InDelta(t, sum/40, refit["test_error"], 1e-9)
		})
	}
}

// The unit of the features of a sparse table: what is asked for, or the largest absolute values; radii are in that
// unit.
func TestScale(t *testing.T) {
	dir := t.TempDir()
	target := func(f float64) float64 { return 3 + f }
	data := clitest.Write(t, dir, "data.svm", sparseText(1, 80, target))
	args := []string{"tune", "elastic-net", "--data", data, "--split", threeParts, "--method", "grid", "--evaluations", "4", "--json"}
	radii := func(more ...string) any {
		o := conetune(t, append(slices.Clone(args), more...)...)
		o.ok(t)
		return o.object(t)["radii"]
	}
	require.Equal(t, radii("--scale", "largest"), radii())
	require.NotEqual(t, radii("--scale", "deviation"), radii())
	require.NotEqual(t, radii("--standardize=false"), radii())
	text := conetune(t, args[:len(args)-1]...)
	text.ok(t)
	require.Contains(t, text.stdout, "features divided by their largest absolute values on the training rows")
	text = conetune(t, append(args[:len(args)-1:len(args)-1], "--scale", "deviation")...)
	text.ok(t)
	require.Contains(t, text.stdout, "features standardised on the training rows")

	labels := clitest.Write(t, dir, "labels.svm", sparseText(1, 80, func(f float64) float64 { return math.Copysign(1, f) }))
	text = conetune(t, "tune", "svm", "--data", labels, "--method", "grid", "--evaluations", "4")
	text.ok(t)
	require.Contains(t, text.stdout, "features divided by one number")

}

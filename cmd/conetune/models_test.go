package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
)

// labelled makes a table of two labels, 2 and 4, that the first two of p features tell apart but for some rows.
func labelled(seed uint64, n, p int) string {
	random := rand.New(rand.NewPCG(seed, 8))
	var b strings.Builder
	b.WriteString(headOf(p))
	for range n {
		x := make([]float64, p)
		for j := range x {
			x[j] = random.NormFloat64()
		}
		label := 2
		if x[0]+x[1]+0.3*random.NormFloat64() > 0 {
			label = 4
		}
		b.WriteString(strconv.Itoa(label))
		for _, v := range x {
			fmt.Fprintf(&b, ",%.6g", v)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ratings are some entries u_i v_j + 3 + noise of a matrix of 15 x 12, one for each of its places in turn.
func ratings(seed uint64, from, to int) string {
	r := rand.New(rand.NewPCG(seed, 5))
	var b strings.Builder
	b.WriteString("col,value,row\n")
	for k, e := range rand.New(rand.NewPCG(7, 7)).Perm(15 * 12) {
		i, j := e/12, e%12
		value := 3 + float64(i-7)*float64(j-5)/10 + .1*r.NormFloat64()
		if from <= k && k < to {
			fmt.Fprintf(&b, "%d,%v,%d\n", j, value, i)
		}
	}
	return b.String()
}

func TestTuneMatrix(t *testing.T) {
	dir := t.TempDir()
	data, test := write(t, dir, "entries.csv", ratings(1, 0, 120)), write(t, dir, "test.csv", ratings(2, 120, 180))
	features := "a,b\n"
	for i := range 15 {
		features += fmt.Sprintf("%d,%d\n", i, (i*i)%5)
	}
	rows := write(t, dir, "rows.csv", features)
	folder := filepath.Join("..", "..", "problems", "matcomp", "testdata", "small")
	for name, c := range map[string]struct {
		args   []string
		radii  int
		atMost float64
	}{
		"data":     {[]string{"--data", data, "--split", "80/20/rest"}, 1, 0.1},
		"tested":   {[]string{"--data", data, "--test", test, "--row-features", rows}, 3, 0.1},
		"grouped":  {[]string{"--data", data, "--test", test, "--row-features", rows, "--groups", "1"}, 2, 0.1},
		"plain":    {[]string{"--data", data, "--test", test, "--standardize=false", "--intercept=false"}, 1, 1},
		"folder":   {[]string{"--dir", folder}, 5, 1},
		"paper":    {[]string{"--dir", folder, "--preset", "paper"}, 5, 1},
		"closing":  {[]string{"--dir", folder, "--gap-tol", "1e-3"}, 5, 1},
		"searched": {[]string{"--dir", folder, "--method", "random", "--evaluations", "5"}, 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := conetune(t, append([]string{"tune", "matrix-completion", "--json"}, c.args...)...)
			m := o.object(t)
			require.Contains(t, m["hyperparameters"], "nuclear")
			require.Len(t, m["hyperparameters"], c.radii)
			require.Less(t, m["refit"].(map[string]any)["test_error"], c.atMost, o.stdout)
		})
	}
}

// What predict writes has the error that tune told.
func TestPredictMatrix(t *testing.T) {
	dir := t.TempDir()
	data, test := write(t, dir, "entries.csv", ratings(1, 0, 120)), write(t, dir, "test.csv", ratings(2, 120, 180))
	model, plot := filepath.Join(dir, "m.json"), filepath.Join(dir, "f.svg")
	o := conetune(t, "tune", "matrix-completion", "--data", data, "--test", test, "--save", model, "--plot", plot)
	text := o.ok(t)
	for _, words := range []string{"matrix of 15 x 12", "60 test entries", "singular values", "with intercept"} {
		require.Contains(t, text, words)
	}
	require.FileExists(t, plot)

	whole := conetune(t, "predict", "--model", model)
	lines := must.Of(csv.NewReader(strings.NewReader(whole.ok(t))).ReadAll())(t)
	require.Len(t, lines, 15)
	require.Len(t, lines[0], 12)
	some := conetune(t, "predict", "--model", model, "--data", test)
	values := strings.Fields(some.ok(t))
	require.Len(t, values, 60)
	entries := must.Of(csv.NewReader(strings.NewReader(ratings(2, 120, 180))).ReadAll())(t)
	sum := 0.0
	for k, e := range entries[1:] {
		i, _ := strconv.Atoi(e[2])
		j, _ := strconv.Atoi(e[0])
		require.Equal(t, lines[i][j], values[k])
		got := number(t, values[k])
		want := number(t, e[1])
		sum += math.Pow(got-want, 2) / 120
	}
	require.Contains(t, some.stderr, fmt.Sprintf("%.6g", sum)+" on 60 rows")

	bad := write(t, dir, "bad.csv", "row,col\n0,0\n3,12\n")
	conetune(t, "predict", "--model", model, "--data", bad).fails(t, cli.ExitUsage,
		"entry 2 is (3, 12), expected whole numbers from (0, 0) to (14, 11)")
}

// A folder and a table of one's own are tuned, of which columns are found by name, and rows without targets are
// predicted, a number for each.
func TestTuneSeveralTargets(t *testing.T) {
	dir := t.TempDir()
	out, model := filepath.Join(dir, "data"), filepath.Join(dir, "m.json")
	conetune(t, "generate", "multi-task", "--preset", "60-50-40-p8", "--out", out).ok(t)
	m := conetune(t, "tune", "multi-task", "--dir", out, "--json", "--save", model).object(t)
	test := filepath.Join(out, "test.csv.gz")
	p := conetune(t, "predict", "--model", model, "--data", test, "--json").object(t)
	require.InEpsilon(t, m["refit"].(map[string]any)["test_error"], p["error"], 1e-9)
	require.Equal(t, []any{"y1", "y2", "y3"}, p["targets"])
	line, _, _ := strings.Cut(conetune(t, "predict", "--model", model, "--data", test).ok(t), "\n")
	require.Equal(t, line, strings.Trim(strings.ReplaceAll(fmt.Sprint(p["predictions_of_targets"].([]any)[0]), " ", ","),
		"[]"))

	data := write(t, dir, "table.csv", csvText(1, 60, 6))
	text := conetune(t, "tune", "multi-task", "--data", data, "--split", threeParts, "--target", "f2,y", "--save",
		model).ok(t)
	require.Contains(t, text, "5 features; 30 training, 15 validation, 15 test rows; targets f2, y")
	bare := write(t, dir, "bare.csv", "f6,f5,f4,f3,f1\n1,2,3,4,5\n")
	require.Len(t, strings.Split(conetune(t, "predict", "--model", model, "--data", bare).ok(t), ","), 2)
	conetune(t, "tune", "multi-task", "--train", data, "--val", data, "--test", data, "--target", "f2,y", "--final",
		"train").ok(t)
}

// flowersText are rows of three kinds that two of the columns tell apart, not without errors.
func flowersText(n int) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var text strings.Builder
	text.WriteString("id,long,wide,noise,kind\n")
	for i := range n {
		k := rng.IntN(3)
		fmt.Fprintf(&text, "r%d,%.4f,%.4f,%.4f,%s\n", i, float64(k)+0.6*rng.NormFloat64(),
			math.Abs(float64(k)-1)+0.6*rng.NormFloat64(), rng.NormFloat64(),
			[]string{`"iris, blue"`, "rose", "tulip"}[k])
	}
	return text.String()
}

// TestMultinomial: text labels of three kinds, from a table to labels, probabilities and back.
func TestMultinomial(t *testing.T) {
	dir := t.TempDir()
	data, model := write(t, dir, "data.csv", flowersText(200)), filepath.Join(dir, "m.json")
	tune := []string{"tune", "multinomial", "--data", data, "--target", "kind", "--id", "id", "--save", model}
	for _, args := range [][]string{{"--method", "grid", "--evaluations", "16"}, {"--method", "tpe", "--evaluations",
		"16"}, {"--folds", "4", "--repeats", "1", "--split", "0.8/rest"}, nil} {
		r := conetune(t, append(append(tune, "--json"), args...)...).told(t)
		require.Equal(t, "converged", r["status"], args)
		require.Less(t, r["validation_error"], math.Log(3)*0.75)
		measures := r["metrics"].(map[string]any)
		require.Less(t, measures["error_rate"].(map[string]any)["value"], 0.35)
		require.Less(t, measures["log_loss"].(map[string]any)["value"], measures["log_loss"].(map[string]any)["baseline"])
		if r["metrics_on"] == "test" {
			require.InDelta(t, r["refit"].(map[string]any)["test_error"],
				measures["log_loss"].(map[string]any)["value"].(float64), 1e-9)
		}
	}
	require.Contains(t, conetune(t, tune...).ok(t), "coefficients are those of each, of the logarithms of their odds")
	shown := conetune(t, "show", model).ok(t)
	require.Contains(t, shown, "labels: iris, blue, then rose, then tulip")
	require.Contains(t, shown, "the label is that of the largest sum")

	predict := []string{"predict", "--model", model, "--data", data}
	plain := conetune(t, predict...)
	labels := strings.Split(strings.TrimSpace(plain.ok(t)), "\n")
	require.Len(t, labels, 200)
	require.Contains(t, plain.stderr, "mean multinomial loss")
	require.Contains(t, plain.stderr, "share of wrong labels")
	table, err := csv.NewReader(strings.NewReader(conetune(t, append(predict, "--id", "id", "--prob")...).ok(t))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"id", "target", "prediction", "probability_iris, blue", "probability_rose",
		"probability_tulip"}, table[0])
	names, loss, wrong := []string{"iris, blue", "rose", "tulip"}, 0.0, 0
	for i, row := range table[1:] {
		require.Equal(t, labels[i], row[2])
		sum, most := 0.0, 0
		var p [3]float64
		for k := range p {
			p[k] = must.Of(strconv.ParseFloat(row[3+k], 64))(t)
			if sum += p[k]; p[k] > p[most] {
				most = k
			}
			if names[k] == row[1] {
				loss -= math.Log(p[k]) / 200
			}
		}
		require.InDelta(t, 1, sum, 1e-12)
		require.Equal(t, names[most], row[2])
		if row[1] != row[2] {
			wrong++
		}
	}
	r := conetune(t, append(predict, "--json", "--prob")...).told(t)
	require.InDelta(t, loss, r["error"].(float64), 1e-12)
	require.InDelta(t, float64(wrong)/200, r["error_rate"].(float64), 1e-12)
	require.Len(t, r["probabilities_of_labels"], 200)
	require.Equal(t, []any{"iris, blue", "rose", "tulip"}, r["labels"])
	lines := strings.Split(strings.TrimSpace(conetune(t, append(predict, "--prob")...).ok(t)), "\n")
	require.Equal(t, strings.Join(table[1][3:], ","), lines[0])
}

// householdText are rows with a category, counts and labels; the target falls in a and rises in b, little in c.
func householdText(n int) string {
	rng := rand.New(rand.NewPCG(4, 4))
	var text strings.Builder
	text.WriteString("a,b,c,region,y,label,count\n")
	for range n {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		region := []string{"east", "north", "west"}[rng.IntN(3)]
		f := -a + 2*b + 0.05*c + 0.5*rng.NormFloat64()
		if region == "west" {
			f += 0.2
		}
		label := "no"
		if f+rng.NormFloat64() > 0 {
			label = "yes"
		}
		fmt.Fprintf(&text, "%.4f,%.4f,%.4f,%s,%.4f,%s,%d\n", a, b, c, region, f, label, int(math.Exp(f/2)+rng.Float64()))
	}
	return text.String()
}

// Flags about single features hold in the saved model, for each model that takes them and whatever the method; a column
// of categories stands for its levels.
func TestTermFlags(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", householdText(150))
	factors := write(t, dir, "factors.csv", "feature,factor\nregion,0\nb,3\n")
	run := func(args ...string) map[string]float64 {
		t.Helper()
		path := filepath.Join(dir, "m.json")
		o := conetune(t, append([]string{"tune", "--data", data, "--save", path}, args...)...)
		o.ok(t)
		m := readModel(t, path)
		out := map[string]float64{}
		for j, name := range m.Features {
			out[name] = m.Coefficients[j]
		}
		conetune(t, "predict", "--model", path, "--data", data).ok(t)
		require.Contains(t, conetune(t, "show", path).ok(t), "b ")
		return out
	}
	targets := map[string][]string{
		"elastic-net": {"--target", "y", "--drop", "label,count"}, "lasso": {"--target", "y", "--drop", "label,count"},
		"ridge":               {"--target", "y", "--drop", "label,count"},
		"bounded-elastic-net": {"--target", "y", "--drop", "label,count"}, "logistic": {"--target", "label", "--drop",
			"y,count"}, "poisson": {"--target", "count", "--drop", "y,label"},
	}
	for model, target := range targets {
		for _, method := range [][]string{nil, {"--method", "grid"}, {"--method", "hoag"}, {"--folds", "3"}} {
			args := append(append([]string{model}, target...), method...)
			b := run(append(args, "--penalty-factors", factors, "--lower", "a=0", "--upper", "b=0.1,c=inf")...)
			require.Zero(t, b["a"], "%s %v", model, method)
			require.LessOrEqual(t, b["b"], 0.1+1e-9)
			require.Greater(t, b["b"], 0.05)
			require.NotZero(t, b["region=west"])
		}
		for _, v := range run(append(append([]string{model}, target...), "--nonnegative")...) {
			require.GreaterOrEqual(t, v, -1e-9)
		}
	}
}

// The adaptive lasso, with folds: the pilot decides which features are cheap, and the saved model predicts in the
// user's units.
func TestAdaptiveFlags(t *testing.T) {
	dir := t.TempDir()
	data, path := write(t, dir, "data.csv", householdText(150)), filepath.Join(dir, "m.json")
	tune := []string{"tune", "adaptive-lasso", "--data", data, "--target", "y", "--drop", "label,count", "--folds", "3",
		"--save", path}
	for _, args := range [][]string{nil, {"--gamma", "2"}, {"--pilot", "lasso", "--method", "grid"},
		{"--method", "hoag"}} {
		conetune(t, append(tune, args...)...).ok(t)
		m := readModel(t, path)
		require.InDelta(t, -1, m.Coefficients[0], 0.15)
		require.InDelta(t, 2, m.Coefficients[1], 0.15)
		require.InDelta(t, 0, m.Coefficients[2], 0.1)
		conetune(t, "predict", "--model", path, "--data", data).ok(t)
	}
}

// --threads is told to do nothing where it does nothing, and only there.
func TestThreads(t *testing.T) {
	dir := t.TempDir()
	data, program := write(t, dir, "table.csv", csvText(1, 40, 4)), write(t, dir, "tiny.qps", tinyQPS)
	for _, name := range backends.Names() {
		o := conetune(t, "solve", program, "--threads", "4", "--backend", name)
		o.ok(t)
		if b := must.Of(backends.Open(name))(t); !b.Capabilities().Threads {
			require.Equal(t, "conetune: --threads 4: a solve on the "+name+" backend runs on one thread\n", o.stderr)
		} else {
			require.Empty(t, o.stderr)
		}
	}
	o := conetune(t, "solve", program, "--threads", "1")
	o.ok(t)
	require.Empty(t, o.stderr)
	// Of tune it bounds all threads, and the result does not depend on it.
	before := runtime.GOMAXPROCS(0)
	one := conetune(t, "tune", "elastic-net", "--data", data, "--folds", "3", "--json", "--threads", "1")
	one.ok(t)
	require.Empty(t, one.stderr)
	two := conetune(t, "tune", "elastic-net", "--data", data, "--folds", "3", "--json", "--threads", "64")
	two.ok(t)
	require.Equal(t, before, runtime.GOMAXPROCS(0))
	for _, key := range []string{"validation_error", "test_error", "hyperparameters", "radii", "refit",
		"solver_iterations"} {
		require.Equal(t, one.object(t)[key], two.object(t)[key], key)
	}
}

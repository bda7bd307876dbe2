package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
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

// flattened are the numbers of coefficients and intercept of a run, by their names.
func flattened(told map[string]any) map[string]float64 {
	out := map[string]float64{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case float64:
			out[name] = v
		case map[string]any:
			for k, in := range v {
				walk(name+"/"+k, in)
			}
		}
	}
	walk("b", told["coefficients"])
	walk("b0", told["intercept"])
	return out
}

// fixedAs are hyperparameters as --lambda takes them.
func fixedAs(told map[string]any) string {
	var list []string
	for name, v := range told["hyperparameters"].(map[string]any) {
		list = append(list, fmt.Sprintf("%s=%v", name, v))
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// The values that a run has chosen give its model again, whatever the method.
func TestChosenValuesAgain(t *testing.T) {
	for _, m := range everyModel(t, t.TempDir(), 3, 60, 6) {
		t.Run(m.Name, func(t *testing.T) {
			args := m.command("--folds", "3", "--json")
			if m.Name == "sparse-group-lasso" { // other rungs have weights in the 1-norm
				args = append(args, "--rung", "common")
			}
			told := conetune(t, args...).object(t)
			for _, method := range []string{"vf-idca", "grid"} {
				args := m.command("--folds", "3", "--json", "--lambda", fixedAs(told), "--method", method)
				again := conetune(t, args...).object(t)
				require.EqualValues(t, 1, again["iterations"])
				want, got := flattened(told), flattened(again)
				scale := 0.0
				for _, v := range want {
					scale = math.Max(scale, math.Abs(v))
				}
				require.NotEmpty(t, want)
				require.Len(t, got, len(want))
				for name, v := range want {
					require.InDelta(t, v, got[name], 1e-8*scale, name)
				}
				if strings.HasPrefix(m.Name, "weighted-") {
					continue // each fold has weights by a pilot of its own, beside those of all rows
				}
				require.InEpsilon(t, told["refit"].(map[string]any)["validation_error"],
					again["refit"].(map[string]any)["validation_error"], 1e-6)
			}
		})
	}
}

// waves is a table that the program of the recorded values makes, too: x_ij = sin(i j) + j, i and j from
// 1, a target and four folds.
func waves() string {
	var b strings.Builder
	b.WriteString("x1,x2,x3,x4,x5,y,fold\n")
	for i := 1.0; i <= 40; i++ {
		x := make([]float64, 5)
		for j := range x {
			x[j] = math.Sin(i*float64(j+1)) + float64(j+1)
			fmt.Fprintf(&b, "%v,", x[j])
		}
		fmt.Fprintf(&b, "%v,%v\n", x[0]-2*x[1]+0.5*x[3]+math.Cos(3*i)/2, math.Mod(i, 4))
	}
	return b.String()
}

// A given lambda and l1_ratio are those of scikit-learn (1.9.1, Lasso and ElasticNet with tol 1e-14, on the table, and
// on standardised features and target), which has the same convention.
func TestFixedAgainstScikitLearn(t *testing.T) {
	data := write(t, t.TempDir(), "waves.csv", waves())
	for _, c := range []struct {
		args []string
		want map[string]any
		b0   float64
	}{
		{[]string{"lasso", "--lambda", "0.1", "--standardize=false"}, map[string]any{"x1": 0.7998516983112306,
			"x2": -1.8272143587303054, "x4": 0.34042371360521057}, 0.5007171122788728},
		{[]string{"elastic-net", "--lambda", "0.2", "--l1-ratio", "0.5", "--standardize=false"}, map[string]any{
			"x1": 0.6682862614708305, "x2": -1.5250561576795791, "x4": 0.2655530910269282}, 0.3341122975922449},
		{[]string{"lasso", "--lambda", "0.1"}, map[string]any{"x1": 0.7606706193901278, "x2": -1.7849537479319701,
			"x4": 0.2991908875249385}, 0.6219630996342634},
		{[]string{"elastic-net", "--lambda", "lambda1=0.1,lambda2=0.1"}, map[string]any{"x1": 0.6914476187440086,
			"x2": -1.6204427387085838, "x4": 0.26109300441353495}, 0.5180921985737247},
	} {
		told := conetune(t, append([]string{"tune", "--data", data, "--json", "--drop", "fold"}, c.args...)...).object(t)
		require.InDeltaMapValues(t, c.want, told["coefficients"], 1e-8)
		require.InDelta(t, c.b0, told["intercept"], 1e-8)
	}
}

// One value is held and the others are searched, by each method that searches; the best of a grid over the free one is
// not better than what the path has found.
func TestHoldOneSearchTheOther(t *testing.T) {
	data := write(t, t.TempDir(), "table.csv", csvText(4, 60, 6))
	run := func(args ...string) (lambda1, lambda2, validation float64) {
		told := conetune(t, append([]string{"tune", "elastic-net", "--data", data, "--json"}, args...)...).object(t)
		h := told["hyperparameters"].(map[string]any)
		return h["lambda1"].(float64), h["lambda2"].(float64), told["refit"].(map[string]any)["validation_error"].(float64)
	}
	for _, c := range []struct {
		args []string
		kept func(lambda1, lambda2 float64) float64
		want float64
	}{
		{[]string{"--l1-ratio", "0.25"}, func(a, b float64) float64 { return a / (a + b) }, 0.25},
		{[]string{"--lambda", "0.3"}, func(a, b float64) float64 { return a + b }, 0.3},
		{[]string{"--lambda", "lambda1=0.05"}, func(a, _ float64) float64 { return a }, 0.05},
		{[]string{"--lambda", "lambda2=0.5"}, func(_, b float64) float64 { return b }, 0.5},
	} {
		a, b, least := run(c.args...)
		require.InEpsilon(t, c.want, c.kept(a, b), 1e-12)
		for _, method := range []string{"grid", "random", "tpe", "cma-es"} {
			a, b, other := run(append(c.args, "--method", method, "--evaluations", "40")...)
			require.InEpsilon(t, c.want, c.kept(a, b), 1e-12)
			require.GreaterOrEqual(t, other, least*(1-2e-4), "%v %s", c.args, method)
		}
		a, b, simple := run(append(c.args, "--one-se")...)
		require.InEpsilon(t, c.want, c.kept(a, b), 1e-12)
		require.GreaterOrEqual(t, simple, least)
	}
	refuse(t, []string{"tune", "elastic-net", "--data", data, "--lambda", "0.1", "--method", "hoag"}, "--lambda",
		"hoag does not choose l1_ratio")
	refuse(t, []string{"tune", "lasso", "--data", data, "--lambda", "0.1", "--l1-ratio", "0.5"}, "lasso has no l1_ratio")
	refuse(t, []string{"tune", "elastic-net", "--data", data, "--lambda", "lambda=1,lambda1=1"}, "has no lambda1")
	refuse(t, []string{"tune", "elastic-net", "--data", data, "--l1-ratio", "2"}, "from 0 to 1")
	refuse(t, []string{"tune", "elastic-net", "--data", data, "--lambda", "x"}, "--lambda", "expected a number")
	refuse(t, []string{"tune", "lasso", "--data", data, "--lambda", "1", "--one-se"}, "nothing is left to choose")
	refuse(t, []string{"tune", "lasso", "--data", data, "--lambda", "1", "--max-iter", "3"}, "--lambda",
		"without iterations")
}

// Within one standard error the model of fewest features is taken, never more than of the least error.
func TestFewestFeatures(t *testing.T) {
	for seed := range uint64(6) {
		for _, m := range everyModel(t, t.TempDir(), seed, 60, 8) {
			if m.Name != "elastic-net" && m.Name != "logistic" && m.Name != "cox" && m.Name != "sparse-group-lasso" {
				continue
			}
			least := conetune(t, m.command("--json")...).object(t)
			simple := conetune(t, m.command("--json", "--one-se")...).object(t)
			require.LessOrEqual(t, len(simple["coefficients"].(map[string]any)), len(least["coefficients"].(map[string]any)))
		}
	}
}

// The numbers of a path are those of scikit-learn (1.9.1): errors of ElasticNet on the rows of each of four folds that
// it is not fitted to, of all rows degrees of freedom by the trace of the hat matrix, features and coefficients.
func TestPathAgainstScikitLearn(t *testing.T) {
	dir := t.TempDir()
	data, path := write(t, dir, "waves.csv", waves()), filepath.Join(dir, "path.csv")
	for _, c := range []struct {
		ratio string
		want  [][]float64 // lambda, degrees of freedom, error, its standard error, features, intercept, second coefficient
	}{
		{"1", [][]float64{
			{1, 1, 1.3701014499334794, 0.25443803123172665, 1, -0.8489818305377164, -0.05095125104128383},
			{0.1, 3, 0.08798658165621359, 0.017569653356946657, 3, 0.5007171122788728, -1.8272143587303054},
			{0.01, 4, 0.058819082571408485, 0.0074489303944724914, 4, -0.07006461649004303, -2.0155420789852143},
		}},
		{"0.5", [][]float64{
			{1, 1.0106988116238655, 0.9474927682092282, 0.19353559848913046, 2, 0.07964486480117616, -0.519397952533725},
			{0.1, 2.730535902961949, 0.08976686886049348, 0.01772041252944618, 3, 0.1202982017702986, -1.7571337145189032},
			{0.01, 3.9615723650176493, 0.05896603421466432, 0.007457112325599376, 4, -0.07883560350094077,
				-2.0061271798953713},
		}},
	} {
		conetune(t, "tune", "elastic-net", "--data", data, "--fold-column", "fold", "--standardize=false", "--lambda", "0.1",
			"--l1-ratio", c.ratio, "--path", path, "--path-coefficients").ok(t)
		lines := must.Of(csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll())(t)
		require.Equal(t, "factor,lambda,l1_ratio,degrees_of_freedom,validation_error,standard_error,features,intercept,"+
			"coefficient_x1,coefficient_x2,coefficient_x3,coefficient_x4,coefficient_x5", strings.Join(lines[0], ","))
		require.Len(t, lines, 98)
		for k, want := range c.want {
			line := lines[25+24*k] // factors 10, 1 and 0.1
			require.InDelta(t, number(t, c.ratio), number(t, line[2]), 1e-8)
			for i, column := range []int{1, 3, 4, 5, 6, 7, 9} {
				require.InEpsilon(t, want[i], number(t, line[column]), 1e-6, "%s at %v", lines[0][column], want[0])
			}
		}
	}
	refuse(t, []string{"tune", "lasso", "--data", data, "--path-coefficients"}, "--path-coefficients goes with --path")
	for _, m := range everyModel(t, dir, 5, 40, 4) {
		conetune(t, m.command("--path", path, "--path-coefficients", "--folds", "3")...).ok(t)
		if m.Name == "svm" {
			continue
		}
		lines := must.Of(csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll())(t)
		require.Greater(t, len(lines), 50, m.Name)
	}
}

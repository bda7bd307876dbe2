package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

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

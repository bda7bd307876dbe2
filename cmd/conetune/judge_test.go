package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/internal/cli"
)

// measured are the metrics of a JSON object.
func measured(t *testing.T, o outcome) (on string, metrics map[string]map[string]float64) {
	t.Helper()
	var m struct {
		On      string                        `json:"metrics_on"`
		Metrics map[string]map[string]float64 `json:"metrics"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.ok(t)), &m))
	return m.On, m.Metrics
}

// The measures of each model are about the rows that the errors of the refit are about, and agree with these.
func TestMetricsInJSON(t *testing.T) {
	dir := t.TempDir()
	data, labels := write(t, dir, "table.csv", csvText(1, 90, 6)), write(t, dir, "labels.csv", labelled(1, 300, 6))
	counts := "y,a\n"
	for i := range 90 {
		x := math.Sin(float64(i))
		counts += fmt.Sprintf("%.0f,%g\n", math.Exp(1+x+0.3*math.Cos(3*float64(i))), x)
	}
	for _, c := range []struct {
		model, data, metric string
		args                string
		on                  string
		// of turns the metric into the error of the refit.
		of func(float64) float64
	}{
		{"elastic-net", data, "rmse", "--split " + threeParts, "test", func(v float64) float64 { return v * v / 2 }},
		{"elastic-net", data, "rmse", "--final train --split 0.6/rest", "validation",
			func(v float64) float64 { return v * v / 2 }},
		{"elastic-net", data, "rmse", "", "cross-validation", func(v float64) float64 { return v * v / 2 }},
		{"lasso", "", "rmse", "--standardize --intercept --dir " + foldsDir(t, csvText(1, 90, 6), 3), "cross-validation",
			func(v float64) float64 { return v * v / 2 }},
		{"quantile", data, "pinball", "--level 0.8 --split " + threeParts, "test", func(v float64) float64 { return v }},
		{"poisson", write(t, dir, "counts.csv", counts), "deviance", "--split " + threeParts, "test",
			func(v float64) float64 { return v / 2 }},
		{"logistic", labels, "log_loss", "--split " + threeParts, "test", func(v float64) float64 { return v }},
		{"svm", labels, "error_rate", "--split 0.7/rest", "test", func(v float64) float64 { return v }},
	} {
		t.Run(c.model+" "+c.on, func(t *testing.T) {
			args := append([]string{"tune", c.model, "--json"}, strings.Fields(c.args)...)
			if c.data != "" {
				args = append(args, "--data", c.data)
			}
			o := conetune(t, args...)
			on, metrics := measured(t, o)
			require.Equal(t, c.on, on)
			refit := o.object(t)["refit"].(map[string]any)
			want := refit["test_error"]
			if c.on != "test" {
				want = refit["validation_error"]
			}
			m := metrics[c.metric]
			require.InEpsilon(t, want, c.of(m["value"]), 1e-9) // folds of 90 rows are of one size
			require.Positive(t, m["standard_error"])
			require.Less(t, m["value"], m["baseline"])
		})
	}
}

// foldsDir is a folder with a table split into folds, row by row, and no rows for a test.
func foldsDir(t *testing.T, text string, folds int) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "data.csv", text)
	list := "fold,row,role\n"
	for k := range folds {
		for i := range strings.Count(text, "\n") - 1 {
			role := "train"
			if i%folds == k {
				role = "val"
			}
			list += fmt.Sprintf("%d,%d,%s\n", k, i, role)
		}
	}
	write(t, dir, "folds.csv", list)
	return dir
}

// Each row is judged by the fold that it does not train.
func TestMetricsOfFolds(t *testing.T) {
	table := readFile(t, filepath.Join("..", "..", "examples", "diabetes.csv"))
	on, metrics := measured(t, conetune(t, "tune", "ridge", "--dir", foldsDir(t, table, 5), "--standardize",
		"--intercept", "--json"))
	require.Equal(t, evaluate.OnFolds, on)
	// R^2 by scikit-learn of cross_val_predict with these folds, of a StandardScaler and Ridge(alpha), is 0.5010 to 0.5013
	// for alpha from 1 to 10.
	require.InDelta(t, 0.5012, metrics["r2"]["value"], 0.0005)
	require.InDelta(t, 0, metrics["r2"]["baseline"], 0.02) // the means of the folds' training rows
	require.InDelta(t, 0.04, metrics["r2"]["standard_error"], 0.02)
}

// Beside the measures of a model stand those of the fit without penalty: by LinearRegression, LogisticRegression
// (C=inf) and PoissonRegressor (alpha=0) of scikit-learn 1.9.1, fitted to the first 300 patients and measured on the
// others.
func TestWithoutPenalty(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(readFile(t, "../../examples/diabetes.csv")), "\n")
	ill := []string{rows[0]}
	for _, row := range rows[1:] {
		y, rest, _ := strings.Cut(row, ",")
		v := number(t, y)
		ill = append(ill, map[bool]string{true: "yes,", false: "no,"}[v > 140]+rest)
	}
	for model, want := range map[string]map[string]float64{
		"elastic-net": {"rmse": 52.863853442917865, "mae": 41.2035144971547, "r2": 0.5071960134667436},
		"logistic": {"log_loss": 0.4977546174281718, "auc": 0.8443781094527363, "brier": 0.1626062328137925,
			"error_rate": 0.2676056338028169},
		"poisson": {"deviance": 18.557794059796855},
	} {
		dir, table := t.TempDir(), rows
		if model == "logistic" {
			table = ill
		}
		train := write(t, dir, "train.csv", strings.Join(table[:301], "\n")+"\n")
		test := write(t, dir, "test.csv", strings.Join(append([]string{table[0]}, table[301:]...), "\n")+"\n")
		m := conetune(t, "tune", model, "--data", train, "--test", test, "--json").object(t)
		require.Equal(t, "test", m["metrics_on"])
		for name, v := range want {
			require.InEpsilon(t, v, m["metrics"].(map[string]any)[name].(map[string]any)["without_penalty"], 1e-6, "%s, %s",
				model, name)
		}
	}
}

// Where there is no such fit the report says why.
func TestNoFitWithoutPenalty(t *testing.T) {
	wide := write(t, t.TempDir(), "wide.csv", csvText(1, 20, 30))
	o := conetune(t, "tune", "elastic-net", "--data", wide)
	require.Contains(t, strings.Join(strings.Fields(o.ok(t)), " "),
		"Least squares, without a penalty, has no answer here: no more rows than coefficients.")
	m := conetune(t, "tune", "elastic-net", "--data", wide, "--json").object(t)
	require.Nil(t, m["metrics"].(map[string]any)["rmse"].(map[string]any)["without_penalty"])
}

// twoTargets is a table with a second target, and the values of both.
func twoTargets(seed uint64, n int) (string, [2][]float64) {
	lines := strings.Split(strings.TrimSpace(csvText(seed, n, 4)), "\n")
	out, y := "z,"+lines[0]+"\n", [2][]float64{}
	for i, line := range lines[1:] {
		var first float64
		fmt.Sscan(strings.Split(line, ",")[0], &first)
		z := 2*first + math.Sin(float64(i))
		out += fmt.Sprintf("%.17g,%s\n", z, line)
		y[0], y[1] = append(y[0], first), append(y[1], z)
	}
	return out, y
}

// The measures of each target are those of the predictions of predict; they are there for folds, a split and a test,
// and in the report.
func TestMetricsOfTargets(t *testing.T) {
	dir := t.TempDir()
	text, _ := twoTargets(1, 60)
	tests, actual := twoTargets(2, 40)
	data, test, saved, page := write(t, dir, "d.csv", text), write(t, dir, "t.csv", tests), filepath.Join(dir, "m.json"),
		filepath.Join(dir, "r.html")
	r := conetune(t, "tune", "multi-task", "--data", data, "--test", test, "--target", "y,z", "--json", "--save", saved,
		"--report", page).told(t)
	require.Equal(t, "test", r["metrics_on"])
	require.NotContains(t, r, "metrics")
	p := conetune(t, "predict", "--model", saved, "--data", test, "--json").object(t)["predictions_of_targets"].([]any)
	for k, name := range []string{"y", "z"} {
		mean, squares, total, absolute := 0.0, 0.0, 0.0, 0.0
		for _, v := range actual[k] {
			mean += v / 40
		}
		for i, v := range actual[k] {
			off := v - p[i].([]any)[k].(float64)
			squares, absolute, total = squares+off*off, absolute+math.Abs(off), total+(v-mean)*(v-mean)
		}
		m := r["metrics_of_targets"].(map[string]any)[name].(map[string]any)
		value := func(name string) any { return m[name].(map[string]any)["value"] }
		require.InEpsilon(t, math.Sqrt(squares/40), value("rmse"), 1e-4)
		require.InEpsilon(t, absolute/40, value("mae"), 1e-4)
		require.InEpsilon(t, 1-squares/total, value("r2"), 1e-4)
	}
	require.Contains(t, readFile(t, page), "How good it is, on the test (40 rows, used for nothing else)")
	for on, args := range map[string][]string{"cross-validation": {"--folds", "4"},
		"validation": {"--split", "0.7/rest"}} {
		r := conetune(t, append([]string{"tune", "multi-task", "--data", data, "--target", "y,z", "--json"},
			args...)...).object(t)
		require.Equal(t, on, r["metrics_on"])
		m := r["metrics_of_targets"].(map[string]any)["z"].(map[string]any)["r2"].(map[string]any)
		require.Greater(t, m["value"], 0.8)
		require.Less(t, m["baseline"], 0.01)
	}
	// On validation rows half the mean squared error over both targets is the validation error.
	r = conetune(t, "tune", "multi-task", "--data", data, "--target", "y,z", "--json", "--split", "0.7/rest", "--method",
		"grid", "--evaluations", "9").told(t)
	sum := 0.0
	for _, m := range r["metrics_of_targets"].(map[string]any) {
		rmse := m.(map[string]any)["rmse"].(map[string]any)["value"].(float64)
		sum += rmse * rmse / 4
	}
	require.InEpsilon(t, r["lower_level"].(map[string]any)["validation_error"], sum, 1e-6)
}

// The measures of a completed matrix are on its test entries, whose mean squared error is twice the test error, or else
// on those for validation.
func TestMetricsOfMatrix(t *testing.T) {
	dir := t.TempDir()
	entries := "row,col,value\n"
	for i := range 12 {
		for k := range 10 {
			entries += fmt.Sprintf("%d,%d,%g\n", i, k, 3+math.Sin(float64(i))*float64(k)+0.1*math.Cos(float64(7*i+3*k)))
		}
	}
	data := write(t, dir, "e.csv", entries)
	for on, split := range map[string]string{"test": "0.5/0.25/rest", "validation": "0.7/rest"} {
		page := filepath.Join(dir, on+".html")
		r := conetune(t, "tune", "matrix-completion", "--data", data, "--split", split, "--json", "--report", page).told(t)
		require.Equal(t, on, r["metrics_on"])
		m := r["metrics"].(map[string]any)
		rmse := m["rmse"].(map[string]any)["value"].(float64)
		want := r["refit"].(map[string]any)["validation_error"]
		if on == "test" {
			want = r["refit"].(map[string]any)["test_error"]
		} else if lower, ok := r["lower_level"].(map[string]any); ok {
			want = lower["validation_error"]
		}
		require.InEpsilon(t, want, rmse*rmse/2, 1e-6, on)
		require.Less(t, m["mae"].(map[string]any)["value"], m["mae"].(map[string]any)["baseline"])
		report := readFile(t, page)
		require.Contains(t, report, "when every entry gets the mean")
		require.Contains(t, report, `id="residuals"`)
	}
}

// reportOf runs tune and returns its page, in which ids are there once and what is labelled by one has it.
func reportOf(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	o := conetune(t, append(append([]string{"tune"}, args...), "--report", path)...)
	require.Contains(t, o.ok(t), "report in "+path)
	page := readFile(t, path)
	require.NotContains(t, page, "ZgotmplZ")
	require.NotContains(t, page, "NaN")
	for _, address := range regexp.MustCompile(`https?://[^"' )<]*`).FindAllString(page, -1) {
		require.Equal(t, "http://www.w3.org/2000/svg", address)
	}
	all := regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(page, "")
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`[ <]id="([^"]*)"`).FindAllStringSubmatch(all, -1) {
		require.False(t, ids[id[1]], "id %s twice", id[1])
		ids[id[1]] = true
	}
	for _, labels := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(all, -1) {
		for _, name := range strings.Fields(labels[1]) {
			require.True(t, ids[name], name)
		}
	}
	return page
}

// first is what stands before the first heading of a section.
func first(page string) string {
	_, body, _ := strings.Cut(page, "<h1>")
	head, _, _ := strings.Cut(body, "<h2")
	return head
}

// Page and figures of every model have what belongs to it: coefficients or the norms of groups, the error over the
// weights where there is such a curve, and the predictions.
func TestReportOfEveryModel(t *testing.T) {
	dir := t.TempDir()
	plot, trace := filepath.Join(dir, "plot.svg"), filepath.Join(dir, "trace.svg")
	for _, m := range everyModel(t, dir, 1, 60, 6) {
		t.Run(m.Name, func(t *testing.T) {
			page := []string{`id="chosen"`, `id="effects"`, `id="trace"`, "How to repeat it", "conetune tune " + m.Name}
			drawn, went := []string{"validation, chosen"}, []string{">coefficients x s.d., refit<", ">f1<"}
			if !m.Folds {
				page = append(page, `id="curve"`, `id="paths"`)
				drawn = []string{">chosen<", "mean ± s.e.", "error over lambda, with bars of one standard error"}
			}
			if !m.Several {
				page = append(page, `id="quality"`)
			}
			switch {
			case m.Several:
				went[0] = ">norms over targets, refit<"
			case m.Survival:
				page, drawn = append(page, `id="risks"`), append(drawn, "without an event, by thirds of the hazard")
			case m.Classes:
				page, drawn, went[0] = append(page, `id="confusion"`), append(drawn, "confusion, "), ">norms over labels, refit<"
			case m.Labels:
				page, drawn = append(page, `id="confusion"`, `id="roc"`, `id="precision"`),
					append(drawn, "confusion, ", "ROC curve, area ", "precision over recall, ")
			default:
				page, drawn = append(page, `id="residuals"`), append(drawn, "over predictions, by cross-validation<", ">residual<",
					">prediction<")
			}
			if m.Takes("Groups") {
				went = []string{">norms of groups, refit<", ">group0<"}
			}
			got := reportOf(t, m.command("--gap-tol", "0", "--tol", "0.1", "--plot", plot, "--plot-trace", trace)[1:]...)
			files := contents(t, dir)
			for text, want := range map[string][]string{got: page, files[plot]: drawn, files[trace]: went} {
				for _, words := range want {
					require.Contains(t, text, words)
				}
			}
			require.NotContains(t, files[plot], "penalty alpha")
		})
	}
	entries := "row,col,value\n"
	for i := range 12 {
		for k := range 10 {
			entries += fmt.Sprintf("%d,%d,%g\n", i, k, math.Sin(float64(i))*float64(k))
		}
	}
	page := reportOf(t, "matrix-completion", "--data", write(t, dir, "entries.csv", entries), "--tol", "0.1")
	require.Contains(t, page, `id="errors"`)
}

// The first screen says what was chosen and how good it is, in the numbers of --json; the call of scikit-learn is the
// same model: of ridge regression the penalty times the rows.
func TestReportFirstScreen(t *testing.T) {
	table := filepath.Join("..", "..", "examples", "diabetes.csv")
	args := []string{"ridge", "--data", table, "--folds", "5", "--split", "0.75/rest"}
	page := reportOf(t, args...)
	o := conetune(t, append(append([]string{"tune"}, args...), "--json")...)
	on, m := measured(t, o)
	require.Equal(t, evaluate.OnTest, on)
	lambda := o.object(t)["hyperparameters"].(map[string]any)["lambda"]
	if lambda == nil {
		lambda = o.object(t)["hyperparameters"].(map[string]any)["lambda2"]
	}
	head := first(page)
	for _, want := range []string{
		"ridge for y, chosen by vf-idca: lambda " + fmt.Sprintf("%.3g", lambda),
		"On the test (110 rows, used for nothing else): root mean squared error " +
			fmt.Sprintf("%.1f ± %.1f, against %.1f", m["rmse"]["value"], m["rmse"]["standard_error"], m["rmse"]["baseline"]) +
			" when every row gets the mean",
		fmt.Sprintf("%.4g", m["r2"]["value"]), fmt.Sprintf("%.4g", m["mae"]["value"]),
	} {
		require.Contains(t, head, want)
	}
	require.Contains(t, page, fmt.Sprintf("Ridge(alpha=%.6g)", lambda.(float64)*332))
	require.Contains(t, page, "100 %", "ridge has all coefficients in all folds")
}

// What comes from the data is text, whatever it looks like, and so is the command line.
func TestReportEscapes(t *testing.T) {
	text := strings.Replace(csvText(1, 60, 6), "f1,", "<b>&x,", 1)
	page := reportOf(t, "lasso", "--data", write(t, t.TempDir(), "a <i> table.csv", text))
	require.NotContains(t, page, "<b>&x")
	require.Contains(t, page, "&lt;b&gt;&amp;x")
	require.NotContains(t, page, "<i>")
}

// requireHarmless says that a text has no control characters but line ends and tabs, and no bidirectional marks.
func requireHarmless(t *testing.T, text string) {
	t.Helper()
	require.NotEmpty(t, text)
	for _, c := range text {
		require.False(t, c != '\n' && c != '\t' && unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c), "%q in %q", c,
			text)
	}
}

// Names of columns, levels, targets and files cannot command a terminal, nor turn the order of what is beside them, in
// what is said to people; what programs read has the names as they are.
func TestNamesCannotCommand(t *testing.T) {
	const feature, level, target = "x\x1b]0;title\x07", "z\u202eb\u009b2J", "y\x1b[31m\u2066"
	var text strings.Builder
	fmt.Fprintf(&text, "%s,%s,group\n", target, feature)
	for i := range 60 {
		name := "plain"
		if i%2 == 1 {
			name = level
		}
		fmt.Fprintf(&text, "%d.%d,%d,%s\n", 3*(i%7)+5*(i%2), i%10, i%7, name)
	}
	dir := t.TempDir()
	data := write(t, dir, "d\x1b[2J\u202e.csv", text.String())
	file := func(name string) string { return filepath.Join(dir, "\x07"+name) }
	tune := []string{"tune", "elastic-net", "--method", "grid", "--evaluations", "4", "--data", data, "--target", target}
	o := conetune(t, append(tune, "--save", file("m.json"), "--report", file("r.html"), "--coefficients", file("c.csv"),
		"-v")...)
	requireHarmless(t, o.ok(t))
	requireHarmless(t, o.stderr)
	require.Contains(t, o.stdout, `x\x1b]0;title\a`)
	require.Contains(t, o.stdout, `group=z\u202eb\u009b2J`)
	files := contents(t, dir)
	requireHarmless(t, files[file("r.html")])
	require.Contains(t, files[file("c.csv")], feature)
	require.Contains(t, files[file("c.csv")], level)

	shown := conetune(t, "show", file("m.json"))
	requireHarmless(t, shown.ok(t))
	require.Contains(t, shown.stdout, `y\x1b[31m\u2066`)
	coefficients := conetune(t, append(tune, "--json")...).object(t)["coefficients"].(map[string]any)
	require.Contains(t, coefficients, feature)
	require.Contains(t, coefficients, "group="+level)

	for _, args := range [][]string{append(tune, "--features", "z\x1b[31m"), {"show", file("none.json")},
		{"tune", "lasso", "--data", data}, {"tune", "\x1b[31m"}, {"\x1b[31m"}, {"solve", file("a.mps")}} {
		o := conetune(t, args...)
		require.Equal(t, cli.ExitUsage, o.code)
		requireHarmless(t, o.stderr)
	}
}

// timed is a table whose targets, in the first column, are times, which are censored where they were negative.
func timed(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines[0] += ",event"
	for i, line := range lines[1:] {
		if rest, negative := strings.CutPrefix(line, "-"); negative {
			lines[i+1] = rest + ",0"
		} else {
			lines[i+1] = line + ",1"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

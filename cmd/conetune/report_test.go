package main

import (
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

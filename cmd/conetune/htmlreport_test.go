package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/evaluate"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/tune"
)

// reportOf runs tune and returns its page, in which ids are there once and what is labelled by one has it.
func reportOf(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	o := conetune(t, append(append([]string{"tune"}, args...), "--report", path)...)
	require.Contains(t, o.ok(t), "report in "+path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	page := string(text)
	require.NotContains(t, page, "ZgotmplZ")
	require.NotContains(t, page, "NaN")
	for _, address := range regexp.MustCompile(`https?://[^"' )<]*`).FindAllString(page, -1) {
		require.Equal(t, "http://www.w3.org/2000/svg", address)
	}
	ids, labels := map[string]bool{}, []string{}
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(page, "")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				require.False(t, ids[a.Value], "id %s twice", a.Value)
				ids[a.Value] = true
			case "aria-labelledby":
				labels = append(labels, strings.Fields(a.Value)...)
			}
		}
	}
	for _, name := range labels {
		require.True(t, ids[name], name)
	}
	return page
}

// first is what stands before the first heading of a section.
func first(page string) string {
	_, body, _ := strings.Cut(page, "<h1>")
	head, _, _ := strings.Cut(body, "<h2")
	return head
}

func TestReportOfEveryModel(t *testing.T) {
	dir := t.TempDir()
	data, labels := write(t, dir, "table.csv", csvText(1, 60, 6)), write(t, dir, "labels.csv", labelled(1, 90, 6))
	times := write(t, dir, "times.csv", timed(csvText(1, 60, 6)))
	for _, spec := range model.Specs() {
		if spec.Matrix {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			args := []string{spec.Name, "--data", data, "--gap-tol", "0", "--tol", "0.1"}
			want := []string{`id="chosen"`, `id="effects"`, `id="trace"`, "How to repeat it", "conetune tune " + spec.Name}
			switch {
			case spec.Takes("Groups"):
				args = append(args, "--groups", "3")
			case spec.Several:
				args = append(args, "--target", "y,f2")
			case spec.Survival:
				args[2] = times
				want = append(want, `id="risks"`)
			case spec.Labels:
				args[2] = labels
				if want = append(want, `id="confusion"`); !spec.Classes {
					want = append(want, `id="roc"`)
				}
			}
			if !spec.Several {
				want = append(want, `id="quality"`)
			}
			if !spec.Several && !spec.Labels && !spec.Survival {
				want = append(want, `id="residuals"`)
			}
			if !spec.Folds && !spec.Several {
				want = append(want, `id="curve"`, `id="paths"`)
			}
			page := reportOf(t, args...)
			for _, text := range want {
				require.Contains(t, page, text)
			}
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
		"ridge for y, chosen by vf-idca: lambda " + short(lambda.(float64)),
		"On 110 rows for the test, which were used for nothing else: root mean squared error " + fmt.Sprintf("%.1f ± %.1f, against %.1f", m["rmse"]["value"], m["rmse"]["standard_error"], m["rmse"]["baseline"]) + " for the mean of the training rows",
		fine(m["r2"]["value"]), fine(m["mae"]["value"]),
	} {
		require.Contains(t, head, want)
	}
	require.Contains(t, page, fmt.Sprintf("Ridge(alpha=%.6g)", lambda.(float64)*332))
	require.Contains(t, page, "100 %", "ridge has all coefficients in all folds")
}

// A value has the decimals of a standard error of two digits.
func TestPlusMinus(t *testing.T) {
	nan := math.NaN()
	for want, v := range map[string][2]float64{
		"12.1 ± 1.2": {12.1259, 1.22}, "1.9960 ± 0.0049": {1.996, 0.0049}, "0.5768 ± 0.0057": {0.576771, 0.00567}, "1652 ± 305": {1652.3, 305},
		"-0.01 ± 0.36": {-0.0123, 0.361}, "0.8": {0.8, nan}, "0.8 ± 0": {0.8, 0}, "1.235e+08 ± 3123457": {123456789, 3123456.7}, "-": {nan, nan},
	} {
		require.Equal(t, want, plusMinus(v[0], v[1]))
	}
}

// What comes from the data is text, whatever it looks like, and so is the command line.
func TestReportEscapes(t *testing.T) {
	text := strings.Replace(csvText(1, 60, 6), "f1,", "<b>&x,", 1)
	page := reportOf(t, "lasso", "--data", write(t, t.TempDir(), "a <i> table.csv", text))
	require.NotContains(t, page, "<b>&x")
	require.Contains(t, page, "&lt;b&gt;&amp;x")
	require.NotContains(t, page, "<i>")
	require.Equal(t, `conetune tune lasso --data 'it'\''s a $.csv' ''`, commandLine([]string{"tune", "lasso", "--data", "it's a $.csv", ""}))
}

// lambda (l1_ratio |b|_1 + (1 - l1_ratio)/2 |b|^2) is the penalty of the elastic net in one parametrisation.
func TestParametrised(t *testing.T) {
	r := &tune.Result{Model: "elastic-net", Refit: &tune.Errors{}, Lambda: []float64{0.3, 0.1}}
	lambda, l1, ok := parametrised(r)
	require.True(t, ok)
	require.InDelta(t, 0.4, lambda, 1e-15)
	require.InDelta(t, 0.75, l1, 1e-15)
	require.Contains(t, sameAs("elastic-net", lambda, l1, 10, false, false)[0].Code, "ElasticNet(alpha=0.4, l1_ratio=0.75)")
	require.Contains(t, sameAs("logistic", lambda, l1, 10, false, false)[0].Code, "C=0.25, l1_ratio=0.75")
	require.Equal(t, []string{"0", "1", "0.25", "0.999", "0.00008", "0.99999"}, []string{ratio(1e-10, 3), ratio(1-1e-10, 3), ratio(0.25, 3), ratio(0.999, 3), ratio(8e-5, 3), ratio(0.99999, 3)})
	_, _, ok = parametrised(&tune.Result{Model: "weighted-lasso", Refit: &tune.Errors{}, Lambda: []float64{0.3, 0.1}})
	require.False(t, ok)
}

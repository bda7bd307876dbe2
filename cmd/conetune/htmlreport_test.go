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
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
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
	data, labels := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 60, 6)), clitest.Write(t, dir, "labels.csv", labelled(1, 90, 6))
	times := clitest.Write(t, dir, "times.csv", timed(clitest.CsvText(1, 60, 6)))
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
	page := reportOf(t, "matrix-completion", "--data", clitest.Write(t, dir, "entries.csv", entries), "--tol", "0.1")
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
		"On 110 rows for the test, which were used for nothing else: root mean squared error " + fmt.Sprintf("%.1f ± %.1f, against %.1f", m["rmse"]["value"], m["rmse"]["standard_error"], m["rmse"]["baseline"]) + " for the mean of the training rows",
		fmt.Sprintf("%.4g", m["r2"]["value"]), fmt.Sprintf("%.4g", m["mae"]["value"]),
	} {
		require.Contains(t, head, want)
	}
	require.Contains(t, page, fmt.Sprintf("Ridge(alpha=%.6g)", lambda.(float64)*332))
	require.Contains(t, page, "100 %", "ridge has all coefficients in all folds")
}

// What comes from the data is text, whatever it looks like, and so is the command line.
func TestReportEscapes(t *testing.T) {
	text := strings.Replace(clitest.CsvText(1, 60, 6), "f1,", "<b>&x,", 1)
	page := reportOf(t, "lasso", "--data", clitest.Write(t, t.TempDir(), "a <i> table.csv", text))
	require.NotContains(t, page, "<b>&x")
	require.Contains(t, page, "&lt;b&gt;&amp;x")
	require.NotContains(t, page, "<i>")
}

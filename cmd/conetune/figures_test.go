package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
)

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

// Every model draws its coefficients or the norms of its groups; a classifier has ROC and confusion on the rows there are.
func TestPlotOfEveryModel(t *testing.T) {
	if testing.Short() {
		t.Skip("the report of every model is as much")
	}
	dir := t.TempDir()
	data, labels := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 45, 6)), clitest.Write(t, dir, "labels.csv", labelled(1, 45, 6))
	times := clitest.Write(t, dir, "times.csv", timed(clitest.CsvText(1, 45, 6)))
	for _, spec := range model.Specs() {
		if spec.Matrix {
			continue // matrix_test.go
		}
		t.Run(spec.Name, func(t *testing.T) {
			path, statistics := filepath.Join(dir, spec.Name+".svg"), filepath.Join(dir, spec.Name+"-statistics.svg")
			args := []string{"tune", spec.Name, "--data", data, "--gap-tol", "0", "--tol", "0.1", "--plot-trace", path, "--plot", statistics}
			want := []string{">coefficients x s.d., refit<", ">f1<"}
			if spec.Takes("Groups") {
				args, want = append(args, "--groups", "3"), []string{">norms of groups, refit<", ">group0<"}
			}
			if spec.Several {
				args, want = append(args, "--target", "y,f2"), []string{">norms over targets, refit<", ">f1<"}
			}
			if spec.Survival {
				args[3] = times
			}
			if spec.Labels {
				args[3] = labels
				args = append(args, "--split", "0.8/rest")
				if spec.Classes {
					want[0] = ">norms over labels, refit<"
				}
			}
			conetune(t, args...).ok(t)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, words := range want {
				require.Contains(t, string(text), words)
			}
			// --plot has the error over the weights, where there is such a curve, and the predictions that fit the model.
			want = []string{">chosen<", "mean ± s.e.", "error over lambda, with bars of one standard error"}
			if spec.Folds || spec.Several {
				want = []string{"validation, chosen"}
			}
			if spec.Labels {
				if want = append(want, "confusion, "); !spec.Classes {
					want = append(want, "ROC, ")
				}
			} else if spec.Survival {
				want = append(want, "without an event, by thirds of the hazard")
			} else if !spec.Several {
				want = append(want, ">targets, by cross-validation<", ">residuals<", ">prediction<")
			}
			text, err = os.ReadFile(statistics)
			require.NoError(t, err)
			for _, words := range want {
				require.Contains(t, string(text), words)
			}
			require.NotContains(t, string(text), "penalty alpha")
		})
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// calls runs a printed call of scikit-learn on standardised features, and where they are numbers standardised targets,
// and prints the coefficients in the units of the table.
const calls = `
import csv, json, sys
import numpy as np
from sklearn.linear_model import *
from sklearn.svm import LinearSVC
rows = list(csv.reader(open(sys.argv[1])))
data = rows[1:]
X = np.array([[float(v) for v in r[1:]] for r in data])
numbers = sys.argv[3] == "numbers"
y = np.array([float(r[0]) for r in data]) if numbers else np.array([r[0] for r in data])
scale = X.std(axis=0)
X, unit = (X - X.mean(axis=0)) / scale, 1.0
if numbers:
    unit = y.std()
    y = (y - y.mean()) / unit
m = eval(sys.argv[2]).fit(X, y)
b = np.atleast_2d(m.coef_) * unit / scale
json.dump({"coef": b.tolist(), "classes": [] if numbers else m.classes_.tolist()}, sys.stdout)
`

// What is printed for scikit-learn gives the coefficients of the model there.
func TestPrintedCalls(t *testing.T) {
	const found = "import sklearn; assert tuple(map(int, sklearn.__version__.split('.')[:2])) >= (1, 8)"
	if exec.Command("python3", "-c", found).Run() != nil {
		t.Skip("no python3 with scikit-learn 1.8 or later")
	}
	dir := t.TempDir()
	table := csvText(4, 150, 5)
	labelled := func(classes float64) string {
		lines := strings.Split(strings.TrimSpace(table), "\n")
		for i, line := range lines[1:] {
			y, rest, _ := strings.Cut(line, ",")
			k := math.Min(classes-1, math.Max(0, math.Floor((number(t, y)-100)/4+classes/2)))
			lines[i+1] = fmt.Sprintf("c%g,%s", k, rest)
		}
		return strings.Join(lines, "\n") + "\n"
	}
	call := regexp.MustCompile(`(?m)^  ((?:ElasticNet|Lasso|Ridge|LogisticRegression|LinearSVC)\(.*)$`)
	for model, text := range map[string]string{"lasso": table, "ridge": table, "elastic-net": table,
		"elastic-net --l1-ratio 0": table,
		"logistic":                 labelled(2), "multinomial": labelled(3), "svm": labelled(2)} {
		kind := "labels"
		if text == table {
			kind = "numbers"
		}
		data := write(t, dir, model+".csv", text)
		args := append(append([]string{"tune"}, strings.Fields(model)...), "--data", data)
		if model == "svm" {
			args = append(args, "--loss", "squared-hinge", "--lambda", "0.05")
		}
		printed := call.FindStringSubmatch(conetune(t, args...).ok(t))
		require.Len(t, printed, 2, model)
		out, err := exec.Command("python3", "-c", calls, data, printed[1], kind).Output()
		require.NoError(t, err, "%s: %s", model, printed[1])
		var there struct {
			Coef    [][]float64 `json:"coef"`
			Classes []string    `json:"classes"`
		}
		require.NoError(t, json.Unmarshal(out, &there))
		ours := conetune(t, append(args, "--json")...).object(t)["coefficients"].(map[string]any)
		for k, row := range there.Coef {
			for j, want := range row {
				v, _ := ours[fmt.Sprintf("f%d", j+1)].(float64)
				if model == "multinomial" {
					of, _ := ours[fmt.Sprintf("f%d", j+1)].(map[string]any)
					v, _ = of[there.Classes[k]].(float64)
				}
				require.InDelta(t, want, v, 1e-5*(1+math.Abs(want)), "%s: %s, f%d", model, printed[1], j+1)
			}
		}
	}
}

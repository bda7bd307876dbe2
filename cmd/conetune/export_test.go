package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
)

// goMain calls an exported package.
const goMain = `package main

import (
	"log"
	"os"

	"g/predictor"
)

func main() {
	if err := predictor.PredictCSV(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
`

// exported is what an exported program makes of a table; nil where its language is not there.
func exported(t *testing.T, target, model, data string) []byte {
	dir := t.TempDir()
	path := filepath.Join(dir, map[string]string{"python": "m.py", "r": "m.R", "go": "m.go"}[target])
	conetune(t, "export", model, "--to", target, "--out", path).ok(t)
	run := map[string][]string{"python": {"python3", path, data}, "r": {"Rscript", path, data},
		"go": {"go", "run", "."}}[target]
	if _, err := exec.LookPath(run[0]); err != nil {
		return nil
	}
	cmd := exec.Command(run[0], run[1:]...)
	if target == "go" {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "predictor"), 0o755))
		require.NoError(t, os.Rename(path, filepath.Join(dir, "predictor", "m.go")))
		write(t, dir, "main.go", goMain)
		write(t, dir, "go.mod", "module g\n\ngo 1.26\n")
		cmd.Dir, cmd.Stdin = dir, must.Of(os.Open(data))(t)
	}
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "PYTHONIOENCODING=utf-8",
		"LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s", target, stderr.String())
	return out
}

// sameTable compares tables, numbers to 1e-12.
func sameTable(t *testing.T, want, got, about string) {
	read := func(text string) [][]string { return must.Of(csv.NewReader(strings.NewReader(text)).ReadAll())(t) }
	a, b := read(want), read(got)
	require.Equal(t, a[0], b[0], about)
	require.Len(t, b, len(a), about)
	for i := range a {
		for k := range a[i] {
			x, err := strconv.ParseFloat(a[i][k], 64)
			if y, other := strconv.ParseFloat(b[i][k], 64); err == nil && other == nil {
				require.InDelta(t, x, y, 1e-12*math.Max(1, math.Abs(x)), "%s: row %d", about, i)
			} else {
				require.Equal(t, a[i][k], b[i][k], "%s: row %d", about, i)
			}
		}
	}
}

// oddTable has names and levels with quotes, line ends, words of SQL and letters of other scripts, texts that look like
// numbers, dates and gaps.
func oddTable(rows int, target func(i int, value float64) string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{`na"me`, "sel'ect", "größe\nm", "when", "money", "code", "y"})
	for i := range rows {
		pick := func(levels ...string) (string, int) { k := (i*i + i/3) % len(levels); return levels[k], k }
		level, k := pick("or'1", `say "hi"`, "a,b", "drop table;", "京\n都", "NA")
		code, c := pick("01", "1", "2.0", "B2", "TRUE", "true", "{{x}}", "%s")
		number, v := strconv.FormatFloat(float64(i%17)/4, 'g', -1, 64), float64(i%17)/4
		if i%11 == 0 {
			number = ""
		}
		day := fmt.Sprintf("%d.%d.%d 07:%02d", 1+i%28, 1+i%12, 1990+i%40, i%60)
		if i%13 == 5 {
			day = "NA"
		}
		_ = w.Write([]string{number, level, fmt.Sprintf("%d %%", i%23), day, fmt.Sprintf("€ 1,%03d.5", i*7%1000), code,
			target(i, v+2*float64(k%3)+float64(c%4)+float64(i%23)/9+math.Sin(float64(i))/3)})
	}
	w.Flush()
	return b.String()
}

// Exported programs give what conetune predict gives. PMML and ONNX are run by bench/export.py.
func TestExportAgrees(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		args   []string
		target func(i int, v float64) string
	}{
		"elastic-net": {nil, func(_ int, v float64) string { return fmt.Sprint(v) }},
		"ridge": {[]string{"--missing", "regression", "--dates", "year,season,weekday,hour", "--spline", `na"me=3`, "--poly",
			"money=2", "--ordered", "code", "--reference", `sel'ect=say "hi"`, "--interact",
			`na"me:sel'ect,money:when,code:sel'ect`}, func(i int, v float64) string { return fmt.Sprint(v * float64(1+i%3)) }},
		"logistic": {[]string{"--decide", "0.3"}, func(i int, v float64) string {
			return map[bool]string{true: "it's", false: `"no"`}[v+float64(i%3) > 5]
		}},
		"multinomial": {nil, func(i int, v float64) string { return fmt.Sprintf("c,%d", int(v+float64(i%3))/4) }},
		"poisson":     {[]string{"--missing", "mean"}, func(_ int, v float64) string { return fmt.Sprint(int(v)) }},
		"svm": {[]string{"--loss", "squared-hinge"},
			func(i int, v float64) string { return fmt.Sprint(2*(int(v+float64(i%2))/5%2) - 1) }},
	} {
		data := write(t, ".", name+".csv", oddTable(150, c.target))
		args := []string{"tune", name, "--data", data, "--save", "m.json", "--categorical", "code"}
		conetune(t, append(args, c.args...)...).ok(t)
		conetune(t, "predict", "--model", "m.json", "--data", data, "--out", "p.csv").ok(t)
		want := readFile(t, "p.csv")
		for _, target := range []string{"go", "python", "r"} {
			if got := exported(t, target, "m.json", data); got != nil {
				sameTable(t, want, string(got), name+" in "+target)
			}
		}
	}
}

// The SELECT gives what conetune predict gives, in SQLite.
func TestExportSQL(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3")
	}
	t.Chdir(t.TempDir())
	var text, rows strings.Builder
	text.WriteString("y,\"sel\"\"ect\",order by,when\n")
	for i := range 120 {
		x, level, day := fmt.Sprintf("%g", float64(i%13)/4), []string{"or'1", "a b", "京都", "NA"}[i*i/3%4],
			fmt.Sprintf("%d-%02d-%02d", 1960+i, 1+i%12, 1+i%28)
		if i%9 == 0 {
			x = ""
		}
		y := []string{"low", "mid", "hi'gh"}[(i%13+i*i/3%4*2+i%2)%9/3]
		fmt.Fprintf(&text, "%s,%s,%s,%s\n", y, level, x, day)
		null := func(s string) string {
			if s == "" || s == "NA" {
				return "NULL"
			}
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		fmt.Fprintf(&rows, "INSERT INTO \"the table\" VALUES (%s, %s, %s);\n", null(level), null(x), null(day))
	}
	write(t, ".", "t.csv", text.String())
	for _, more := range [][]string{nil, {"--spline", "order by=3", "--dates", "auto", "--missing", "regression",
		"--interact",
		`order by:sel"ect,when:sel"ect`}} {
		conetune(t, append([]string{"tune", "multinomial", "--data", "t.csv", "--save", "m.json", "--positive", "mid",
			"--decide", "0.4"}, more...)...).ok(t)
		conetune(t, "predict", "--model", "m.json", "--data", "t.csv", "--out", "p.csv").ok(t)
		query := conetune(t, "export", "m.json", "--to", "sql", "--table", "the table").ok(t)
		script := "CREATE TABLE \"the table\" (\"sel\"\"ect\" TEXT, \"order by\" REAL, \"when\" TEXT);\n" + rows.String() +
			".mode csv\n.headers on\nSELECT prediction, \"probability_hi'gh\", probability_low, probability_mid FROM (" +
			strings.TrimSuffix(strings.TrimSpace(query), ";") + ");\n"
		cmd := exec.Command("sqlite3", ":memory:")
		cmd.Stdin = strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		sameTable(t, readFile(t, "p.csv"), string(out), "sql")
	}
}

// What cannot be exported is said, and nothing is written.
func TestExportRefused(t *testing.T) {
	_, model := savedElasticNet(t)
	for _, c := range []struct{ args, want string }{
		{"", "--to LANGUAGE is missing"}, {"--to perl", `--to is "perl", expected one of: python, r, sql, pmml, onnx, go`},
		{"--to python --out " + model, "would overwrite the model"}, {"--to go --package 1x", "is no name of a package"},
	} {
		conetune(t, append([]string{"export", model}, strings.Fields(c.args)...)...).fails(t, cli.ExitUsage, c.want)
	}
}

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

package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
)

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
	require.Equal(t, line, strings.Trim(strings.ReplaceAll(fmt.Sprint(p["predictions_of_targets"].([]any)[0]), " ", ","), "[]"))

	data := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 60, 6))
	text := conetune(t, "tune", "multi-task", "--data", data, "--split", threeParts, "--target", "f2,y", "--save", model).ok(t)
	require.Contains(t, text, "5 features; 30 training, 15 validation, 15 test rows; targets f2, y")
	bare := clitest.Write(t, dir, "bare.csv", "f6,f5,f4,f3,f1\n1,2,3,4,5\n")
	require.Len(t, strings.Split(conetune(t, "predict", "--model", model, "--data", bare).ok(t), ","), 2)
	conetune(t, "tune", "multi-task", "--train", data, "--val", data, "--test", data, "--target", "f2,y", "--final", "train").ok(t)
}

// flowersText are rows of three kinds that two of the columns tell apart, not without errors.
func flowersText(n int) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var text strings.Builder
	text.WriteString("id,long,wide,noise,kind\n")
	for i := range n {
		k := rng.IntN(3)
		fmt.Fprintf(&text, "r%d,%.4f,%.4f,%.4f,%s\n", i, float64(k)+0.6*rng.NormFloat64(), math.Abs(float64(k)-1)+0.6*rng.NormFloat64(), rng.NormFloat64(),
			[]string{`"iris, blue"`, "rose", "tulip"}[k])
	}
	return text.String()
}

// TestMultinomial: text labels of three kinds, from a table to labels, probabilities and back.
func TestMultinomial(t *testing.T) {
	dir := t.TempDir()
	data, model := clitest.Write(t, dir, "data.csv", flowersText(200)), filepath.Join(dir, "m.json")
	tune := []string{"tune", "multinomial", "--data", data, "--target", "kind", "--id", "id", "--save", model}
	for _, args := range [][]string{{"--method", "grid", "--evaluations", "16"}, {"--method", "tpe", "--evaluations", "16"}, {"--folds", "4", "--repeats", "1", "--split", "0.8/rest"}, nil} {
		o := conetune(t, append(append(tune, "--json"), args...)...)
		o.ok(t)
		r := o.object(t)
		require.Equal(t, "converged", r["status"], args)
		require.Less(t, r["validation_error"], math.Log(3)*0.75)
		measures := r["metrics"].(map[string]any)
		require.Less(t, measures["error_rate"].(map[string]any)["value"], 0.35)
		require.Less(t, measures["log_loss"].(map[string]any)["value"], measures["log_loss"].(map[string]any)["baseline"])
		if r["metrics_on"] == "test" {
			require.InDelta(t, r["refit"].(map[string]any)["test_error"], measures["log_loss"].(map[string]any)["value"].(float64), 1e-9)
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
	require.Equal(t, []string{"id", "target", "prediction", "probability_iris, blue", "probability_rose", "probability_tulip"}, table[0])
	names, loss, wrong := []string{"iris, blue", "rose", "tulip"}, 0.0, 0
	for i, row := range table[1:] {
		require.Equal(t, labels[i], row[2])
		sum, most := 0.0, 0
		var p [3]float64
		for k := range p {
			p[k], err = strconv.ParseFloat(row[3+k], 64)
			require.NoError(t, err)
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
	o := conetune(t, append(predict, "--json", "--prob")...)
	o.ok(t)
	r := o.object(t)
	require.InDelta(t, loss, r["error"].(float64), 1e-12)
	require.InDelta(t, float64(wrong)/200, r["error_rate"].(float64), 1e-12)
	require.Len(t, r["probabilities_of_labels"], 200)
	require.Equal(t, []any{"iris, blue", "rose", "tulip"}, r["labels"])
	lines := strings.Split(strings.TrimSpace(conetune(t, append(predict, "--prob")...).ok(t)), "\n")
	require.Equal(t, strings.Join(table[1][3:], ","), lines[0])
}

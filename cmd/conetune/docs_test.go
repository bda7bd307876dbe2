package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages name all models, and which of them take an offset.
func TestPagesNameModels(t *testing.T) {
	page := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		require.NoError(t, err)
		return string(text)
	}
	words := map[int]string{17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
	require.Contains(t, page("README.md"), "There are "+words[len(models)]+" models")
	_, refusing, _ := strings.Cut(page("docs/command.md"), "The column has no missing values, is no feature and is not scaled; `predict` needs it. ")
	refusing, _, _ = strings.Cut(refusing, " refuse.")
	table := page("docs/models.md")
	_, features, _ := strings.Cut(table, "| models | `--weights` | `--offset` |")
	features, _, _ = strings.Cut(features, "\n\n")
	for _, m := range models {
		require.Contains(t, table, "\n| `"+m.name+"`, ")
		require.Equal(t, !m.offset, strings.Contains(refusing, "`"+m.name+"`"), m.name)
		for line := range strings.Lines(features) {
			if cells := strings.Split(line, "|"); len(cells) > 3 && strings.Contains(cells[1], "`"+m.name+"`") {
				require.Equal(t, m.weights, strings.TrimSpace(cells[2]) == "yes", m.name)
				require.Equal(t, m.offset, strings.TrimSpace(cells[3]) == "yes", m.name)
			}
		}
	}
	o := conetune(t, "tune", "logistic", "--data", "t.csv", "--class-weights", "1,2")
	require.Equal(t, "conetune: --class-weights goes with svm; logistic takes a column of weights of rows, --weights\n", o.stderr)
}

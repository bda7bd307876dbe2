package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/model"
)

// The pages name all models, and which of them take an offset.
func TestPagesNameModels(t *testing.T) {
	page := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		require.NoError(t, err)
		return string(text)
	}
	words := map[int]string{17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
	require.Contains(t, page("README.md"), "There are "+words[len(model.Specs())]+" models")
	_, refusing, _ := strings.Cut(page("docs/command.md"), "The column has no missing values, is no feature and is not scaled; `predict` needs it. ")
	refusing, _, _ = strings.Cut(refusing, " refuse.")
	table := page("docs/models.md")
	_, features, _ := strings.Cut(table, "| models | `--weights` | `--offset` |")
	features, _, _ = strings.Cut(features, "\n\n")
	for _, m := range model.Specs() {
		require.Contains(t, table, "\n| `"+m.Name+"`, ")
		require.Equal(t, !m.Takes("Offset"), strings.Contains(refusing, "`"+m.Name+"`"), m.Name)
		for line := range strings.Lines(features) {
			if cells := strings.Split(line, "|"); len(cells) > 3 && strings.Contains(cells[1], "`"+m.Name+"`") {
				require.Equal(t, m.Takes("Weights"), strings.TrimSpace(cells[2]) == "yes", m.Name)
				require.Equal(t, m.Takes("Offset"), strings.TrimSpace(cells[3]) == "yes", m.Name)
			}
		}
	}
	o := conetune(t, "tune", "logistic", "--data", "t.csv", "--class-weights", "1,2")
	require.Equal(t, "conetune: --class-weights is not for logistic; it is for svm\n", o.stderr)
}

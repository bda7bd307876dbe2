package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// As many folds as rows are one deal, not several of the same: those of --folds all.
func TestAsManyFoldsAsRows(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "data.csv", clitest.CsvText(1, 14, 3))
	error := func(folds string) any {
		o := conetune(t, "tune", "elastic-net", "--data", data, "--folds", folds, "--json")
		o.ok(t)
		return o.object(t)["refit"].(map[string]any)["validation_error"]
	}
	require.Equal(t, error("all"), error("14"))
	require.Contains(t, conetune(t, "tune", "elastic-net", "--data", data, "--folds", "14").ok(t), "(14 folds, seed 1)")
}

// Wrong uses that a statistician would make end with a line that says what to do.
func TestMisuse(t *testing.T) {
	dir := t.TempDir()
	var zero, numbers strings.Builder
	zero.WriteString("y,a,w\n")
	numbers.WriteString("y,a\n")
	for i := range 30 {
		fmt.Fprintf(&zero, "%d,%d,0\n", i*i%17, i*7%23)
		fmt.Fprintf(&numbers, "%d.5,%d\n", i*i, i*7%23)
	}
	noWeight, continuous := clitest.Write(t, dir, "zero.csv", zero.String()), clitest.Write(t, dir, "numbers.csv", numbers.String())
	one := clitest.Write(t, dir, "one.csv", "y,a\n1,2\n")
	for want, args := range map[string][]string{
		`column 3 ("w"): no row has a weight above 0`:                                         {"elastic-net", "--data", noWeight, "--weights", "w"},
		`"y" has 30 values, 30 of them in one row each: these are numbers rather than labels`: {"multinomial", "--data", continuous},
		"it is for elastic-net, lasso, ridge, ":                                               {"svm", "--data", continuous, "--penalty-factors", "a=0"},
		"2 folds, but there is 1 row for them":                                                {"elastic-net", "--data", one},
		"31 folds, but there are 30 rows for them":                                            {"elastic-net", "--data", continuous, "--folds", "31"},
	} {
		o := conetune(t, append([]string{"tune"}, args...)...)
		require.Equal(t, cli.ExitUsage, o.code, o.stderr)
		require.Contains(t, o.stderr, want)
		require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	}
}

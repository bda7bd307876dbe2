package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// tuneCase and solveCase are cases as they stand in a file.
const (
	tuneCase  = `{"name": "made/a", "args": ["tune"], "exit": 0, "status": "converged", "errors": {"refit.validation_error": 2, "refit.test_error": 4}, "coefficients": {"digest": "aa", "norm1": 3, "norm2": 2, "nonzeros": 5}, "cpu_seconds": 1, "peak_mb": 100}`
	solveCase = `{"name": "lp/b", "args": ["solve"], "exit": 0, "status": "optimal", "errors": {"objective": -7}, "coefficients": {"digest": "bb", "norm1": 3, "norm2": 2, "nonzeros": 5}, "cpu_seconds": 0.1, "peak_mb": 50}`
)

// Two files of two cases, of which the newer differs in one thing.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	save := func(name, complete string, cases ...string) string {
		path := filepath.Join(dir, name)
		text := `{"complete": ` + complete + `, "cases": [` + strings.Join(cases, ",\n") + "]}"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	older := save("old.json", "true", tuneCase, solveCase)
	for _, c := range []struct {
		name, from, to string
		worse          bool
		says           string
	}{
		{"the same", "", "", false, "coefficients: 2 the same to the bit, 0 with"},
		{"verdict lost", `0, "status": "optimal"`, `1, "status": "inaccurate"`, true, "lost     lp/b: optimal -> inaccurate"},
		{"other verdict", "optimal", "primal_infeasible", true, "lost     lp/b: optimal -> primal_infeasible"},
		{"failed", `0, "status": "converged"`, `2, "status": "failed", "message": "no row"`, true,
			"lost     made/a: converged -> failed no row"},
		{"error of the test", `"refit.test_error": 4`, `"refit.test_error": 4.001`, true,
			"worse    made/a: refit.test_error 4 -> 4.001 (+2.5e-04)"},
		{"error of the folds", `"refit.validation_error": 2`, `"refit.validation_error": 2.1`, true,
			"worse    made/a: refit.validation_error"},
		{"within the tolerance", `"refit.test_error": 4`, `"refit.test_error": 4.0003`, false, "0 lost, 0 worse, 0 slower"},
		{"less error of the folds", `"refit.validation_error": 2`, `"refit.validation_error": 1`, false,
			"better   made/a: refit.validation_error"},
		{"more of the test with it", `"refit.validation_error": 2, "refit.test_error": 4`,
			`"refit.validation_error": 1, "refit.test_error": 5`, false, "traded   made/a: refit.test_error"},
		{"no error", `, "refit.test_error": 4`, ``, true, "worse    made/a: refit.test_error 4 -> 0 (+Inf)"},
		{"objective", "-7", "-7.01", true, "worse    lp/b: objective -7 -> -7.01"},
		{"slower", `"cpu_seconds": 1`, `"cpu_seconds": 1.2`, true, "slower   made/a: 1.00 -> 1.20 s (1.20)"},
		{"slower by less", `"cpu_seconds": 1`, `"cpu_seconds": 1.05`, false,
			"tables            1      1.00 s      1.05 s   1.050"},
		{"slower in little time", `"cpu_seconds": 0.1`, `"cpu_seconds": 0.19`, false,
			"programs          1      0.10 s      0.19 s   1.900"},
		{"memory", `"peak_mb": 50`, `"peak_mb": 100`, true, "memory   lp/b: 50 -> 100 MB (2.00)"},
		{"coefficients", `"digest": "aa", "norm1": 3`, `"digest": "cc", "norm1": 4`, false, "1 further apart made/a"},
		{"coefficients nearby", `"digest": "aa", "norm1": 3`, `"digest": "cc", "norm1": 3.0001`, false,
			"1 with norms within 1e-04, 0 further"},
		{"unsteady", `"peak_mb": 50`, `"peak_mb": 50, "unsteady": true`, false, "from run to run: lp/b"},
		{"command line", `["solve"]`, `["solve", "--eps"]`, false, "2 cases of both (1 with another command line)"},
	} {
		newer := save("new.json", "true", strings.Replace(tuneCase, c.from, c.to, 1), strings.Replace(solveCase, c.from, c.to,
			1))
		var b strings.Builder
		worse := must.Of(compareFiles(&b, older, newer, tolerances{1.1, 1e-4}))(t)
		require.Equal(t, c.worse, worse, c.name)
		require.Contains(t, b.String(), c.says, c.name)
	}

	for complete, worse := range map[string]bool{"true": true, "false": false} {
		var b strings.Builder
		got := must.Of(compareFiles(&b, older, save("new.json", complete, tuneCase), tolerances{1.1, 1e-4}))(t)
		require.Equal(t, worse, got)
		require.Contains(t, b.String(),
			"1 cases of both (0 with another command line), 1 of the old alone, 0 of the new alone")
	}
	var b strings.Builder
	failing := strings.Replace(solveCase, `0, "status": "optimal"`, `1, "status": "inaccurate"`, 1)
	got := must.Of(compareFiles(&b, save("bad.json", "true", failing), older, tolerances{1.1, 1e-4}))(t)
	require.False(t, got)
	require.Contains(t, b.String(), "won      lp/b: inaccurate -> optimal")
	_, err := compareFiles(&b, filepath.Join(dir, "none.json"), older, tolerances{})
	require.Error(t, err)
	_, err = compareFiles(&b, save("torn.json", "true", tuneCase[:9]), older, tolerances{})
	require.ErrorContains(t, err, "torn.json")
}

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// requireHarmless says that a text has no control characters but line ends and tabs, and no bidirectional marks.
func requireHarmless(t *testing.T, text string) {
	t.Helper()
	require.NotEmpty(t, text)
	for _, c := range text {
		require.False(t, c != '\n' && c != '\t' && unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c), "%q in %q", c, text)
	}
}

// Names of columns, levels, targets and files cannot command a terminal, nor turn the order of what is beside them, in
// what is said to people; what programs read has the names as they are.
func TestNamesCannotCommand(t *testing.T) {
	const feature, level, target = "x\x1b]0;title\x07", "z\u202eb\u009b2J", "y\x1b[31m\u2066"
	var text strings.Builder
	fmt.Fprintf(&text, "%s,%s,group\n", target, feature)
	for i := range 60 {
		name := "plain"
		if i%2 == 1 {
			name = level
		}
		fmt.Fprintf(&text, "%d.%d,%d,%s\n", 3*(i%7)+5*(i%2), i%10, i%7, name)
	}
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d\x1b[2J\u202e.csv", text.String())
	file := func(name string) string { return filepath.Join(dir, "\x07"+name) }
	tune := []string{"tune", "elastic-net", "--method", "grid", "--evaluations", "4", "--data", data, "--target", target}
	o := conetune(t, append(tune, "--save", file("m.json"), "--report", file("r.html"), "--coefficients", file("c.csv"), "-v")...)
	requireHarmless(t, o.ok(t))
	requireHarmless(t, o.stderr)
	require.Contains(t, o.stdout, `x\x1b]0;title\a`)
	require.Contains(t, o.stdout, `group=z\u202eb\u009b2J`)
	files := contents(t, dir)
	requireHarmless(t, files[file("r.html")])
	require.Contains(t, files[file("c.csv")], feature)
	require.Contains(t, files[file("c.csv")], level)

	shown := conetune(t, "show", file("m.json"))
	requireHarmless(t, shown.ok(t))
	require.Contains(t, shown.stdout, `y\x1b[31m\u2066`)
	coefficients := conetune(t, append(tune, "--json")...).object(t)["coefficients"].(map[string]any)
	require.Contains(t, coefficients, feature)
	require.Contains(t, coefficients, "group="+level)

	for _, args := range [][]string{append(tune, "--features", "z\x1b[31m"), {"show", file("none.json")}, {"tune", "lasso", "--data", data}, {"tune", "\x1b[31m"}, {"\x1b[31m"}, {"solve", file("a.mps")}} {
		o := conetune(t, args...)
		require.Equal(t, cli.ExitUsage, o.code)
		requireHarmless(t, o.stderr)
	}
}

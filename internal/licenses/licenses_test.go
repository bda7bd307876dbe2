package licenses

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// remedy is what a failing test asks for.
const remedy = "run make deps and go run ./internal/licenses/gen"

func file(t *testing.T, elements ...string) string {
	t.Helper()
	text := must.Of(os.ReadFile(filepath.Join(elements...)))(t)
	return string(text)
}

// The texts are those of the versions in go.mod, and no module that is linked here is without.
func TestModules(t *testing.T) {
	mod := file(t, "..", "..", "go.mod")
	require.True(t, strings.HasPrefix(modules, Heading+"Go, runtime and standard library\n\nCopyright"))
	have := map[string]bool{}
	for line := range strings.Lines(modules) {
		if name, ok := strings.CutPrefix(line, Heading); ok && !strings.HasPrefix(name, "Go,") {
			module, _, _ := strings.Cut(name, ",")
			require.Regexp(t, `(?m)^\s*(require )?`+regexp.QuoteMeta(module)+`( //.*)?$`, mod, remedy)
			have[module] = true
		}
	}
	const listed = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-tags=parquet,scs_go,osqp_go", "-f", listed,
		"../../cmd/conetune").Output()
	if err != nil {
		t.Skip("no go command here:", err)
	}
	for module := range strings.Lines(string(out)) {
		module = strings.TrimSpace(module)
		require.True(t, module == "" || have[module], "%s: %s", module, remedy)
	}
}

func TestOwn(t *testing.T) {
	require.Contains(t, own, strings.TrimSpace(file(t, "..", "..", "LICENSE")), remedy)
	require.True(t, strings.HasPrefix(Text(), Heading+"conetune\n"))
}

// The texts of the C libraries are those that make deps found in the sources, where it has run.
func TestLibraries(t *testing.T) {
	dir := filepath.Join("..", "..", "cgo", "build", "licenses")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skip("the C libraries are not built here")
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	all := squeeze(file(t, "scs.txt") + file(t, "openblas.txt") + file(t, "osqp.txt") + file(t, "clarabel.txt") + file(t,
		"highs.txt"))
	for _, e := range entries {
		require.Contains(t, all, squeeze(file(t, dir, e.Name())), "%s: %s", e.Name(), remedy)
	}
	for _, words := range []string{"MIT License", "Apache License", "OpenBLAS", "QDLDL"} {
		require.Contains(t, all, words)
	}
}

//go:build amd64 && !noasm

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/planted"
)

// answersTo names a file that a child of TestLevels writes its answers to.
const answersTo = "CONETUNE_LEVEL_ANSWERS"

// TestLevels: a job of every model, planted programs over all cones, and public instances where CONETUNE_INSTANCES
// names a folder that has them (lp/afiro.mps.gz and so on), have the same answers, to the last byte, at every level of
// vector instructions, and the same as on every other machine of this architecture: testdata/levels.txt has their sums,
// which CONETUNE_UPDATE_LEVELS=1 writes anew after a change that is meant.
func TestLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("all models at three levels")
	}
	if file := os.Getenv(answersTo); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(levelAnswers(t)), 0o600))
		return
	}
	dir := t.TempDir()
	var first string
	for i, level := range []string{"", "cpu.avx512f=off", "cpu.avx2=off"} {
		file := filepath.Join(dir, fmt.Sprint(i))
		child := exec.Command(os.Args[0], "-test.run", "^TestLevels$")
		child.Env = append(os.Environ(), "GODEBUG="+level, answersTo+"="+file)
		out, err := child.CombinedOutput()
		require.NoError(t, err, string(out))
		answers := must.Of(os.ReadFile(file))(t)
		if i == 0 {
			first = string(answers)
		}
		require.Equal(t, first, string(answers), "with GODEBUG=%s", level)
	}
	const known = "testdata/levels.txt"
	if os.Getenv("CONETUNE_UPDATE_LEVELS") != "" {
		require.NotEmpty(t, os.Getenv("CONETUNE_INSTANCES"), "the sums of public instances need their folder")
		require.NoError(t, os.WriteFile(known, []byte(first), 0o644))
	}
	if fusesProducts() {
		t.Skip("the compiler fuses products and sums: other digits")
	}
	lines := strings.SplitAfter(string(must.Of(os.ReadFile(known))(t)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "file ") && os.Getenv("CONETUNE_INSTANCES") == "" {
			lines[i] = ""
		}
	}
	require.Equal(t, strings.Join(lines, ""), first)
}

// fusesProducts says whether this program was compiled for processors that have fused products and sums (GOAMD64).
func fusesProducts() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "GOAMD64" {
			return s.Value >= "v3"
		}
	}
	return false
}

// levelAnswers has a line for each job, program and instance: its name, and the sum of its answer.
func levelAnswers(t *testing.T) string {
	var b strings.Builder
	sum := func(kind, name string, answer any) {
		text := must.Of(json.Marshal(answer))(t)
		fmt.Fprintf(&b, "%s %s %x\n", kind, name, sha256.Sum256(text))
	}
	wd := must.Of(os.Getwd())(t)
	for _, args := range jobOfEveryModel(t) {
		o := conetune(t, append([]string{"tune", "--json"}, args...)...)
		require.LessOrEqual(t, o.code, cli.ExitUnsolved, "%v: %s", args, o.stderr)
		sum("model", args[0], untimed(o.object(t)))
	}
	native := must.Of(backends.Open("native"))(t)
	for seed := range uint64(60) {
		c := planted.Generate(planted.ID{Mode: "verdict", Scale: int(seed % 4 * 3), Mix: planted.General, Seed: seed})
		solver, err := native.Setup(c.Problem(), backends.Options{})
		if err != nil { // P is not convex
			sum("planted", c.ID.String(), err.Error())
			continue
		}
		s := must.Of(solver.Solve(t.Context()))(t)
		require.NoError(t, solver.Close())
		sum("planted", c.ID.String(), []string{s.Status.String(), fmt.Sprintf("%x %x %x", s.X, s.S, s.Z)})
	}
	if dir := os.Getenv("CONETUNE_INSTANCES"); dir != "" {
		list := must.Of(os.ReadFile(filepath.Join(wd, "testdata", "levels.txt")))(t)
		for line := range strings.Lines(string(list)) {
			if fields := strings.Fields(line); fields[0] == "file" {
				o := conetune(t, "solve", filepath.Join(dir, filepath.FromSlash(fields[1])), "--backend", "native", "--json")
				sum("file", fields[1], untimed(o.object(t)))
			}
		}
	}
	return b.String()
}

// untimed is an answer without what differs from run to run and from build to build.
func untimed(answer map[string]any) map[string]any {
	for name := range answer {
		if strings.HasSuffix(name, "seconds") || name == "version" {
			delete(answer, name)
		}
	}
	return answer
}

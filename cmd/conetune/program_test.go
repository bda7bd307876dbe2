package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
	"github.com/conetune/conetune/model"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// A Go program gets the model that the command saves, of every kind, to the last bit.
func TestProgramAsCommand(t *testing.T) {
	dir := t.TempDir()
	data, labels := clitest.Write(t, dir, "table.csv", clitest.CsvText(1, 45, 6)), clitest.Write(t, dir, "labels.csv", labelled(1, 45, 6))
	times := clitest.Write(t, dir, "times.csv", timed(clitest.CsvText(1, 45, 6)))
	for _, spec := range model.Specs() {
		if spec.Matrix {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			source := input.Source{Data: data, Seed: 1}
			options := model.Options{Standardize: true, Intercept: !spec.Survival}
			saved := filepath.Join(dir, spec.Name+".json")
			args := []string{"tune", spec.Name, "--save", saved}
			switch {
			case spec.Labels:
				source.Data = labels
			case spec.Survival:
				source.Data = times
			case spec.Several:
				source.Wanted.Targets, args = []string{"y", "f2"}, append(args, "--target", "y,f2")
			case spec.Takes("Groups"):
				args = append(args, "--groups", "3")
				options.Groups = func(features []string, _ bool) (*groups.Groups, error) { return groups.Equal(len(features), 3) }
			}
			conetune(t, append(args, "--data", source.Data)...).ok(t)
			want, err := model.Read(saved)
			require.NoError(t, err)

			spec.Prepare(&source)
			rows, err := source.Read()
			require.NoError(t, err)
			built, err := spec.Build(rows, options)
			require.NoError(t, err)
			result, err := tune.Run(t.Context(), built, tune.Config{Seed: 1})
			require.NoError(t, err)
			result.Version = cli.Version()
			var file bytes.Buffer
			require.NoError(t, model.New(&source, rows, built, options, result).Write(&file))
			got, err := model.ReadFrom(&file, "model.json")
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

// The program of the README is the example of package model.
func TestProgramOfReadme(t *testing.T) {
	text := func(path, after, before string) string {
		raw, err := os.ReadFile("../../" + path)
		require.NoError(t, err)
		_, text, _ := strings.Cut(string(raw), after)
		text, _, _ = strings.Cut(text, before)
		return text
	}
	want := strings.ReplaceAll(text("model/program_test.go", "func Example_program() {\n", "\t// Output"), "../examples", "examples")
	require.NotEmpty(t, want)
	require.Equal(t, want, text("README.md", "func main() {\n", "}\n```"))
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/root"
)

// outcome is what a command line gave.
type outcome struct {
	code           int
	stdout, stderr string
}

func conetune(t *testing.T, args ...string) outcome {
	t.Helper()
	return conetuneUntil(t, context.Background(), args...)
}

func conetuneUntil(t *testing.T, ctx context.Context, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := root.Run(ctx, args, nil, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// ok fails the test unless the command succeeded, and returns its standard output.
func (o outcome) ok(t *testing.T) string {
	t.Helper()
	require.Zero(t, o.code, o.stderr)
	return o.stdout
}

// object decodes the one JSON object of standard output.
func (o outcome) object(t *testing.T) map[string]any {
	t.Helper()
	require.Equal(t, 1, strings.Count(o.stdout, "\n"), o.stdout)
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &m), o.stdout)
	return m
}

// contents maps the files of a folder to what is in them.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}

func keys(m map[string]any) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"tune", "--help"}, {"predict", "--help"}, {"generate", "--help"}, {"backends", "--help"}} {
		o := conetune(t, args...)
		require.Contains(t, o.ok(t), "Usage:")
		require.Empty(t, o.stderr)
	}
	require.Contains(t, conetune(t, "tune", "--help").stdout, "weighted-lasso")
	require.True(t, strings.HasPrefix(conetune(t, "--version").ok(t), "conetune "+cli.Release))
}

func TestBackends(t *testing.T) {
	text := conetune(t, "backends").ok(t)
	require.Contains(t, text, "native")
	require.Contains(t, text, "second-order")
	var list []struct {
		Name, Version   string
		Available       bool
		Cones, Features []string
		HowToGet        string `json:"how_to_get"`
	}
	require.NoError(t, json.Unmarshal([]byte(conetune(t, "backends", "--json").ok(t)), &list))
	require.NotEmpty(t, list)
	for _, b := range list {
		require.NotEqual(t, b.Available, b.HowToGet != "", b.Name)
		if b.Name == "native" {
			require.True(t, b.Available)
			require.Contains(t, b.Cones, "second-order")
			require.NotEmpty(t, b.Version)
		}
		if b.Available {
			require.Equal(t, b.Name == "osqp" || b.Name == "highs", slices.Contains(b.Features, "by the method of multipliers: second-order, exponential, dual exponential"), b.Name)
		}
	}
}

// TestWriteFailure: results that do not reach their reader are not a success.
func TestWriteFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := root.Run(context.Background(), []string{"backends", "--json"}, nil, brokenWriter{}, &stderr)
	require.Equal(t, cli.ExitUnsolved, code)
	require.Contains(t, stderr.String(), "standard output: no space")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestUnknownCommand(t *testing.T) {
	o := conetune(t, "tnue")
	require.Equal(t, cli.ExitUsage, o.code)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
}

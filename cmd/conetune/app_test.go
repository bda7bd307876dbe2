package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
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
	code := run(ctx, args, &stdout, &stderr)
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

// csvText makes a regression table: p normal features, of which the first three
// count, in different units.
func csvText(seed uint64, n, p int) string {
	random := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString("y")
	for j := range p {
		fmt.Fprintf(&b, ",f%d", j+1)
	}
	b.WriteString("\n")
	for range n {
		x := make([]float64, p)
		y := 100 + random.NormFloat64()
		for j := range x {
			x[j] = random.NormFloat64()
			if j < 3 {
				y += float64(3-j) * x[j]
			}
		}
		fmt.Fprintf(&b, "%.6g", y)
		for j, v := range x {
			fmt.Fprintf(&b, ",%.6g", v*float64(1+j)+5)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
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
	require.True(t, strings.HasPrefix(conetune(t, "--version").ok(t), "conetune "+release))
}

// The help of tune has the flags that most need, and another one has all of them, each once.
func TestTuneHelp(t *testing.T) {
	some, all := conetune(t, "tune", "--help").ok(t), conetune(t, "tune", "--help-all").ok(t)
	cmd := (&app{}).tuneCommand()
	shown := 0
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		line := regexp.MustCompile(`(?m)^ +(-\w, |    )--` + f.Name + `[\[ ]`)
		require.Len(t, line.FindAllString(all, -1), 1, f.Name)
		shown += len(line.FindAllString(some, -1))
	})
	require.InDelta(t, 30, shown, 5)
	require.Contains(t, some, "--help-all lists all flags")
}

func TestBackends(t *testing.T) {
	text := conetune(t, "backends").ok(t)
	require.Contains(t, text, "native")
	require.Contains(t, text, "second-order")
	var list []backendInfo
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
	lacking := backendTable([]backendInfo{{Name: "other", HowToGet: "build with -tags other"}})
	require.Contains(t, lacking, "other is not in this build; to get it: build with -tags other\n")
}

func TestExitStatusOfErrors(t *testing.T) {
	boom := errors.New("boom")
	require.ErrorIs(t, badInput(boom), boom)
	require.Equal(t, "boom", failed(boom).Error())
	require.Equal(t, "", (&exitError{code: exitInterrupted}).Error())
	o := conetune(t, "tnue")
	require.Equal(t, exitUsage, o.code)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), "not one line: %s", o.stderr)
}

// TestWriteFailure: results that do not reach their reader are not a success.
func TestWriteFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := run(context.Background(), []string{"backends", "--json"}, brokenWriter{}, &stderr)
	require.Equal(t, exitUnsolved, code)
	require.Contains(t, stderr.String(), "standard output: no space")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	v, err := interruptible(ctx, func() (int, error) { return 3, nil })
	require.NoError(t, err)
	require.Equal(t, 3, v)
	cancel()
	block := make(chan struct{})
	defer close(block)
	_, err = interruptible(ctx, func() (int, error) { <-block; return 0, nil })
	require.ErrorIs(t, err, errInterrupted)
	require.PanicsWithValue(t, "bug", func() {
		_, _ = interruptible(context.Background(), func() (int, error) { panic("bug") })
	})
}

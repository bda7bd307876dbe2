package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/licenses"
)

// The texts reach whoever has the program, those of the C libraries in builds that have them.
func TestLicenses(t *testing.T) {
	text := conetune(t, "licenses").ok(t)
	require.Equal(t, licenses.Text(), text)
	for _, words := range []string{"=== conetune\n", "Apache License", "=== Go, runtime", "=== gonum.org/v1/gonum v", "The Gonum Authors"} {
		require.Contains(t, text, words)
	}
	for name, words := range map[string]string{"scs": "=== C library: SCS\n", "osqp": "=== C library: OSQP\n", "clarabel": "=== C library: Clarabel\n", "highs": "=== C library: HiGHS\n"} {
		require.Equal(t, backends.Missing(name) == "", strings.Contains(text, words), name)
	}
	if backends.Missing("clarabel") == "" {
		require.Contains(t, text, "=== C library: OpenBLAS\n")
	}
	require.Equal(t, conetune(t, "--version").ok(t), conetune(t, "version").ok(t))
	require.Equal(t, cli.ExitUsage, conetune(t, "licenses", "x").code)
}

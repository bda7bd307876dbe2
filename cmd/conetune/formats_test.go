package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Workbooks, Parquet and Arrow files are tuned and predicted as the same table in CSV, also from standard input.
func TestFormatsOfTables(t *testing.T) {
	dir := t.TempDir()
	testdata := func(name string) string { return filepath.Join("..", "..", "table", "testdata", name) }
	model := filepath.Join(dir, "m.json")
	tune := func(data string, more ...string) []string {
		return append([]string{"tune", "ridge", "--data", data, "--target", "y", "--drop", "member", "--json"}, more...)
	}
	want := conetune(t, tune(testdata("mixed.csv"), "--save", model)...).object(t)["refit"]
	predicted := conetune(t, "predict", "--model", model, "--data", testdata("mixed.csv")).ok(t)
	require.Equal(t, 40, strings.Count(predicted, "\n"))
	for _, name := range []string{"mixed.xlsx", "mixed.arrow", "mixed-lz4.feather", "mixed.parquet"} {
		require.Equal(t, want, conetune(t, tune(testdata(name))...).object(t)["refit"], name)
		require.Equal(t, predicted, conetune(t, "predict", "--model", model, "--data", testdata(name)).ok(t), name)
	}
	ids := conetune(t, "predict", "--model", model, "--data", testdata("mixed.xlsx"), "--sheet", "data", "--id", "zip").ok(t)
	require.Contains(t, ids, "\n02692,")
	o := conetune(t, tune(testdata("mixed.xlsx"), "--sheet", "third")...)
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, `has no sheet "third"; there are: "data", "other"`)
	o = conetune(t, tune(testdata("mixed.csv"), "--sheet", "third")...)
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, "is no workbook")
	text, err := os.ReadFile(testdata("mixed.xlsx"))
	require.NoError(t, err)
	broken := write(t, dir, "broken.xlsx", string(text[:len(text)-200]))
	o = conetune(t, tune(broken)...)
	require.NotZero(t, o.code)
	require.Equal(t, 1, strings.Count(o.stderr, broken), o.stderr)
}

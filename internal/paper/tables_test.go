package paper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

// An item gives what the library gives with the same data and settings.
func TestExecute(t *testing.T) {
	c, err := dataset.Preset("100-20-250-p250")
	require.NoError(t, err)
	split, _, err := dataset.Generate(c, 5)
	require.NoError(t, err)
	m, err := regression.ElasticNet(split, regression.Options{})
	require.NoError(t, err)
	for method, config := range map[string]tune.Config{
		"vf-idca":   {Preset: tune.PresetPaper},
		"igjo":      {Method: "igjo", Preset: tune.PresetPaper},
		OurDefaults: {},
	} {
		want, err := tune.Run(context.Background(), m, config)
		require.NoError(t, err)
		got, err := Execute(context.Background(), Item{Table: "en", Row: "100-20-250-p250", Method: method, Backend: "native", Seed: 5}, nil)
		require.NoError(t, err)
		require.Equal(t, want.Validation, *got.Iterate.Validation)
		require.Equal(t, *want.Errors.Test, *got.Iterate.Test)
		require.Equal(t, want.LowerLevel.Validation, *got.Refit.Validation)
		require.Equal(t, *want.LowerLevel.Test, *got.Refit.Test)
		require.Equal(t, want.Lambda, got.Hyperparameters)
		require.Equal(t, want.Iterations, got.Iterations)
		require.Equal(t, 2, got.Dimension)
		if method == OurDefaults {
			require.Equal(t, *want.Refit.Test, *got.Deployed) // trained on validation rows, too
			require.NotEqual(t, *got.Refit.Test, *got.Deployed)
		} else {
			require.Nil(t, got.Deployed)
		}
		if method == "igjo" {
			require.Equal(t, got.Iterate, got.Refit)
		}
	}
}

// The sizes of the paper's tables.
func TestShapes(t *testing.T) {
	row := func(table, name string) Row {
		tab, err := FindTable(table)
		require.NoError(t, err)
		r, err := tab.row(name)
		require.NoError(t, err)
		return r
	}
	dimension := func(r Row, method string, file *dataset.Data) int {
		make, err := r.data(file, 1)
		require.NoError(t, err)
		model, err := make()
		require.NoError(t, err)
		m, err := FindMethod(method)
		require.NoError(t, err)
		n, err := m.dimension(model)
		require.NoError(t, err)
		return n
	}
	for _, c := range []struct {
		table, row, method string
		want               int
	}{
		{"en", "100-100-250-p250", "tpe", 2},
		{"sgl", "100-100-100-p600-m30", "grid", 2}, {"sgl", "100-100-100-p600-m30", "random", 31}, {"sgl", "100-100-100-p600-m300", "vf-idca", 301},
		{"mc", "60-60", "grid", 2}, {"mc", "60-60", "vf-idca", 25},
	} {
		require.Equal(t, c.want, dimension(row(c.table, c.row), c.method, nil), c)
	}

	// liver-disorders has 145 rows and 5 features, of which 72 make 3 or 6 folds of 24 or 12.
	var b strings.Builder
	for i := range 145 {
		fmt.Fprintf(&b, "%d 1:%d 5:1\n", i%2, i%7)
	}
	path := filepath.Join(t.TempDir(), "liver-disorders_scale")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	file, err := input.ReadFile(path, "")
	require.NoError(t, err)
	for _, table := range []string{"svm3", "svm6"} {
		r := row(table, "liver-disorders")
		require.Equal(t, 2, dimension(r, "grid", file))
		require.Equal(t, 2, dimension(r, "tpe2", file))
		require.Equal(t, 6, dimension(r, "tpe", file))
		require.Equal(t, 6, dimension(r, "vf-idca-t", file))
	}
}

// On real data the paper's searches look further, and IFDM stops earlier.
func TestSettingsOnRealData(t *testing.T) {
	table, err := FindTable("en-real")
	require.NoError(t, err)
	r, err := table.row("duke")
	require.NoError(t, err)
	for name, want := range map[string]tune.Config{
		"grid":      {Ranges: []tune.Range{{Low: 1e-5, High: 1e2}}},
		"ifdm":      {MaxIter: 10},
		"vf-idca":   {},
		OurDefaults: {},
	} {
		m, err := FindMethod(name)
		require.NoError(t, err)
		c := m.config(Item{}, r)
		require.Equal(t, want.Ranges, c.Ranges)
		require.Equal(t, want.MaxIter, c.MaxIter)
	}
}

package paper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/internal/worklist"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/regression"
	"github.com/conetune/conetune/table/input"
	"github.com/conetune/conetune/tune"
)

func TestPlan(t *testing.T) {
	p := must.Of(NewPlan(nil, nil, nil, 30, nil))(t)
	require.Len(t, p.Skipped, 3+6+6)
	require.Contains(t, p.Skipped[0].Reason, "--data DIR")
	items := p.Items()
	seen := map[Item]bool{}
	for k, i := range items {
		require.False(t, seen[i], i.String())
		seen[i] = true
		if k > 0 {
			require.GreaterOrEqual(t, i.Seed, items[k-1].Seed)
		}
	}
	require.Zero(t, len(items)%30)

	two := must.Of(NewPlan([]string{"en"}, []string{"igjo", "vf-idca"}, []string{"native"}, 2, nil))(t)
	two.Backends = []string{"native", "scs"}
	// IGJO solves no conic programs: 3 rows, 2 seeds, 1 + 2 lines.
	require.Len(t, two.Items(), 3*2*3)

	_, err := NewPlan([]string{"svm3"}, nil, nil, 1, nil)
	require.ErrorContains(t, err, "nothing to do: needs the file liver-disorders_scale")
	_, err = NewPlan([]string{"en"}, []string{"tpe2"}, nil, 1, nil)
	require.ErrorContains(t, err, "nothing to do: none of the methods tpe2 is in the tables en")
}

func TestOnly(t *testing.T) {
	all := must.Of(NewPlan([]string{"en", "sgl"}, nil, nil, 2, nil))(t)
	p := must.Of(all.Only([]string{"100-20-250-p250", "100-100-100-p600-m300"}))(t)
	require.Len(t, p.Skipped, 4)
	require.Empty(t, all.Skipped)
	require.Len(t, p.Items(), 2*(8+8))
	_, err := all.Only([]string{"w1a"})
	require.ErrorContains(t, err, `unknown row "w1a"; known in these tables are: 100-20-250-p250, `)
	machines := must.Of(NewPlan([]string{"en", "svm3"}, nil, nil, 2, nil))(t)
	_, err = machines.Only([]string{"w1a"})
	require.ErrorContains(t, err, "nothing to do: needs the file")
}

func TestShards(t *testing.T) {
	p := must.Of(NewPlan([]string{"en", "sgl"}, nil, nil, 7, nil))(t)
	items := p.Items()
	for _, n := range []int{1, 2, 3, 8} {
		owner := map[Item]int{}
		lines := map[[2]string]map[int]int{}
		for i := 1; i <= n; i++ {
			part := experiments.Of(worklist.Shard{Index: i, Count: n}, items)
			require.InDelta(t, float64(len(items))/float64(n), len(part), 0.1*float64(len(items)))
			for _, it := range part {
				require.Zero(t, owner[it], "in two shards")
				owner[it] = i
				key := [2]string{it.Table, it.Method}
				if lines[key] == nil {
					lines[key] = map[int]int{}
				}
				lines[key][i]++
			}
		}
		require.Len(t, owner, len(items))
		// 3 rows of 7 seeds make 21 items of a method in a table, which all shards share.
		for key, shares := range lines {
			require.Len(t, shares, n, key)
		}
	}
}

// The figures that the paper's text and tables are quoted with most often.
func TestPaper(t *testing.T) {
	require.Len(t, published(), 128)
	for _, c := range []struct {
		table, row, method  string
		seconds, validation float64
		test                Figure
	}{
		{"en", "100-20-250-p250", "vf-idca", 0.91, 1.95, Figure{3.99, 0.69}},
		{"en", "100-100-100-p2500", "ifdm", 4.38, 7.97, Figure{8.53, 1.53}},
		{"sgl", "100-100-100-p600-m300", "vf-idca", 56.73, 19.61, Figure{33.55, 4.71}},
		{"mc", "60-60", "igjo", 1268.65, 0.68, Figure{0.72, 0.18}},
		{"en-real", "sensit", "grid", 1.26, 1.30, Figure{1.31, 0.48}},
		{"svm3", "w1a", "vf-idca-t", 4.87, 0.01, Figure{0.02, 0}},
		{"svm6", "a1a", "tpe2", 161.68, 0.40, Figure{0.24, 0.02}},
	} {
		f, ok := Paper(c.table, c.row, c.method)
		require.True(t, ok)
		require.Equal(t, c.seconds, f.Seconds.Mean)
		require.Equal(t, c.validation, f.Validation.Mean)
		require.Equal(t, c.test, f.Test)
	}
	_, ok := Paper("en", "100-20-250-p250", OurDefaults)
	require.False(t, ok)
	// Every figure has a line in one of our tables, apart from tables that are not there.
	for _, table := range Tables() {
		n := 0
		for c := range published() {
			if c[0] != table.Name {
				continue
			}
			n++
			must.Of(table.row(c[1]))(t)
			require.Contains(t, table.Methods, c[2])
		}
		require.NotZero(t, n, table.Name)
	}
}

// An item gives what the library gives with the same data and settings.
func TestExecute(t *testing.T) {
	c := must.Of(dataset.Preset("100-20-250-p250"))(t)
	split := must.First(dataset.Generate(c, 5))(t)
	m := must.Of(regression.ElasticNet(split, regression.Options{}))(t)
	for method, config := range map[string]tune.Config{
		"vf-idca":   {Preset: tune.PresetPaper},
		"igjo":      {Method: "igjo", Preset: tune.PresetPaper},
		OurDefaults: {},
	} {
		want := must.Of(tune.Run(context.Background(), m, config))(t)
		got, err := Execute(context.Background(), Item{Table: "en", Row: "100-20-250-p250", Method: method, Backend: "native",
			Seed: 5}, nil)
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
		tab := must.Of(FindTable(table))(t)
		return must.Of(tab.row(name))(t)
	}
	dimension := func(r Row, method string, file *dataset.Data) int {
		make := must.Of(r.data(file, 1))(t)
		model := must.Of(make())(t)
		m := must.Of(FindMethod(method))(t)
		return must.Of(m.dimension(model))(t)
	}
	for _, c := range []struct {
		table, row, method string
		want               int
	}{
		{"en", "100-100-250-p250", "tpe", 2},
		{"sgl", "100-100-100-p600-m30", "grid", 2}, {"sgl", "100-100-100-p600-m30", "random", 31},
		{"sgl", "100-100-100-p600-m300", "vf-idca", 301},
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
	file := must.Of(input.ReadFile(path, ""))(t)
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
	table := must.Of(FindTable("en-real"))(t)
	r := must.Of(table.row("duke"))(t)
	for name, want := range map[string]tune.Config{
		"grid":      {Ranges: []tune.Range{{Low: 1e-5, High: 1e2}}},
		"ifdm":      {MaxIter: 10},
		"vf-idca":   {},
		OurDefaults: {},
	} {
		m := must.Of(FindMethod(name))(t)
		c := m.config(Item{}, r)
		require.Equal(t, want.Ranges, c.Ranges)
		require.Equal(t, want.MaxIter, c.MaxIter)
	}
}

// BenchmarkItem does the first seed of every line of the tables with drawn data, and reports the errors of the refit
// beside the time.
func BenchmarkItem(b *testing.B) {
	p := must.Of(NewPlan(nil, nil, nil, 1, nil))(b)
	for _, i := range p.Items() {
		b.Run(fmt.Sprintf("table=%s/row=%s/method=%s/backend=%s", i.Table, i.Row, i.Method, i.Backend), func(b *testing.B) {
			var r *Record
			for b.Loop() {
				r = must.Of(Execute(context.Background(), i, nil))(b)
				require.NotEqual(b, failed, r.Status, r.Message)
			}
			if r.Refit.Validation != nil && r.Refit.Test != nil {
				b.ReportMetric(*r.Refit.Validation, "validation-of-refit")
				b.ReportMetric(*r.Refit.Test, "test-of-refit")
			}
			b.ReportMetric(float64(r.Iterations), "iterations")
		})
	}
}

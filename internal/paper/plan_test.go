package paper

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/worklist"
)

func TestPlan(t *testing.T) {
	p, err := NewPlan(nil, nil, nil, 30, nil)
	require.NoError(t, err)
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

	two, err := NewPlan([]string{"en"}, []string{"igjo", "vf-idca"}, []string{"native"}, 2, nil)
	require.NoError(t, err)
	two.Backends = []string{"native", "scs"}
	// IGJO solves no conic programs: 3 rows, 2 seeds, 1 + 2 lines.
	require.Len(t, two.Items(), 3*2*3)

	for _, bad := range []struct {
		tables, methods, backends []string
		repeats                   int
		want                      string
	}{
		{[]string{"nmr"}, nil, nil, 1, `unknown table "nmr"; known are: en`},
		{nil, []string{"bayes"}, nil, 1, `unknown method "bayes"; known are: grid`},
		{nil, nil, []string{"gurobi"}, 1, "gurobi"},
		{nil, nil, nil, 0, "0 repeats"},
		{[]string{"en", "en"}, nil, nil, 1, "table en is named twice"},
		{[]string{"svm3"}, nil, nil, 1, "nothing to do: needs the file liver-disorders_scale"},
		{[]string{"en"}, []string{"tpe2"}, nil, 1, "nothing to do: none of the methods tpe2 is in the tables en"},
	} {
		_, err := NewPlan(bad.tables, bad.methods, bad.backends, bad.repeats, nil)
		require.ErrorContains(t, err, bad.want)
	}
}

func TestOnly(t *testing.T) {
	all, err := NewPlan([]string{"en", "sgl"}, nil, nil, 2, nil)
	require.NoError(t, err)
	p, err := all.Only([]string{"100-20-250-p250", "100-100-100-p600-m300"})
	require.NoError(t, err)
	require.Len(t, p.Skipped, 4)
	require.Empty(t, all.Skipped)
	require.Len(t, p.Items(), 2*(8+8))
	_, err = all.Only([]string{"w1a"})
	require.ErrorContains(t, err, `unknown row "w1a"; known in these tables are: 100-20-250-p250, `)
	machines, err := NewPlan([]string{"en", "svm3"}, nil, nil, 2, nil)
	require.NoError(t, err)
	_, err = machines.Only([]string{"w1a"})
	require.ErrorContains(t, err, "nothing to do: needs the file")
}

func TestShards(t *testing.T) {
	p, err := NewPlan([]string{"en", "sgl"}, nil, nil, 7, nil)
	require.NoError(t, err)
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
			_, err := table.row(c[1])
			require.NoError(t, err)
			require.Contains(t, table.Methods, c[2])
		}
		require.NotZero(t, n, table.Name)
	}
}

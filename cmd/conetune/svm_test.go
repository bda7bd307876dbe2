package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli/clitest"
)

// labelled makes a table of two labels, 2 and 4, that the first two of p features tell apart but for some rows.
func labelled(seed uint64, n, p int) string {
	random := rand.New(rand.NewPCG(seed, 8))
	var b strings.Builder
	b.WriteString("y")
	for j := range p {
		fmt.Fprintf(&b, ",f%d", j+1)
	}
	b.WriteString("\n")
	for range n {
		x := make([]float64, p)
		for j := range x {
			x[j] = random.NormFloat64()
		}
		label := 2
		if x[0]+x[1]+0.3*random.NormFloat64() > 0 {
			label = 4
		}
		b.WriteString(strconv.Itoa(label))
		for _, v := range x {
			fmt.Fprintf(&b, ",%.6g", v)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestTuneSVM(t *testing.T) {
	dir := t.TempDir()
	table, fresh := labelled(1, 80, 5), labelled(2, 60, 5)
	data, test := clitest.Write(t, dir, "table.csv", table), clitest.Write(t, dir, "test.csv", fresh)
	folder := foldsDir(t, table, 2)
	clitest.Write(t, folder, "test.csv", fresh)
	for name, args := range map[string][]string{
		"data":    {"--data", data, "--folds", "3", "--split", "0.75/rest"},
		"tested":  {"--data", data, "--test", test, "--class-weights", "balanced"},
		"split":   {"--data", data, "--split", "60/rest", "--class-weights", "1,2", "--max-iter", "5"},
		"folder":  {"--dir", folder},
		"paper":   {"--dir", folder, "--preset", "paper", "--tol", "0.1"},
		"closing": {"--dir", folder, "--gap-tol", "1e-3"},
	} {
		t.Run(name, func(t *testing.T) {
			o := conetune(t, append([]string{"tune", "svm", "--json"}, args...)...)
			m := o.object(t)
			for _, field := range documented {
				require.Contains(t, keys(m), field)
			}
			require.Len(t, m["hyperparameters"], 6)
			require.Len(t, m["radii"], 1)
			require.Contains(t, m["hyperparameters"], "lambda")
			require.Contains(t, m["hyperparameters"], "wbar_f5")
			require.Less(t, m["test_error"], 0.25, o.stdout)
			require.Equal(t, m["test_error"], m["refit"].(map[string]any)["test_error"])
		})
	}
}

package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/cli/clitest"
)

// ratings are some entries u_i v_j + 3 + noise of a matrix of 15 x 12, one for each of its places in turn.
func ratings(seed uint64, from, to int) string {
	r := rand.New(rand.NewPCG(seed, 5))
	var b strings.Builder
	b.WriteString("col,value,row\n")
	for k, e := range rand.New(rand.NewPCG(7, 7)).Perm(15 * 12) {
		i, j := e/12, e%12
		value := 3 + float64(i-7)*float64(j-5)/10 + .1*r.NormFloat64()
		if from <= k && k < to {
			fmt.Fprintf(&b, "%d,%v,%d\n", j, value, i)
		}
	}
	return b.String()
}

func TestTuneMatrix(t *testing.T) {
	dir := t.TempDir()
	data, test := clitest.Write(t, dir, "entries.csv", ratings(1, 0, 120)), clitest.Write(t, dir, "test.csv", ratings(2, 120, 180))
	features := "a,b\n"
	for i := range 15 {
		features += fmt.Sprintf("%d,%d\n", i, (i*i)%5)
	}
	rows := clitest.Write(t, dir, "rows.csv", features)
	folder := filepath.Join("..", "..", "problems", "matcomp", "testdata", "small")
	for name, c := range map[string]struct {
		args   []string
		radii  int
		atMost float64
	}{
		"data":     {[]string{"--data", data, "--split", "80/20/rest"}, 1, 0.1},
		"tested":   {[]string{"--data", data, "--test", test, "--row-features", rows}, 3, 0.1},
		"grouped":  {[]string{"--data", data, "--test", test, "--row-features", rows, "--groups", "1"}, 2, 0.1},
		"plain":    {[]string{"--data", data, "--test", test, "--standardize=false", "--intercept=false"}, 1, 1},
		"folder":   {[]string{"--dir", folder}, 5, 1},
		"paper":    {[]string{"--dir", folder, "--preset", "paper"}, 5, 1},
		"closing":  {[]string{"--dir", folder, "--gap-tol", "1e-3"}, 5, 1},
		"searched": {[]string{"--dir", folder, "--method", "random", "--evaluations", "5"}, 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := conetune(t, append([]string{"tune", "matrix-completion", "--json"}, c.args...)...)
			m := o.object(t)
			for _, field := range documented {
				require.Contains(t, keys(m), field)
			}
			require.Contains(t, m["hyperparameters"], "nuclear")
			require.Len(t, m["hyperparameters"], c.radii)
			require.Less(t, m["refit"].(map[string]any)["test_error"], c.atMost, o.stdout)
		})
	}
}

// What predict writes has the error that tune told.
func TestPredictMatrix(t *testing.T) {
	dir := t.TempDir()
	data, test := clitest.Write(t, dir, "entries.csv", ratings(1, 0, 120)), clitest.Write(t, dir, "test.csv", ratings(2, 120, 180))
	model, plot := filepath.Join(dir, "m.json"), filepath.Join(dir, "f.svg")
	o := conetune(t, "tune", "matrix-completion", "--data", data, "--test", test, "--save", model, "--plot", plot)
	text := o.ok(t)
	for _, words := range []string{"matrix of 15 x 12", "60 test entries", "singular values", "with intercept"} {
		require.Contains(t, text, words)
	}
	require.FileExists(t, plot)

	whole := conetune(t, "predict", "--model", model)
	lines, err := csv.NewReader(strings.NewReader(whole.ok(t))).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 15)
	require.Len(t, lines[0], 12)
	some := conetune(t, "predict", "--model", model, "--data", test)
	values := strings.Fields(some.ok(t))
	require.Len(t, values, 60)
	entries, err := csv.NewReader(strings.NewReader(ratings(2, 120, 180))).ReadAll()
	require.NoError(t, err)
	sum := 0.0
	for k, e := range entries[1:] {
		i, _ := strconv.Atoi(e[2])
		j, _ := strconv.Atoi(e[0])
		require.Equal(t, lines[i][j], values[k])
		got, err := strconv.ParseFloat(values[k], 64)
		require.NoError(t, err)
		want, err := strconv.ParseFloat(e[1], 64)
		require.NoError(t, err)
		sum += math.Pow(got-want, 2) / 120
	}
	require.Contains(t, some.stderr, fmt.Sprintf("%.6g", sum)+" on 60 rows")

	bad := clitest.Write(t, dir, "bad.csv", "row,col\n0,0\n3,12\n")
	o = conetune(t, "predict", "--model", model, "--data", bad)
	require.Equal(t, cli.ExitUsage, o.code)
	require.Contains(t, o.stderr, "entry 2 is (3, 12), expected whole numbers from (0, 0) to (14, 11)")
}

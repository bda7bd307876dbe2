package batch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// flags knows the flags of the tests.
func flags(name string) error {
	switch name {
	case "data", "target", "method", "seed", "folds":
		return nil
	}
	return errors.New(name + " is unknown")
}

func TestDecodeJobs(t *testing.T) {
	text := "\ufeffjob, --data,target,model,seed\na,t1.csv,y,ridge,\nb,t2.csv,\"price, in $\",,3\n"
	p, err := decodeJobs(strings.NewReader(text), map[string]string{"model": "lasso", "seed": "7", "folds": "5"}, flags)
	require.NoError(t, err)
	require.Equal(t, Plan{[]Job{
		{"a", map[string]string{"data": "t1.csv", "target": "y", "model": "ridge", "seed": "7", "folds": "5"}},
		{"b", map[string]string{"data": "t2.csv", "target": "price, in $", "model": "lasso", "seed": "3", "folds": "5"}},
	}}, p)
	require.Equal(t, []string{"lasso", "--data=t2.csv", "--folds=5", "--seed=3", "--target=price, in $"}, p.Jobs[1].Args())

	p, err = decodeJobs(strings.NewReader("data\nx\ny\n"), map[string]string{"model": "lasso"}, flags)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, p.items())
}

func TestDecodeJobsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "it is empty",
		"model,data\n":                    "there are no jobs",
		"model,data,tarrget\nlasso,x,y\n": "line 1, column 3: tarrget is unknown",
		"model,data,data\nlasso,x,y\n":    "line 1: the column data is there twice",
		"model,data\nlasso\n":             "line 2: expected 2 cells, as many as there are names, found 1",
		"model;data\nlasso;x\n":           `line 1: "model;data" found, expected names with commas between them`,
		"data\nx\n":                       "line 2: job 1 has no model: give a column model, or --model NAME for all",
		"job,model\n,lasso\n":             "line 2: the job has no name",
		"job,model\na,lasso\nA,lasso\n":   "line 3: job a and job A: names must differ",
		"job,model\na/b,lasso\n":          `job "a/b": expected a name that can be that of a file`,
		"job,model\n.a,lasso\n":           `job ".a": expected a name`,
		"job,model\n../a,lasso\n":         `job "../a": expected a name`,
		"job,model\n" + strings.Repeat("a", 121) + ",lasso\n": "at most 120 bytes",
	} {
		_, err := decodeJobs(strings.NewReader(text), nil, flags)
		require.ErrorContains(t, err, want, text)
	}
	_, err := ReadJobs("no-such.csv", nil, flags)
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	_, err = ReadJobs(path, nil, flags)
	require.ErrorContains(t, err, "jobs.csv: it is empty")
}

// Jobs of files have their names, without endings; two of one name have their paths.
func TestOfFiles(t *testing.T) {
	p, err := OfFiles([]string{"t/a.csv", "t/b c.csv.gz", "t/v1.2.parquet", "u/A.csv", "noending"}, map[string]string{"model": "ridge", "data": "other"})
	require.NoError(t, err)
	require.Equal(t, []string{"t-a", "b-c", "v1.2", "u-A", "noending"}, p.items())
	require.Equal(t, map[string]string{"model": "ridge", "data": "t/b c.csv.gz"}, p.Jobs[1].Settings)
	_, err = OfFiles(nil, nil)
	require.ErrorContains(t, err, "there are no jobs")
}

func TestDifference(t *testing.T) {
	plan := func(id, seed string) Plan { return Plan{[]Job{{id, map[string]string{"seed": seed}}}} }
	require.Equal(t, "1 jobs and 0", difference(plan("a", "1"), Plan{}))
	require.Equal(t, "job 1 is a and b", difference(plan("a", "1"), plan("b", "1")))
	require.Equal(t, `job a has seed "1" and "2"`, difference(plan("a", "1"), plan("a", "2")))
}

package batch

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// Of several methods the one with the least validation error counts; one without a model never does.
func TestDecodeTold(t *testing.T) {
	one := func(method, validation string) string {
		return fmt.Sprintf(
			`{"method":%q,"status":"converged","refit":{"validation_error":%s,"test_error":2},"hyperparameters":{"lambda":0.5,"none":null},"coefficients":{"a":1,"b":{"t":2}}}`, method, validation)
	}
	list := "[" + `{"method":"x","refit":null},` + one("grid", "3") + "," + one("tpe", "1") + "," + one("igjo", "null") +
		"]\n"
	found, err := decodeTold([]byte(list))
	require.NoError(t, err)
	require.Equal(t, "tpe", found.Method)
	var r Record
	r.fill(found)
	require.Equal(t, 1.0, *r.Validation)
	require.Equal(t, 2.0, *r.Test)
	require.Equal(t, 2, *r.Features)
	require.Equal(t, map[string]float64{"lambda": 0.5}, r.Hyperparameters)
	found = must.Of(decodeTold([]byte(one("grid", "3"))))(t)
	require.Equal(t, "grid", found.Method)
	for _, bad := range []string{"", "panic: x", "{"} {
		_, err = decodeTold([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestSaid(t *testing.T) {
	require.Equal(t, "no such file; see there",
		said("t.csv: 3 findings\nconetune: no such file\r\nwarning: x\nconetune: see there\n"))
	long := said("conetune: " + strings.Repeat("ä", 3000) + "\n")
	require.Less(t, len(long), mostMessage+4)
	require.True(t, strings.HasSuffix(long, "ä .."))
}

// Only times and versions may differ between two records of a job; a record of a job that failed gives way.
func TestSame(t *testing.T) {
	v := 1.5
	a := Record{Job: "a", Status: "converged", Validation: &v, Metrics: map[string]Metric{}}
	b := a
	b.Seconds, b.CPU, b.Version, b.Metrics = 3, 2, "2", nil
	require.True(t, same(&a, &b))
	w := 1.6
	b.Validation = &w
	require.False(t, same(&a, &b))
	b.Status = Failed
	require.True(t, jobs.Replaces(&a, &b))
	require.False(t, jobs.Replaces(&b, &a))
}

// The summary has the columns that the records need, and no times.
func TestSummary(t *testing.T) {
	v, n := 0.25, 3
	records := []Record{
		{Job: "a", Settings: map[string]string{"model": "lasso", "data": "x.csv", "seed": "1"}, Status: "converged",
			Validation: &v, Features: &n,
			Metrics: map[string]Metric{"r2": {Value: &v}}, Hyperparameters: map[string]float64{"lambda": 1e-3}, Seconds: 1.5},
		{Job: "b", Settings: map[string]string{"model": "svm", "target": "y"}, Status: Failed, Message: "no such file",
			Seconds: 2.5},
	}
	dir := t.TempDir()
	require.NoError(t, WriteSummary(dir, records))
	read := func(name string) [][]string {
		f := must.Of(os.Open(filepath.Join(dir, name)))(t)
		defer f.Close()
		return must.Of(csv.NewReader(f).ReadAll())(t)
	}
	require.Equal(t, [][]string{
		{"job", "model", "data", "target", "seed", "status", "chosen_method", "validation_error", "test_error", "measured_on",
			"r2", "r2_standard_error", "features_used", "lambda", "message"},
		{"a", "lasso", "x.csv", "", "1", "converged", "", "0.25", "", "", "0.25", "", "3", "0.001", ""},
		{"b", "svm", "", "y", "", "failed", "", "", "", "", "", "", "", "", "no such file"},
	}, read(SummaryFile))
	require.Equal(t, [][]string{{"job", "seconds", "cpu_seconds"}, {"a", "1.5", "0"}, {"b", "2.5", "0"}}, read(TimesFile))

	for k := range 20 {
		if records[0].Hyperparameters[fmt.Sprint("l", k)] = 1; k > mostLambda {
			_, _, lambda := columnsOf(records)
			require.Empty(t, lambda)
		}
	}
	text := Describe(&Outcome{Records: records, Missing: 2})
	require.Contains(t, text, "4 jobs: 1 converged, 1 failed, 2 not done yet\nb: no such file\n")
	require.Equal(t, 1, Failures(&Outcome{Records: records}))
	var many []Record
	for range 30 {
		many = append(many, records[1])
	}
	text = Describe(&Outcome{Records: many})
	require.Contains(t, text, "and 10 more, see summary.csv")
	require.Contains(t, text, "and 20 more that failed, see summary.csv")
}

// Data are known by their content: that of a file, and of all files of a folder.
func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	require.NoError(t, os.WriteFile(path, []byte("y\n1\n"), 0o666))
	sum := func(settings map[string]string) string { return new(checksums).of(&Job{Settings: settings}) }
	file, folder := sum(map[string]string{"data": path}), sum(map[string]string{"dir": dir})
	require.Len(t, file, 12)
	require.NotEqual(t, file, folder)
	require.NotEqual(t, file, sum(map[string]string{"train": path}))
	require.Equal(t, file, sum(map[string]string{"data": path, "target": "y"}))
	require.Len(t, sum(map[string]string{"data": path, "groups": "5"}), 12)
	require.Empty(t, sum(map[string]string{"data": path + "x"}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.csv"), nil, 0o666))
	require.NotEqual(t, folder, sum(map[string]string{"dir": dir}))
	require.Equal(t, file, sum(map[string]string{"data": path}))
	require.NoError(t, os.WriteFile(path, []byte("y\n2\n"), 0o666))
	require.NotEqual(t, file, sum(map[string]string{"data": path}))
}

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

	p = must.Of(decodeJobs(strings.NewReader("data\nx\ny\n"), map[string]string{"model": "lasso"}, flags))(t)
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
		_, err := decodeJobs(strings.NewReader(text), map[string]string{}, flags)
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
	p := must.Of(OfFiles([]string{"t/a.csv", "t/b c.csv.gz", "t/v1.2.parquet", "u/A.csv", "noending"},
		map[string]string{"model": "ridge", "data": "other"}))(t)
	require.Equal(t, []string{"t-a", "b-c", "v1.2", "u-A", "noending"}, p.items())
	require.Equal(t, map[string]string{"model": "ridge", "data": "t/b c.csv.gz"}, p.Jobs[1].Settings)
	_, err := OfFiles(nil, nil)
	require.ErrorContains(t, err, "there are no jobs")
}

func TestDifference(t *testing.T) {
	plan := func(id, seed string) Plan { return Plan{[]Job{{id, map[string]string{"seed": seed}}}} }
	require.Equal(t, "1 jobs and 0", difference(plan("a", "1"), Plan{}))
	require.Equal(t, "job 1 is a and b", difference(plan("a", "1"), plan("b", "1")))
	require.Equal(t, `job a has seed "1" and "2"`, difference(plan("a", "1"), plan("a", "2")))
}

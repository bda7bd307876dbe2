package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/conetune/conetune/bench/internal/child"
	"github.com/conetune/conetune/internal/atomicfile"
)

// job is what is run on a table.
type job struct{ model, method string }

// labels says that the target is one of two labels.
func (j job) labels() bool { return j.model == "logistic" }

// run is a line of the CSV file.
type run struct {
	sweep string
	job
	rows, features, nonzeros int
	seconds                  float64 // of the processor
	megabytes                float64 // the largest resident set, 0 where it is not known
	status                   string
	test                     float64
}

const header = "sweep,model,method,rows,features,nonzeros,cpu_seconds,peak_mb,status,test_error"

func (r run) line() string {
	return fmt.Sprintf("%s,%s,%s,%d,%d,%d,%.3g,%.4g,%s,%.6g", r.sweep, r.model, r.method, r.rows, r.features, r.nonzeros, r.seconds, r.megabytes, r.status, r.test)
}

// known says whether a run was made.
func known(runs []run, s sweep, t table, j job) bool {
	for _, r := range runs {
		if r.sweep == s.name && r.job == j && r.rows == t.rows && r.features == t.features {
			return true
		}
	}
	return false
}

// run makes one.
func (m *measurement) run(s sweep, t table, j job, dir string) (run, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.program, "tune", j.model, "--method", j.method, "--json", "--train", filepath.Join(dir, "train.svm"),
		"--val", filepath.Join(dir, "val.svm"), "--test", filepath.Join(dir, "test.svm"))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return run{}, ctx.Err()
	}
	var answer struct {
		Status string `json:"status"`
		Refit  struct {
			Test float64 `json:"test_error"`
		} `json:"refit"`
	}
	if unreadable := json.Unmarshal(stdout.Bytes(), &answer); unreadable != nil {
		return run{}, fmt.Errorf("%s on %d rows and %d features: %w: %s", j.model, t.rows, t.features, errors.Join(err, unreadable), strings.TrimSpace(stderr.String()))
	}
	state := cmd.ProcessState
	return run{
		sweep: s.name, job: j, rows: t.rows, features: t.features, nonzeros: t.nonzeros(),
		seconds: child.CPU(state), megabytes: child.Peak(state) / 1e6, status: answer.Status, test: answer.Refit.Test,
	}, nil
}

// read reads the CSV file, which need not be there.
func read(path string) (runs []run, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for k, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if k == 0 {
			continue // the header
		}
		var r run
		words := strings.NewReplacer(",", " ").Replace(line)
		if _, err := fmt.Sscan(words, &r.sweep, &r.model, &r.method, &r.rows, &r.features, &r.nonzeros, &r.seconds, &r.megabytes, &r.status, &r.test); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, k+1, err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// write writes it.
func write(path string, runs []run) error {
	var text strings.Builder
	text.WriteString(header + "\n")
	for _, r := range runs {
		text.WriteString(r.line() + "\n")
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text.String())
		return err
	})
}

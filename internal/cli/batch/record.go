package batch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/internal/worklist"
)

// Schema is the version of the form of [Record] and of the manifest.
const Schema = 1

// The statuses of a record beside those of package dca.
const (
	// Failed is a job without a result: Message says why.
	Failed = "failed"
	// OutOfMemory is a job that needed more than its share; what it had reached is in the record.
	OutOfMemory = "out_of_memory"
)

// Record is what became of a job, one line of results.jsonl. Fields without a value are left out; errors are means of
// the loss of the model, as conetune tune --json has them.
type Record struct {
	Schema  int    `json:"schema"`
	Job     string `json:"job"`
	Version string `json:"version"` // of the program
	// Settings are those of the [Job]; Data is the beginning of the SHA-256 of its files.
	Settings map[string]string `json:"settings"`
	Data     string            `json:"data,omitempty"`
	// Status is that of the tune, or [Failed] or [OutOfMemory]; ExitStatus that of its process.
	Status     string `json:"status"`
	Message    string `json:"message,omitempty"`
	ExitStatus int    `json:"exit_status"`
	// Seconds is the wall time of the job, from the start of its process to its end, CPU the processor time that it took.
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"`
	// The following is of the model to use; with several methods, of the one with the least validation error.
	Method          string             `json:"method,omitempty"`
	Validation      *float64           `json:"validation_error,omitempty"`
	Test            *float64           `json:"test_error,omitempty"`
	TrainedOn       string             `json:"trained_on,omitempty"`
	MetricsOn       string             `json:"metrics_on,omitempty"`
	Metrics         map[string]Metric  `json:"metrics,omitempty"`
	Hyperparameters map[string]float64 `json:"hyperparameters,omitempty"`
	// Features counts the features whose coefficients are not zero.
	Features *int `json:"features,omitempty"`
	// Findings counts what there was to say about the tables.
	Findings int `json:"findings,omitempty"`
}

// Metric is how good a model is by one measure.
type Metric struct {
	Value         *float64 `json:"value"`
	StandardError *float64 `json:"standard_error"`
	Baseline      *float64 `json:"baseline"`        // without features
	Plain         *float64 `json:"without_penalty"` // of the fit without one
}

// failed says that there is no answer of the asked quality.
func (r *Record) failed() bool { return r.Status == Failed || r.Status == OutOfMemory }

// jobs is what the runner must know of jobs.
var jobs = &worklist.Kind[string, Record, Plan]{
	Schema:  Schema,
	Folders: words.Each(Outputs, func(o Output) string { return o.Folder }),
	Items:   Plan.items,
	Head: func(r *Record) worklist.Head[string] {
		return worklist.Head[string]{Item: r.Job, Schema: r.Schema, Version: r.Version, Seconds: r.Seconds}
	},
	Same:       same,
	Replaces:   func(later, earlier *Record) bool { return earlier.failed() && !later.failed() },
	Difference: difference,
}

// same says whether two records of a job agree in all but times.
func same(a, b *Record) bool {
	text := func(r Record) []byte {
		r.Seconds, r.CPU, r.Version = 0, 0, ""
		out, err := json.Marshal(r)
		if err != nil {
			return nil
		}
		return out
	}
	x, y := text(*a), text(*b)
	return x != nil && bytes.Equal(x, y)
}

// told is the part of conetune tune --json that goes into records.
type told struct {
	Method  string `json:"method"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Refit   *struct {
		Validation *float64 `json:"validation_error"`
		Test       *float64 `json:"test_error"`
	} `json:"refit"`
	TrainedOn       string                     `json:"trained_on"`
	Hyperparameters map[string]*float64        `json:"hyperparameters"`
	Coefficients    map[string]json.RawMessage `json:"coefficients"`
	Findings        []json.RawMessage          `json:"findings"`
	MetricsOn       string                     `json:"metrics_on"`
	Metrics         map[string]Metric          `json:"metrics"`
}

// decodeTold reads the object of a tune, or of several methods the one whose refit has the least validation error.
func decodeTold(text []byte) (*told, error) {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] != '[' {
		t := new(told)
		return t, json.Unmarshal(text, t)
	}
	var list []told
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var best *told
	for k := range list {
		t := &list[k]
		if best == nil || t.validation() != nil && (best.validation() == nil || *t.validation() < *best.validation()) {
			best = t
		}
	}
	return best, nil
}

func (t *told) validation() *float64 {
	if t.Refit == nil {
		return nil
	}
	return t.Refit.Validation
}

// fill copies what was told.
func (r *Record) fill(t *told) {
	r.Method, r.Status, r.TrainedOn = t.Method, t.Status, t.TrainedOn
	r.Message = cmp.Or(t.Message, r.Message)
	if t.Refit != nil {
		r.Validation, r.Test = t.Refit.Validation, t.Refit.Test
	}
	r.MetricsOn, r.Metrics, r.Findings = t.MetricsOn, t.Metrics, len(t.Findings)
	for name, v := range t.Hyperparameters {
		if v != nil {
			if r.Hyperparameters == nil {
				r.Hyperparameters = map[string]float64{}
			}
			r.Hyperparameters[name] = *v
		}
	}
	if t.Coefficients != nil {
		n := len(t.Coefficients)
		r.Features = &n
	}
}

// dataFlags are the flags that name files or folders of data.
var dataFlags = []string{"data", "train", "val", "test", "dir", "row-features", "col-features", "groups"}

// checksums knows the content of files, each read once. It is safe for use by several goroutines.
type checksums struct{ known sync.Map }

// of is the checksum of the data of a job, enough to tell them apart; empty where they cannot be read.
func (c *checksums) of(j *Job) string {
	h := sha256.New()
	for _, flag := range dataFlags {
		path := j.Settings[flag]
		if path == "" {
			continue
		}
		sum := c.file(path)
		if sum == "" && flag != "groups" { // which may be a number
			return ""
		}
		fmt.Fprintf(h, "%s %s\n", flag, sum)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// file is the checksum of a file, or of all files of a folder.
func (c *checksums) file(path string) string {
	sum, _ := c.known.LoadOrStore(path, sync.OnceValue(func() string { return checksum(path) }))
	return sum.(func() string)()
}

func checksum(root string) string {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(name), info.Size())
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
		return err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

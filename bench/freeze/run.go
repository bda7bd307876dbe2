package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conetune/conetune/internal/atomicfile"
	"github.com/conetune/conetune/internal/usage"
)

// result is a case in the file: a command line, what is read off its JSON, and what the process took.
type result struct {
	Name    string             `json:"name"`
	Args    []string           `json:"args"`
	Exit    int                `json:"exit"`
	Status  string             `json:"status"` // or failed, where there is no JSON, or killed
	Message string             `json:"message,omitempty"`
	Errors  map[string]float64 `json:"errors,omitempty"` // by their paths in the JSON
	Answer  vector             `json:"coefficients"`
	// Iterations are those of solve.
	Iterations int     `json:"iterations,omitempty"`
	Seconds    float64 `json:"cpu_seconds"`
	Peak       float64 `json:"peak_mb"`
	Runs       int     `json:"runs"`
	Unsteady   bool    `json:"unsteady,omitempty"` // runs had different coefficients
}

// vector is what is told of coefficients: of tune those in units of the table, of matrix-completion the radii, of solve
// x.
type vector struct {
	Digest   string  `json:"digest"` // of names and numbers as they are printed, for tune with the intercept
	Norm1    float64 `json:"norm1"`
	Norm2    float64 `json:"norm2"`
	Nonzeros int     `json:"nonzeros"`

	sum hash.Hash
}

func (v *vector) add(path string, n json.Number) {
	if v.sum == nil {
		v.sum = sha256.New()
	}
	fmt.Fprintf(v.sum, "%s=%s\n", path, n)
	if x, err := n.Float64(); err == nil && x != 0 && !strings.HasPrefix(path, "intercept") {
		v.Norm1, v.Norm2, v.Nonzeros = v.Norm1+math.Abs(x), math.Hypot(v.Norm2, x), v.Nonzeros+1
	}
}

func (r result) String() string {
	return fmt.Sprintf("%s: exit status %d, %s, %.1f s, unsteady %t: %s", r.Name, r.Exit, r.Status, r.Seconds, r.Unsteady,
		r.Message)
}

func digest(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)[:12]) }

// measure runs a case of each program in turn -runs times, or until they have taken enough, and keeps the least of
// seconds and memory.
func (s *settings) measure(ctx context.Context, j job, files []*file) ([]result, error) {
	if j.table != nil {
		if err := j.table.write(s.made); err != nil {
			return nil, err
		}
	}
	results := make([]result, len(files))
	begun := time.Now()
	for run := 0; run < s.runs && (run == 0 || time.Since(begun) < s.enough); run++ {
		for i := range files {
			k := (i + run) % len(files)
			again, err := s.run(ctx, j, files[k])
			if err != nil {
				return nil, err
			}
			results[k].keep(again)
		}
	}
	return results, nil
}

// keep takes another run into account.
func (r *result) keep(again result) {
	if r.Runs == 0 {
		*r = again
	} else if again.Status == killed { // on a busy machine; the runs before stand
		return
	}
	r.Seconds, r.Peak, r.Runs = min(r.Seconds, again.Seconds), min(r.Peak, again.Peak), r.Runs+1
	r.Unsteady = r.Unsteady || again.Answer.Digest != r.Answer.Digest
}

const failed, killed = "failed", "killed"

// run runs it once. An error means that the program does not run. The answer is read as it comes and not kept: the peak
// of a process is at least what ours takes when it begins, and a dual matrix has millions of numbers.
func (s *settings) run(ctx context.Context, j job, f *file) (result, error) {
	r := result{Name: j.name, Args: j.args}
	if j.args[0] == "solve" {
		r.Args = slices.Concat(j.args, strings.Fields(f.Solve))
	}
	within, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	var args []string
	for _, a := range r.Args {
		args = append(args, strings.NewReplacer(dataFolder, s.data+"/", madeFolder, s.made+"/").Replace(a))
	}
	cmd := exec.CommandContext(within, f.program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var text bytes.Buffer
	cmd.Stderr = &text
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	unreadable := r.read(out)
	_, _ = io.Copy(io.Discard, out)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) && within.Err() == nil {
		return r, err
	}
	state := cmd.ProcessState
	r.Exit, r.Seconds, r.Peak = state.ExitCode(), (state.UserTime() + state.SystemTime()).Seconds(), usage.Peak(state)/1e6
	if unreadable != nil {
		r.Status = failed
	}
	if within.Err() != nil {
		r.Status = killed
	}
	if r.Exit != 0 || unreadable != nil { // the last line, without the folders of this machine
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		r.Message = strings.NewReplacer(s.data+"/", dataFolder, s.made+"/", madeFolder).Replace(lines[len(lines)-1])
	}
	if r.Exit == 130 { // as we are, in a moment
		return r, errors.New("interrupted")
	}
	return r, ctx.Err()
}

// read reads the JSON of a run.
func (r *result) read(out io.Reader) error {
	r.Errors = make(map[string]float64)
	d := json.NewDecoder(out)
	d.UseNumber()
	var radii vector
	err := walk(d, "", func(path string, leaf json.Token) {
		n, number := leaf.(json.Number)
		first, _, _ := strings.Cut(path, ".")
		switch {
		case path == "status":
			r.Status, _ = leaf.(string)
		case !number:
		case path == "iterations":
			r.Iterations, _ = strconv.Atoi(n.String())
		case first == "coefficients" || first == "intercept" || path == "x":
			r.Answer.add(path, n)
		case path == "radii":
			radii.add(path, n)
		case isError(path):
			r.Errors[path], _ = n.Float64()
		}
	})
	if r.Answer.sum == nil {
		r.Answer = radii
	}
	if r.Answer.sum != nil {
		r.Answer.Digest = digest(r.Answer.sum)
	}
	return err
}

// isError says whether a number of the JSON is an error, a measure, or what a program came to.
func isError(path string) bool {
	switch path {
	case "objective", "dual_objective", "primal_residual", "dual_residual", "gap":
		return true
	}
	return strings.HasSuffix(path, "validation_error") || strings.HasSuffix(path, "test_error") ||
		strings.HasPrefix(path, "metrics.") && strings.HasSuffix(path, ".value")
}

// walk calls visit for what is in a value of JSON, with the names that lead there; entries of an array have that of the
// array.
func walk(d *json.Decoder, path string, visit func(string, json.Token)) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	bracket, nested := token.(json.Delim)
	if !nested {
		visit(path, token)
		return nil
	}
	for d.More() {
		inner := path
		if bracket == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			inner = strings.TrimPrefix(fmt.Sprint(path, ".", name), ".")
		}
		if err := walk(d, inner, visit); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// file is what is written of a program: what it is, and its cases in the order in which they were run.
type file struct {
	Version  string   `json:"version"`
	Program  string   `json:"program"`         // the sum of its bytes
	Solve    string   `json:"solve,omitempty"` // its flags of solve beside those of all
	Runs     int      `json:"runs"`
	Complete bool     `json:"complete"` // all cases were asked for, and run
	Cases    []result `json:"cases"`

	path, program string
}

func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// begin says which program is measured, and takes the cases that the file has of it.
func (f *file) begin(ctx context.Context) error {
	text, err := exec.CommandContext(ctx, f.program, "version").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", f.program, err)
	}
	f.Version = strings.TrimSpace(string(text))
	program, err := os.Open(f.program)
	if err != nil {
		return err
	}
	defer program.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return err
	}
	f.Program = digest(sum)
	have, err := read(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.Version != have.Version || f.Program != have.Program || f.Solve != have.Solve || f.Runs != have.Runs:
		return fmt.Errorf("%s is of another program, or of other -runs or -solve", f.path)
	}
	f.Complete = have.Complete
	f.Cases = slices.DeleteFunc(have.Cases, func(c result) bool { return c.Status == killed })
	return nil
}

// find returns a case, nil if it is not there.
func (f *file) find(name string) *result {
	for i := range f.Cases {
		if f.Cases[i].Name == name {
			return &f.Cases[i]
		}
	}
	return nil
}

// write writes it with a line for each case.
func (f *file) write() error {
	head := *f
	head.Cases = []result{}
	text, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	b := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("]}")))
	for i, c := range f.Cases {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s\n%s", map[bool]string{true: ","}[i > 0], line)
	}
	b.WriteString("\n]}\n")
	return atomicfile.WriteBytes(f.path, b.Bytes())
}

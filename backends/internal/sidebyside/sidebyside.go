//go:build unix

// Package sidebyside runs the Python package of a library beside its Go binding,
// on the same arrays and in turns, for the benchmarks of packages scs, osqp, clarabel and highs. They
// are skipped unless the environment has
//
//	CONETUNE_BENCH_DATA     a folder with lp/*.mps.gz, qp/*.qps.gz, conic/*.cbf.gz and sdp/*.dat-s.gz
//	CONETUNE_BENCH_PYTHON   a Python with numpy, scipy, and the package
package sidebyside

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/formats/qps"
	"github.com/conetune/conetune/formats/sdpa"
)

//go:embed peer.py
var script string

// python is a process with one problem.
type python struct {
	in  io.Writer
	out *json.Decoder
}

// run is one set-up and solve.
type run struct {
	Processor  float64 // seconds
	Setup      float64 // of Processor
	Iterations int
}

// start gives the problem, the JSON object that peer.py describes, to a process
// that ends with the benchmark.
func start(b testing.TB, problem any) *python {
	b.Helper()
	program := os.Getenv("CONETUNE_BENCH_PYTHON")
	if program == "" {
		b.Skip("CONETUNE_BENCH_PYTHON is not set")
	}
	cmd := exec.Command(program, "-c", script)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	p := &python{in: in, out: json.NewDecoder(bufio.NewReader(out))}
	w := bufio.NewWriter(in)
	must(b, json.NewEncoder(w).Encode(problem))
	must(b, w.Flush())
	must(b, p.out.Decode(&struct{}{})) // its version
	return p
}

// solve sets up and solves once.
func (p *python) solve(b testing.TB) (r run) {
	_, err := io.WriteString(p.in, "again\n")
	must(b, err)
	must(b, p.out.Decode(&r))
	return r
}

// Problem reads a file of CONETUNE_BENCH_DATA, for example qp/HS118.qps.gz.
func Problem(b testing.TB, file string) *backends.Problem {
	b.Helper()
	folder := os.Getenv("CONETUNE_BENCH_DATA")
	if folder == "" {
		b.Skip("CONETUNE_BENCH_DATA is not set")
	}
	path := filepath.Join(folder, filepath.FromSlash(file))
	if strings.HasPrefix(file, "conic/") {
		m, err := cbf.Read(path)
		must(b, err)
		conic, err := m.Conic()
		must(b, err)
		return conic.Problem
	}
	if strings.HasPrefix(file, "sdp/") {
		m, err := sdpa.Read(path)
		must(b, err)
		conic, err := m.Conic()
		must(b, err)
		return conic.Problem
	}
	m, err := qps.Read(path)
	must(b, err)
	return m.Conic().Problem
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// Contest is the least processor time of each contestant, over rounds in which all took their turn.
type Contest map[string]time.Duration

// Time runs f, and returns the processor time of the process, all threads together, which it keeps if
// it is the least of that name.
func (c Contest) Time(b testing.TB, name string, f func()) time.Duration {
	begin := processor(b)
	f()
	d := processor(b) - begin
	c.add(name, d)
	return d
}

// Beside runs the Python package, the mirror of its library in Go and backends.Open on one problem, in turns, and
// reports the least processor time of each. setup and solve are of the mirror; solve and open return their iterations,
// which must be those of Python.
func Beside(b *testing.B, problem any, setup func() error, solve, open func() int) {
	python, c := start(b, problem), Contest{}
	var theirs, ours, opened int
	turns := []func(){
		func() {
			r := python.solve(b)
			theirs = r.Iterations
			c.add("python", time.Duration(r.Processor*1e9))
			c.add("python-setup", time.Duration(r.Setup*1e9))
		}, func() {
			var err error
			took := c.Time(b, "mirror-setup", func() { err = setup() })
			must(b, err)
			c.add("mirror", took+c.Time(b, "mirror-solve", func() { ours = solve() }))
		}, func() {
			c.Time(b, "open", func() { opened = open() })
		},
	}
	for round := 0; b.Loop(); round++ { // each begins with another: who comes after a wait finds caches cold
		for i := range turns {
			turns[(i+round)%len(turns)]()
		}
		if ours != theirs || opened != theirs {
			b.Fatalf("%d and %d iterations, Python %d", ours, opened, theirs)
		}
	}
	b.ReportMetric(float64(theirs), "iterations")
	c.Report(b, "python", "")
	c.Report(b, "python-setup", "")
	c.Report(b, "mirror", "python")
	c.Report(b, "mirror-setup", "")
	c.Report(b, "open", "python")
}

func processor(b testing.TB) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// add keeps a time if it is the least of that name.
func (c Contest) add(name string, d time.Duration) {
	if old, ok := c[name]; !ok || d < old {
		c[name] = d
	}
}

// Report gives the time of a name, and its ratio to that of another.
func (c Contest) Report(b *testing.B, name, to string) {
	b.ReportMetric(float64(c[name])/1e6, name+"-ms")
	if to != "" {
		b.ReportMetric(float64(c[name])/float64(c[to]), name+"/"+to)
	}
}

//go:build unix

// Package sidebyside measures ways to solve a problem in turns, and the Python package of a library beside its backend,
// for the benchmarks of packages scs, osqp, clarabel and highs. Those with Python are skipped unless the environment has
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
	"path"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
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

// problem reads a file of CONETUNE_BENCH_DATA, for example qp/HS118.qps.gz.
func problem(b testing.TB, file string) *backends.Problem {
	b.Helper()
	folder := os.Getenv("CONETUNE_BENCH_DATA")
	if folder == "" {
		b.Skip("CONETUNE_BENCH_DATA is not set")
	}
	at := filepath.Join(folder, filepath.FromSlash(file))
	switch path.Dir(file) {
	case "conic":
		m, err := cbf.Read(at)
		must(b, err)
		conic, err := m.Conic()
		must(b, err)
		return conic.Problem
	case "sdp":
		m, err := sdpa.Read(at)
		must(b, err)
		conic, err := m.Conic()
		must(b, err)
		return conic.Problem
	}
	m, err := qps.Read(at)
	must(b, err)
	return m.Conic().Problem
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// Way is one to solve a problem: it returns the iterations, and its processor time where that is not of this process.
type Way struct {
	Name string
	Run  func() (iterations int, took time.Duration)
}

// InTurns runs the ways in rounds, each of which begins with another (who comes after a wait finds caches cold), and
// reports the least processor time of each, and of the others over the first. All must take the same iterations.
func InTurns(b *testing.B, ways ...Way) {
	least, counts := make([]time.Duration, len(ways)), make([]int, len(ways))
	for round := 0; b.Loop(); round++ {
		for i := range ways {
			k := (i + round) % len(ways)
			begin := processor(b)
			n, took := ways[k].Run()
			if took == 0 {
				took = processor(b) - begin
			}
			if round == 0 || took < least[k] {
				least[k] = took
			}
			counts[k] = n
		}
	}
	b.ReportMetric(float64(counts[0]), "iterations")
	for k, w := range ways {
		if counts[k] != counts[0] {
			b.Fatalf("%d iterations of %s, %d of %s", counts[k], w.Name, counts[0], ways[0].Name)
		}
		b.ReportMetric(float64(least[k])/1e6, w.Name+"-ms")
		if k > 0 {
			b.ReportMetric(float64(least[k])/float64(least[0]), w.Name+"/"+ways[0].Name)
		}
	}
}

// Solved is a Way that sets p up and solves it.
func Solved(b testing.TB, name string, backend backends.ConicBackend, p *backends.Problem, o backends.Options) Way {
	return Way{name, func() (int, time.Duration) { return backendtest.Solve(b, backend, p, o).Iterations, 0 }}
}

// Python runs the Python package of a library and its backend, with the checks of backends.Open, on files of
// CONETUNE_BENCH_DATA with the same settings. peer describes the problem that a solver has to peer.py.
func Python(b *testing.B, backend backends.ConicBackend, o backends.Options, peer func(s backends.Solver) any, files ...string) {
	for _, file := range files {
		b.Run(path.Base(file), func(b *testing.B) {
			p := problem(b, file)
			s, err := backend.Setup(p, o)
			must(b, err)
			given := peer(s)
			must(b, s.Close())
			python := start(b, given)
			InTurns(b, Way{"python", func() (int, time.Duration) {
				r := python.solve(b)
				return r.Iterations, time.Duration(r.Processor * 1e9)
			}}, Solved(b, "open", backends.Checked(backend), p, o))
		})
	}
}

func processor(b testing.TB) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

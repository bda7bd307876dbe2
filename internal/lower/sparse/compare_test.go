package sparse

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/james-bowman/sparse"
	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/must"
)

// TestCompare is the Go side of bench/lasso.py, which sets the folder with its data: it
// solves what the file jobs.json lists and writes times and gaps to results.json.
func TestCompare(t *testing.T) {
	dir := os.Getenv("CONETUNE_LASSO")
	if dir == "" {
		t.Skip("run by bench/lasso.py")
	}
	var jobs struct {
		N, P      int
		Sparse    bool
		Intercept bool
		Repeats   int
		Batch     int
		Jobs      []struct{ Lambda, Tol float64 }
	}
	raw := must.Of(os.ReadFile(filepath.Join(dir, "jobs.json")))(t)
	require.NoError(t, json.Unmarshal(raw, &jobs))
	read := func(name string, to any) {
		f := must.Of(os.Open(filepath.Join(dir, name)))(t)
		defer f.Close()
		require.NoError(t, binary.Read(f, binary.LittleEndian, to))
	}
	count := func(name string) int {
		info := must.Of(os.Stat(filepath.Join(dir, name)))(t)
		return int(info.Size() / 8)
	}
	value := make([]float64, count("value"))
	read("value", value)
	y := make([]float64, jobs.N)
	read("y", y)
	data := func() *design.Matrix { return design.FromColumns(jobs.N, jobs.P, value) }
	if jobs.Sparse {
		start, index := make([]int64, jobs.P+1), make([]int64, len(value))
		read("start", start)
		read("index", index)
		s, i := make([]int, len(start)), make([]int, len(index))
		for k, v := range start {
			s[k] = int(v)
		}
		for k, v := range index {
			i[k] = int(v)
		}
		data = func() *design.Matrix { return design.New(sparse.NewCSC(jobs.N, jobs.P, s, i, value)) }
	}
	type result struct {
		Seconds, CPU, Objective, Gap float64
		Support                      int
	}
	var results []result
	for _, job := range jobs.Jobs {
		best := result{CPU: 1e9}
		for range jobs.Repeats {
			var u0, u1 syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u0)
			start := time.Now()
			var g *Fit
			var s *Solution
			for range jobs.Batch {
				g = must.Of(Squares(Sample{X: data(), Y: y}, jobs.Intercept, Terms{}))(t)
				s = must.Of(g.solve(context.Background(), job.Lambda, 0, job.Tol, nil))(t)
			}
			seconds := time.Since(start).Seconds() / float64(jobs.Batch)
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u1)
			if cpu := float64(u1.Utime.Nano()-u0.Utime.Nano()) / 1e9 / float64(jobs.Batch); cpu < best.CPU {
				best = result{seconds, cpu, s.Objective, s.Gap / g.scale, len(support(s))}
			}
		}
		results = append(results, best)
	}
	raw = must.Of(json.Marshal(results))(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.json"), raw, 0o644))
}

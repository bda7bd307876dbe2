package hypergradient

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/lower/design"
	"github.com/conetune/conetune/internal/lower/fits"
	"github.com/conetune/conetune/internal/lower/sparse"
	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/lower"
)

// TestCompare is the Go side of bench/hoag.py, which sets the folder with its data: it runs HOAG from the
// start in jobs.json, and from the path, and writes times and coefficients to results.json.
func TestCompare(t *testing.T) {
	dir := os.Getenv("CONETUNE_HOAG")
	if dir == "" {
		t.Skip("run by bench/hoag.py")
	}
	var jobs struct {
		Train, Val, P, Repeats int
		Start                  float64
	}
	raw := must.Of(os.ReadFile(filepath.Join(dir, "jobs.json")))(t)
	require.NoError(t, json.Unmarshal(raw, &jobs))
	read := func(name string, n int) []float64 {
		f := must.Of(os.Open(filepath.Join(dir, name)))(t)
		defer f.Close()
		v := make([]float64, n)
		require.NoError(t, binary.Read(f, binary.LittleEndian, v))
		return v
	}
	trainX, trainY := read("train.x", jobs.Train*jobs.P), read("train.y", jobs.Train)
	valX, valY := read("val.x", jobs.Val*jobs.P), read("val.y", jobs.Val)
	type result struct {
		Seconds, CPU, Validation float64
		Solves                   int
		Coefficients, Lambda     []float64
	}
	results := map[string]result{}
	makers := map[string]func(train, val fits.Rows, intercept bool) (lower.Fit, error){
		"lasso": func(train, val fits.Rows, intercept bool) (lower.Fit, error) {
			return fits.Lasso(train, val, intercept, sparse.Terms{})
		}, "weighted lasso": func(train, val fits.Rows, intercept bool) (lower.Fit, error) {
			return fits.NewWeightedLasso(train, val, intercept)
		}, "elastic net": func(train, val fits.Rows, intercept bool) (lower.Fit, error) {
			return fits.ElasticNet(train, val, intercept, sparse.Terms{})
		},
	}
	for kind, newModel := range makers {
		for _, start := range []string{"start", "path"} {
			best := result{CPU: 1e9}
			for range 5 * jobs.Repeats {
				var u0, u1 syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u0)
				begun := time.Now()
				m := must.Of(newModel(fits.Rows{X: design.FromColumns(jobs.Train, jobs.P, trainX), Y: trainY},
					fits.Rows{X: design.FromColumns(jobs.Val, jobs.P, valX), Y: valY}, false))(t)
				var s Settings
				if start == "start" {
					s.Start = []float64{jobs.Start}
				}
				r := must.Of(HOAG(context.Background(), m, s))(t)
				seconds := time.Since(begun).Seconds()
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u1)
				if cpu := float64(u1.Utime.Nano()-u0.Utime.Nano()) / 1e9; cpu < best.CPU {
					best = result{seconds, cpu, r.Best.Validation, r.Solves, r.Best.X[0], r.Best.Lambda}
				}
			}
			results[kind+" "+start] = best
		}
	}
	raw = must.Of(json.Marshal(results))(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.json"), raw, 0o644))
}

package glm

import (
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

var dbg = os.Getenv("GLMDBG") != ""

func debugEnv(f *fold, t, k int, fell float64) {
	if !dbg || t != 0 {
		return
	}
	e := f.point.envelope
	band := 0
	for i, c := range f.point.curve {
		if c > e.weights[i]*(e.far+.5/e.width) {
			band++
		}
	}
	fmt.Fprintf(os.Stderr, "  round %d gap %.2e loose %.2e fell %.2e far %.2e width %.2e band %d active %d work %d due %v\n", k, f.inner/f.null(), e.loose/f.point.total/f.null(), fell/f.null(), e.far, e.width, band, len(f.active()), len(f.working), e.due, (f.bound+f.gap)/f.null(),f.bound/f.null(),dbgAt)
}

func envf(n string, d float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(n), 64); err == nil {
		return v
	}
	return d
}

var envInner, envNarrow, envReset, envWidth, envFar = envf("INNER", 1), envf("NARROW", .5), envf("RESET", 1), envf("WIDTH", 1), envf("FAR", .4)

func init() {
	if p := os.Getenv("GLMPROF"); p != "" {
		f, _ := os.Create(p)
		pprof.StartCPUProfile(f)
		go func() { time.Sleep(time.Duration(envf("GLMPROFS", 4) * 1e9)); pprof.StopCPUProfile(); f.Close() }()
	}
}

var envStrong = envf("STRONG", 0)
var envTol = envf("TOLF", 1)
var dbgAt float64

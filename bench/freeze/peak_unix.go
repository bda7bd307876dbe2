//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident set of a process that has ended, in bytes.
func peak(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return float64(usage.Maxrss)
	}
	return 1024 * float64(usage.Maxrss)
}
